"""Models whose forecasts can be explained exactly: two verbs beside the others."""

from __future__ import annotations

from .._documentation import explained_by
from .._types import Any, ArrayLike
from ..inspection import PartialEffects, ShapleyExplanation
from ..inspection import explain as explained
from ..inspection import partial_effects as effects_of


class Explainable:
    """Beside a shell: a model that says in `_explained(X)` of which sums its forecasts are made.

    These are the `Sums` of :mod:`sklearn_okl.inspection`.
    """

    @explained_by(explained)
    def explain(
        self, X: ArrayLike, background: ArrayLike | None = None, groups: Any = None
    ) -> ShapleyExplanation:
        """Say exactly how much each column moves the forecasts; changes nothing.

        All is said at :func:`sklearn_okl.inspection.explain`.
        """
        return explained(self, X, background, groups)

    @explained_by(effects_of)
    def partial_effects(
        self,
        column: int | str,
        background: ArrayLike | None = None,
        *,
        grid: int | ArrayLike = 50,
        coverage: float = 0.8,
    ) -> PartialEffects:
        """Say how the forecasts depend on one column; changes nothing.

        All is said at :func:`sklearn_okl.inspection.partial_effects`.
        """
        return effects_of(self, column, background, grid=grid, coverage=coverage)
