"""Running loss of one or several learners, drawn."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils._optional_dependencies import check_matplotlib_support

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike, Callable
from ..losses import Loss
from ._display_parts import (
    CurveDisplay,
    axes_of,
    draw_legend,
    ends_first,
    named_estimators,
    named_forecasts,
)
from ._prequential import (
    _mean,
    _row_losses,
    _window_sums,
    check_loss,
    have_targets,
    prequential,
)

_LOSS_LABELS = {
    "squared_error": "Squared error (unit of $y^2$)",
    "absolute_error": "Absolute error (unit of $y$)",
    "zero_one": "Share of errors",
    "log_loss": "Log loss (nats)",
}


@inherit_documentation
class PrequentialDisplay(CurveDisplay):
    """Mean loss of one or several learners, round after round.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create one.

    Parameters
    ----------
    mean_losses : dict of str to ndarray of shape (n_samples,)
        Name of each learner and its mean loss after each round, over all rounds so far or over a
        window; NaN before the first forecast.
    loss : {"squared_error", "absolute_error", "zero_one", "log_loss"}, Loss or callable, \
            default="squared_error"
        The loss, which labels the axis.
    window : int, default=None
        Rounds over which the means were taken; None: all so far. It labels the axis, too.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The curves, in the order of `mean_losses`.

    See Also
    --------
    prequential : The figures behind the curves.
    RegretCurveDisplay : Loss in excess of a comparator's.

    Notes
    -----
    All learners are scored on all rows that they had a forecast for. Curves of a learner with a
    cold start leave its first rows out, in the mean as in the figure.

    References
    ----------
    Gama et al. 2013, section 3, on running and windowed prequential means.

    Examples
    --------
    >>> from sklearn_okl import VAW2Regressor, VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> from sklearn_okl.evaluation import PrequentialDisplay, prequential
    >>> X, y = make_ar4(300)
    >>> result = prequential(VAWRegressor(), X, y)
    >>> display = PrequentialDisplay({"VAW": result.running_loss})
    >>> bool(display.mean_losses["VAW"][-1] == result.mean_loss)
    True
    >>> display.plot(start=20).figure_.savefig("losses.png")  # doctest: +SKIP

    Two learners at once, computed and drawn:

    >>> learners = {"VAW": VAWRegressor(), "VAW²": VAW2Regressor(n_components=20)}
    >>> PrequentialDisplay.from_estimator(learners, X, y, window=100)  # doctest: +SKIP
    """

    def __init__(
        self,
        mean_losses: dict[str, Any],
        *,
        loss: str | Loss | Callable[..., Any] = "squared_error",
        window: int | None = None,
    ) -> None:
        self.mean_losses = mean_losses
        self.loss = loss
        self.window = window

    def plot(
        self,
        ax: Any = None,
        *,
        start: int = 0,
        xscale: str = "linear",
        yscale: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on. None: a new figure, with the legend beside the axes.
        start : int, default=0
            Number of first rounds to leave out of the figure. They stay in the means, so that a
            curve ends at the learner's mean loss whatever the start.
        xscale : str, default="linear"
            Scale of the rounds, any of matplotlib's.
        yscale : str, default=None
            Scale of the losses. None: logarithmic if the smallest, a hundredth of them left
            aside, are positive and a tenth of the largest; else linear.
        **kwargs : dict
            Keywords for matplotlib's ``plot``, for all curves.

        Returns
        -------
        display : PrequentialDisplay
            The display, with ``ax_``, ``figure_`` and ``lines_`` set.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax, is_new = axes_of(self, ax)
        self._plot_curves(self.mean_losses, ax=ax, start=start, line_kwargs=kwargs)
        if yscale is None:
            yscale = _loss_scale([values[start:] for values in self.mean_losses.values()])
        ax.set(xscale=xscale, yscale=yscale, ylabel=self._label())
        draw_legend(ax, is_new, ends_first(ax))
        return self

    def _label(self):
        if callable(self.loss):
            loss = getattr(self.loss, "__name__", "loss").replace("_", " ").strip().capitalize()
        else:
            loss = repr(self.loss) if isinstance(self.loss, Loss) else _LOSS_LABELS[self.loss]
        mean = "running mean" if self.window is None else f"mean of {self.window} rounds"
        return f"{loss},\n{mean}"

    @classmethod
    @explained_by(prequential)
    @explained_by(plot)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        loss: str | Loss | Callable[..., Any] = "squared_error",
        window: int | None = None,
        delay: int | ArrayLike | None = None,
        chunk_size: int | None = None,
        verbose: bool = False,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Run :func:`prequential` for each estimator and draw the mean losses.

        Parameters
        ----------
        estimator : estimator object, dict of str to estimator, or list of (str, estimator)
            One learner, named after its class, or several with their names. They are cloned and
            start from nothing.
        window : int, default=None
            Rounds over which the mean is taken; None: all so far.
        **kwargs : dict
            Keywords for :meth:`plot`.

        Returns
        -------
        display : PrequentialDisplay
            The display, drawn.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        mean_losses = {}
        for name, learner in named_estimators(estimator).items():
            options = {} if window is None else {"window": window}
            result = prequential(
                learner,
                X,
                y,
                delay=delay,
                loss=loss,
                chunk_size=chunk_size,
                verbose=verbose,
                **options,
            )
            mean_losses[name] = result.running_loss if window is None else result.windowed_loss
        return cls(mean_losses, loss=loss, window=window).plot(ax=ax, **kwargs)

    @classmethod
    @explained_by(from_estimator)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        forecasts: ArrayLike | dict[str, Any],
        *,
        loss: str | Loss | Callable[..., Any] = "squared_error",
        window: int | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Draw the mean losses of forecasts that are already there.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets; rows where one is NaN are left out.
        forecasts : array-like of the shape of y_true, or dict of str to such
            Forecasts of one learner, or of several with their names, each made before its target
            was seen. A leading run of NaN, the cold start of :func:`prequential`, is left out.
            With the log loss probabilities (n_samples, n_classes), whose columns are
            ``np.unique(y_true)``.

        Raises
        ------
        ImportError
        ValueError
            If forecasts and targets differ in shape, or the loss is unknown.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        check_loss(loss)
        if window is not None:
            check_scalar(window, "window", Integral, min_val=1)
        y_true = np.asarray(y_true)
        mean_losses = {
            name: _mean_losses(y_true, np.asarray(values), loss, window)
            for name, values in named_forecasts(forecasts).items()
        }
        return cls(mean_losses, loss=loss, window=window).plot(ax=ax, **kwargs)


def _mean_losses(y_true, forecasts, loss, window):
    """Return the means of `prequential` for forecasts that start with rows of NaN, or do not."""
    shape = y_true.shape
    if loss == "log_loss":
        classes, y_true = np.unique(y_true, return_inverse=True)
        shape = (len(y_true), len(classes))
    if forecasts.shape != shape:
        raise ValueError(
            f"Forecasts must have the shape of y_true, {shape}, got {forecasts.shape}."
            if loss != "log_loss"
            else f"Probabilities must have a column for each label in y_true, the shape {shape}, "
            f"got {forecasts.shape}."
        )
    missing = forecasts != forecasts  # NaN, also among labels
    missing = missing if missing.ndim == 1 else missing.all(axis=1)
    scored = ~np.logical_and.accumulate(missing.astype(bool)) & have_targets(y_true)
    losses = np.zeros(len(y_true))
    losses[scored] = _row_losses(loss, y_true[scored], forecasts[scored])
    if window is None:
        return _mean(np.cumsum(losses), np.cumsum(scored))
    return _mean(_window_sums(losses, window), _window_sums(scored, window))


def _loss_scale(curves):
    values = np.concatenate(curves)
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return "linear"
    low, high = np.quantile(values, 0.01), values.max()
    return "log" if 0 < low < 0.1 * high else "linear"
