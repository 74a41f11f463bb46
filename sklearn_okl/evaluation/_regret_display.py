"""Regret against a comparator over the rounds, drawn beside its bound."""

from __future__ import annotations

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike, Callable
from ..learners import VAWRegressor
from ._bounds import vaw_logdet_bound
from ._comparators import regret, ridge_comparator
from ._display_parts import (
    GREY,
    CurveDisplay,
    axes_of,
    draw_legend,
    ends_first,
    named_estimators,
    named_forecasts,
)
from ._prequential import prequential
from ._prequential_display import PrequentialDisplay


@inherit_documentation
@explained_by(PrequentialDisplay)
class RegretCurveDisplay(CurveDisplay):
    """Regret of one or several learners against a comparator, with a bound if there is one.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create one.

    Parameters
    ----------
    regrets : dict of str to ndarray of shape (n_samples,)
        Name of each learner and its regret after each round, in the unit of y squared: sums of
        squared errors less the comparator's, not means.
    bound : ndarray of shape (n_samples,), default=None
        Bound of the regret after each round, in the same unit.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The learners' curves, in the order of `regrets`.
    bound_ : matplotlib Line2D or None
        The bound's curve.

    See Also
    --------
    regret : The figures behind the curves.
    vaw_regret_bound : A bound for every number of rounds.
    vaw_logdet_bound : A bound that looks at the rows.

    Notes
    -----
    Against a comparator fitted on all rows, the default, only the last point of a curve is the
    regret against the best comparator; before it the comparator is the same, and not yet the best.

    References
    ----------
    Cesa-Bianchi & Lugosi 2006, section 2.1.

    Examples
    --------
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> from sklearn_okl.evaluation import (
    ...     RegretCurveDisplay, regret, ridge_comparator, vaw_logdet_bound)
    >>> X, y = make_ar4(300)
    >>> best = ridge_comparator(X, y)
    >>> bound = vaw_logdet_bound(X, y_bound=abs(y).max(), norm_sq=best.norm_sq)
    >>> forecasts = VAWRegressor().prequential_predict(X, y)
    >>> regrets = {"VAW": regret(forecasts, y, comparator_forecasts=best.forecasts)}
    >>> display = RegretCurveDisplay(regrets, bound=bound)
    >>> bool((display.regrets["VAW"] <= display.bound).all())
    True
    >>> display.plot().figure_.savefig("regret.png")  # doctest: +SKIP

    The same, computed and drawn in one line:

    >>> RegretCurveDisplay.from_estimator(VAWRegressor(), X, y, bound="theorem")  # doctest: +SKIP
    """

    def __init__(self, regrets: dict[str, Any], *, bound: Any = None) -> None:
        self.regrets = regrets
        self.bound = bound

    @explained_by(PrequentialDisplay.plot)
    def plot(
        self,
        ax: Any = None,
        *,
        start: int = 0,
        xscale: str = "linear",
        yscale: str = "linear",
        **kwargs: Any,
    ) -> Any:
        """Draw the curves, a dashed line for the bound, and a thin line at regret 0.

        Parameters
        ----------
        start : int, default=0
            Number of first rounds to leave out of the figure. They stay in the sums.
        xscale : str, default="linear"
            Scale of the rounds, any of matplotlib's. On a logarithmic one, logarithmic regret is
            a straight line.
        yscale : str, default="linear"
            Scale of the regret. Regret may be negative: take ``"symlog"`` rather than ``"log"``
            where a bound lies far above the curves.
        **kwargs : dict
            Keywords for matplotlib's ``plot``, for the learners' curves.

        Returns
        -------
        display : RegretCurveDisplay
            The display, with ``ax_``, ``figure_``, ``lines_`` and ``bound_`` set.
        """
        ax, is_new = axes_of(self, ax)
        self._plot_curves(self.regrets, ax=ax, start=start, line_kwargs=kwargs)
        self.bound_ = None
        if self.bound is not None:
            rounds = np.arange(start + 1, len(self.bound) + 1)
            style = {"color": "black", "linestyle": (0, (5, 3)), "linewidth": 1.0}
            (self.bound_,) = ax.plot(rounds, self.bound[start:], label="Bound", **style)
        if yscale != "log":
            ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
        ax.set(xscale=xscale, yscale=yscale, ylabel="Regret (unit of $y^2$)")
        draw_legend(ax, is_new, ends_first(ax))
        return self

    @classmethod
    @explained_by(PrequentialDisplay.from_estimator)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        comparator: Callable[..., Any] | ArrayLike = ridge_comparator,
        bound: Callable[..., Any] | ArrayLike | float | str | None = None,
        delay: int | ArrayLike | None = None,
        chunk_size: int | None = None,
        verbose: bool = False,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Run :func:`prequential` for each estimator and draw the regret.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
        comparator : callable, array-like of shape (n_samples,) or Bunch, default=ridge_comparator
            The comparator's forecasts, what a comparator returned, or a function that is called
            with ``(X, y)`` and returns them under the name ``forecasts``:
            :func:`ridge_comparator`, by default the least
            squares fit on all rows, or a ``functools.partial`` of
            :func:`kernel_ridge_comparator`, for example.
        bound : callable, array-like of shape (n_samples,), float or "theorem", default=None
            Bound of the regret after each round. A callable gets the array of rounds 1, ..., n.
            ``"theorem"`` computes that of one :class:`~sklearn_okl.VAWRegressor`,
            :func:`vaw_logdet_bound`, for the largest abs(y) and the comparator's own norm.
        delay : int or array-like of int of shape (n_samples,), default=None
            As :func:`prequential` takes it. Rows without a forecast are left out of the regret.

        Returns
        -------
        display : RegretCurveDisplay

        Raises
        ------
        ImportError
        ValueError
            If the comparator's forecasts or the bound are not one number per row, or if
            ``"theorem"`` is asked for where there is none to compute.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        others = comparator(X, y) if callable(comparator) else comparator
        estimators = named_estimators(estimator)
        if isinstance(bound, str):
            bound = _bound_by_theorem(bound, estimators, others, X, y, delay)
        forecasts = {
            name: prequential(
                learner, X, y, delay=delay, chunk_size=chunk_size, verbose=verbose
            ).forecasts
            for name, learner in estimators.items()
        }
        return cls.from_predictions(y, forecasts, others, bound=bound, ax=ax, **kwargs)

    @classmethod
    @explained_by(PrequentialDisplay.from_predictions)
    @explained_by(from_estimator)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        forecasts: ArrayLike | dict[str, Any],
        comparator_forecasts: ArrayLike,
        *,
        bound: Callable[..., Any] | ArrayLike | float | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Draw the regret of forecasts that are already there.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
        forecasts : array-like of shape (n_samples,), or dict of str to such
            Forecasts of one learner, or of several with their names, each made before its target
            was seen. A leading run of NaN, the cold start of :func:`prequential`, is left out of
            both sums.
        comparator_forecasts : array-like of shape (n_samples,) or Bunch
            Forecasts of the comparator, or what it returned.

        Raises
        ------
        ImportError
        ValueError
            If forecasts, targets or bound differ in length.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        regrets = {
            name: regret(values, y_true, comparator_forecasts=comparator_forecasts)
            for name, values in named_forecasts(forecasts).items()
        }
        if bound is not None:
            bound = _bound_values(bound, len(y_true))
        return cls(regrets, bound=bound).plot(ax=ax, **kwargs)


