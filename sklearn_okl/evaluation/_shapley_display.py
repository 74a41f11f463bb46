"""What moves forecasts, drawn: bars of columns, their sizes over time, and effects."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from ..inspection import PartialEffects, ShapleyExplanation, explain, partial_effects
from ._display_parts import COLORS, GREY, CurveDisplay, Display, axes_of, draw_legend, ends_first
from ._prequential_display import PrequentialDisplay


@inherit_documentation
@explained_by(PrequentialDisplay)
class ShapleyDisplay(CurveDisplay):
    """Entries of an explanation: bars of one row or of mean sizes, or mean sizes over time.

    Parameters
    ----------
    explanation : ShapleyExplanation
        Of one target.

    Attributes
    ----------
    bars_ : matplotlib BarContainer or None
        Bars, the largest on top; None over time.
    lines_ : list of matplotlib Line2D or None
        Curves of the columns that are largest on average; None of bars.

    See Also
    --------
    sklearn_okl.inspection.explain : Which makes explanations.
    PartialEffectsDisplay : How forecasts depend on a column.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.evaluation import ShapleyDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = VAWRegressor(forecaster="ridge").fit(X, X @ [2.0, -1.0])
    >>> display = ShapleyDisplay(model.explain(X, background=X[-32:]))
    >>> display.plot(over_time=True)  # doctest: +SKIP
    >>> ShapleyDisplay.from_estimator(model, X, background=X[-32:])  # doctest: +SKIP
    """

    def __init__(self, explanation: ShapleyExplanation) -> None:
        self.explanation = explanation

    @explained_by(PrequentialDisplay.plot)
    def plot(
        self,
        ax: Any = None,
        *,
        row: int | None = None,
        over_time: bool = False,
        fading: float = 0.99,
        n_largest: int = 6,
        **kwargs: Any,
    ) -> Any:
        """Draw bars, or curves over time.

        Parameters
        ----------
        row : int, default=None
            Row whose entries are drawn, with their signs and the remainder. None: mean sizes.
        over_time : bool, default=False
            Whether to draw the running importances, with rows in order.
        fading : float, default=0.99
            Factor by which rows count less with each row after them, over time.
        n_largest : int, default=6
            Number of columns shown, the largest on average.
        **kwargs : dict
            Keywords for matplotlib's ``barh`` or ``plot``.

        Returns
        -------
        display : ShapleyDisplay
            The display, with ``ax_``, ``figure_``, ``bars_`` and ``lines_`` set.

        Raises
        ------
        ValueError
            If the explanation is of several targets.
        """
        told = self.explanation
        if told.values.ndim > 2:
            raise ValueError(
                f"The explanation is of {told.values.shape[2]} targets or classes, and one can be "
                "drawn: explain a model of one target."
            )
        check_scalar(n_largest, "n_largest", Integral, min_val=1)
        ax, is_new = axes_of(self, ax)
        self.bars_, self.lines_ = None, None
        if over_time:
            path = told.running_importances(fading)
            shown = np.argsort(-told.importances(), kind="stable")[:n_largest]
            curves = {told.names[j]: path[:, j] for j in shown.tolist()}
            self._plot_curves(curves, ax=ax, start=0, line_kwargs=kwargs)
            ax.set(xlabel="Row", ylabel="Mean size of entries")
            draw_legend(ax, is_new, ends_first(ax))
            return self
        self.ax_, self.figure_ = ax, ax.figure
        names, entries = list(told.names), told.importances()
        if row is not None:
            check_scalar(row, "row", Integral, min_val=0, max_val=len(told.values) - 1)
            names.append(told.remainder_name)
            entries = np.append(told.values[row], told.remainder[row])
        shown = np.argsort(-np.abs(entries), kind="stable")[:n_largest][::-1]
        colors = np.where(entries[shown] < 0.0, COLORS[1], COLORS[0]).tolist()
        labels = [names[j] for j in shown.tolist()]
        self.bars_ = ax.barh(labels, entries[shown], **{"color": colors, **kwargs})
        ax.axvline(0.0, color=GREY, linewidth=1.0, zorder=0)
        ax.set_xlabel("Mean size of entries" if row is None else "Entry, beside the base")
        return self

    @classmethod
    @explained_by(plot, explain)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        background: ArrayLike | None = None,
        groups: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Explain a model's forecasts for rows and draw that.

        Parameters
        ----------
        estimator : estimator
            As of :func:`sklearn_okl.inspection.explain`.
        **kwargs : dict
            Those of :meth:`plot`.
        """
        return cls(explain(estimator, X, background, groups)).plot(ax, **kwargs)


@inherit_documentation
@explained_by(PrequentialDisplay)
class PartialEffectsDisplay(Display):
    """How forecasts depend on a column: a curve, and a band of the curves of single rows.

    Parameters
    ----------
    effects : PartialEffects
        On one target.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The mean.
    band_ : matplotlib PolyCollection
        Between `low` and `high`.

    See Also
    --------
    sklearn_okl.inspection.partial_effects : Which makes effects.
    sklearn.inspection.PartialDependenceDisplay : The same of any model, by many forecasts.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.evaluation import PartialEffectsDisplay
    >>> X = np.random.default_rng(0).normal(size=(300, 2))
    >>> model = VAWRegressor(forecaster="ridge").fit(X, X @ [2.0, -1.0])
    >>> display = PartialEffectsDisplay(model.partial_effects(0, background=X[-32:]))
    >>> display.plot()  # doctest: +SKIP
    """

    def __init__(self, effects: PartialEffects) -> None:
        self.effects = effects

    @explained_by(PrequentialDisplay.plot)
    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the curve and its band.

        Parameters
        ----------
        **kwargs : dict
            Keywords for matplotlib's ``plot``.

        Returns
        -------
        display : PartialEffectsDisplay
            The display, with ``ax_``, ``figure_``, ``line_`` and ``band_`` set.

        Raises
        ------
        ValueError
            If the effects are those on several targets.
        """
        effects = self.effects
        if effects.mean.ndim > 1:
            raise ValueError(
                f"The effects are on {effects.mean.shape[1]} targets or classes, and those on one "
                "can be drawn."
            )
        ax, _ = axes_of(self, ax)
        self.ax_, self.figure_ = ax, ax.figure
        style = {"color": COLORS[0], "linewidth": 1.5, **kwargs}
        (self.line_,) = ax.plot(effects.grid, effects.mean, **style)
        self.band_ = ax.fill_between(
            effects.grid,
            effects.low,
            effects.high,
            color=self.line_.get_color(),
            alpha=0.2,
            linewidth=0,
        )
        ax.set(xlabel=effects.name, ylabel="Forecast, others averaged")
        return self

    @classmethod
    @explained_by(plot, partial_effects)
    def from_estimator(
        cls,
        estimator: Any,
        column: int | str,
        *,
        background: ArrayLike | None = None,
        grid: int | ArrayLike = 50,
        coverage: float = 0.8,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Compute a model's effects and draw them.

        Parameters
        ----------
        estimator : estimator
            As of :func:`sklearn_okl.inspection.partial_effects`.
        **kwargs : dict
            What :meth:`plot` takes.
        """
        options = {"grid": grid, "coverage": coverage}
        return cls(partial_effects(estimator, column, background, **options)).plot(ax, **kwargs)
