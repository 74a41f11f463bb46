"""What a pipeline shows of its steps: their names and parameters, and what the last one knows."""

from __future__ import annotations

from sklearn.utils import Bunch
from sklearn.utils.metaestimators import _BaseComposition, available_if

from ._delegating import inner_has
from ._documentation import explained_by
from ._types import Any, Array, Self
from .base._loss import WithLoss


class NamedSteps(_BaseComposition):
    """Steps with names, of which all but the last transform rows for the last.

    They are given as `steps`, and stand in `steps_` once they have learnt.
    """

    @explained_by(WithLoss.get_params)
    def get_params(self, deep: bool = True) -> Any:
        """Return the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to return the steps by name, and their parameters as ``name__parameter``.
        """
        return self._get_params("steps", deep=deep)

    @explained_by(WithLoss.set_params)
    def set_params(self, **params: Any) -> Self:
        """Set parameters, steps by name and steps' parameters as ``name__parameter`` included."""
        self._set_params("steps", **params)
        return self

    @available_if(inner_has("set_callbacks"))
    @explained_by(set_params)
    def set_callbacks(self, *callbacks: Any) -> Self:
        """Let callbacks follow the last step as `fit` teaches it, chunk by chunk.

        Parameters
        ----------
        *callbacks : callback instances
            As :mod:`sklearn.callback` has them; none takes them off. They see the last step, and
            the rows as it sees them.
        """
        self.steps[-1][1].set_callbacks(*callbacks)
        return self

    @explained_by(set_params)
    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose the container that transformers return, as in scikit-learn's pipeline.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, default=None
            The container; None changes nothing.
        """
        for steps in (self.steps, vars(self).get("steps_", [])):
            at_rest(steps).set_output(transform=transform)
        return self

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        inner = at_rest(self.steps).__sklearn_tags__()
        for name in ("estimator_type", "target_tags", "classifier_tags", "regressor_tags"):
            setattr(tags, name, getattr(inner, name))
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.target_tags.required = True
        return tags

    def _sk_visual_block_(self):
        return at_rest(self._current())._sk_visual_block_()

    def _current(self):
        return vars(self).get("steps_", self.steps)

    @property
    def _inner(self):
        return self.steps[-1][1]

    @property
    def label_delay(self) -> int:
        """How many rounds late the labels of the last step come."""
        return getattr(self.steps[-1][1], "label_delay", 0)

    @property
    def named_steps(self) -> Any:
        """The steps by name, fitted ones where there are any."""
        return Bunch(**dict(self._current()))

    @property
    def classes_(self) -> Array:
        """The classes of the last step."""
        return self._current()[-1][1].classes_

    @property
    def experts_(self) -> dict[str, Any]:
        """The experts of the last step: a dict of arrays that pandas reads as a table."""
        return self._current()[-1][1].experts_

    @property
    def weights_(self) -> Array:
        """Weights of the experts of the last step, of shape (n_experts,)."""
        return self._current()[-1][1].weights_

    def __len__(self):
        return len(self.steps)

    def __getitem__(self, index):
        """Return a step by its name or place, fitted where possible, or a slice as a pipeline."""
        if isinstance(index, slice):
            return at_rest(self._current()[index])
        if isinstance(index, str):
            return self.named_steps[index]
        return self._current()[index][1]


def at_rest(steps):
    """Return scikit-learn's pipeline of the steps, for what has nothing to do with a stream."""
    from sklearn.pipeline import Pipeline  # slow to import, and few need it

    return Pipeline(steps)