def _bound_values(bound, n_samples):
    """Return the bound after each of the rounds 1, ..., n."""
    values = bound(np.arange(1, n_samples + 1)) if callable(bound) else bound
    values = np.asarray(values, dtype=np.float64)
    if values.shape not in ((), (n_samples,)):
        raise ValueError(
            f"The bound must be a number or one number per row, shape ({n_samples},); got the "
            f"shape {values.shape}."
        )
    return np.broadcast_to(values, (n_samples,)).copy()


def _bound_by_theorem(bound, estimators, comparator, X, y, delay):
    """Return the bound (n,) that the theorem of one VAW regressor gives, or say why there is none.

    `comparator` is what was returned by one that is linear in the rows.
    """
    if bound != "theorem":
        raise ValueError(f"bound={bound!r} is no bound: give numbers, a callable, or 'theorem'.")
    learner, *others = estimators.values()
    is_covered = isinstance(learner, VAWRegressor) and not (others or delay)
    if not is_covered or (learner.forecaster, learner.forgetting) != ("vaw", 1.0):
        raise ValueError(
            "bound='theorem' is for one VAWRegressor with forecaster='vaw' and forgetting=1, whose "
            "labels come at once. Compute the bound of another by a function of "
            "sklearn_okl.evaluation, and give its values."
        )
    if learner.fit_intercept:
        raise ValueError(
            "bound='theorem' bounds the regret to functions <w, x>; give X with a column of ones "
            "in place of fit_intercept=True."
        )
    coef = getattr(comparator, "coef", None)
    if coef is None:
        raise ValueError(
            "bound='theorem' needs the weights of the comparator: give ridge_comparator, or what "
            "it returned, or a function whose result has them under the name 'coef'."
        )
    targets = np.asarray(y, dtype=np.float64)
    scale = {"y_bound": np.abs(targets).max(), "norm_sq": float(coef @ coef)}
    return vaw_logdet_bound(X, alpha=learner.alpha, **scale)
