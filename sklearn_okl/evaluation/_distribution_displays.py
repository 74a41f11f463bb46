"""Whether distributions hold, drawn: coverage over time, and the histogram of the PIT."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.stats import binom
from sklearn.utils import check_scalar
from sklearn.utils._optional_dependencies import check_matplotlib_support

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike, Seed
from ._display_parts import COLORS, GREY, PALE, Display, axes_of, draw_legend
from ._interval_scores import coverage_by_window
from ._prequential_display import PrequentialDisplay
from ._probability_integral import pit_from_quantiles


@inherit_documentation
class CoverageDisplay(Display):
    """The share of targets that intervals held, window after window of a stream.

    Use :meth:`from_predictions` to create one.

    Parameters
    ----------
    held : ndarray of shape (n_windows, n_levels)
        Shares, as :func:`coverage_by_window` gives them.
    coverage : array-like of shape (n_levels,)
        Shares that the intervals were asked to hold.
    window : int
        Targets in each window.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D
        The shares held, a line for each level.

    See Also
    --------
    coverage_by_window : The numbers alone.
    PITDisplay : All levels at once, and all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import CoverageDisplay
    >>> y, intervals = np.random.default_rng(0).normal(size=2000), [[[-1.645, 1.645]]] * 2000
    >>> CoverageDisplay.from_predictions(y, intervals, [0.9], window=200)  # doctest: +SKIP
    """

    def __init__(self, held: Any, coverage: Any, window: int) -> None:
        self.held = held
        self.coverage = coverage
        self.window = window

    @explained_by(PrequentialDisplay.plot)
    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the shares at the last row of each window, and those asked for as grey lines.

        Grey areas are where nineteen in twenty windows of hits that come independently would lie.

        Parameters
        ----------
        **kwargs : dict
            Keywords for matplotlib's ``plot``, for the lines.

        Returns
        -------
        display : CoverageDisplay
            The display, drawn, with what it drew in its attributes.
        """
        ax, is_new = axes_of(self, ax)
        self.ax_, self.figure_, self.lines_ = ax, ax.figure, []
        rows = self.window * np.arange(1, len(self.held) + 1)
        levels = np.atleast_1d(self.coverage)
        for k in np.argsort(-levels, kind="stable"):
            chance = binom.interval(0.95, self.window, levels[k])
            ax.axhspan(*np.divide(chance, self.window), color=PALE, alpha=0.4, linewidth=0.0)
            ax.axhline(levels[k], color=GREY, linewidth=1.0)
            style = {"color": COLORS[len(self.lines_) % len(COLORS)], "linewidth": 1.5}
            label = f"{100 * levels[k]:.3g} %"
            self.lines_ += ax.plot(rows, self.held[:, k], **{**style, "label": label, **kwargs})
        ax.set(xlabel="Round", ylabel="Share held")
        draw_legend(ax, is_new, self.lines_)
        return self

    @classmethod
    @explained_by(plot, coverage_by_window)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        intervals: ArrayLike,
        coverage: ArrayLike,
        *,
        window: int = 500,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Draw how often intervals held that are already there, each made before its target.

        Parameters
        ----------
        coverage : float or array-like of shape (n_levels,)
            Shares of targets that the intervals were asked to hold.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        held, levels = coverage_by_window(y_true, intervals, window), np.atleast_1d(coverage)
        if levels.shape != (held.shape[1],):
            raise ValueError(
                f"coverage={coverage!r}: there are intervals of {held.shape[1]} levels, name each."
            )
        return cls(held, levels, window).plot(ax=ax, **kwargs)


@inherit_documentation
@explained_by(CoverageDisplay)
class PITDisplay(Display):
    """The histogram of the probability integral transform: flat where distributions hold.

    A hump says that they are too wide, a trough that they are too narrow, a slope that they lie
    too low or too high. Use :meth:`from_predictions` or :meth:`from_values` to create one.

    Parameters
    ----------
    values : ndarray of shape (n,)
        Numbers from 0 to 1, as :func:`pit_from_quantiles` and its like give them.
    n_bins : int, default=10
        How many bars, of equal width.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        The bars.

    See Also
    --------
    pit_from_quantiles : The numbers alone, from quantiles, samples or distribution functions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import PITDisplay
    >>> PITDisplay.from_values(np.random.default_rng(0).uniform(size=500))  # doctest: +SKIP
    """

    def __init__(self, values: Any, n_bins: int = 10) -> None:
        self.values = values
        self.n_bins = n_bins

    @explained_by(CoverageDisplay.plot)
    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the share of rows in each bar, times the number of bars: 1 would be even.

        The grey area is where nineteen in twenty bars of even numbers would end.

        Parameters
        ----------
        **kwargs : dict
            Keywords for matplotlib's ``bar``.

        Returns
        -------
        display : PITDisplay
            It, drawn.
        """
        ax, _ = axes_of(self, ax)
        n, edges = len(self.values), np.linspace(0.0, 1.0, self.n_bins + 1)
        counts, _ = np.histogram(self.values, edges)
        scale = self.n_bins / n
        chance = binom.interval(0.95, n, 1.0 / self.n_bins)
        ax.axhspan(*np.multiply(chance, scale), color=PALE, alpha=0.6, linewidth=0.0)
        style = {"color": COLORS[0], "align": "edge", "width": 0.9 / self.n_bins}
        self.bars_ = ax.bar(edges[:-1] + 0.05 / self.n_bins, counts * scale, **{**style, **kwargs})
        ax.axhline(1.0, color=GREY, linewidth=1.0)
        ax.set(xlabel="Probability integral transform", ylabel="Density", xlim=(0.0, 1.0))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    @explained_by(plot)
    def from_values(
        cls, values: ArrayLike, *, n_bins: int = 10, ax: Any = None, **kwargs: Any
    ) -> Any:
        """Draw the histogram of numbers that are already there.

        Parameters
        ----------
        values : array-like of shape (n,)
            Numbers from 0 to 1.
        n_bins : int, default=10
            Of the histogram.
        """
        check_matplotlib_support(f"{cls.__name__}.from_values")
        check_scalar(n_bins, "n_bins", Integral, min_val=1)
        values = np.asarray(values, dtype=np.float64).ravel()
        if not len(values) or not ((values >= 0.0) & (values <= 1.0)).all():
            raise ValueError("values holds no numbers from 0 to 1: it is to be a transform's.")
        return cls(values, n_bins).plot(ax=ax, **kwargs)

    @classmethod
    @explained_by(from_values, pit_from_quantiles)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        quantiles: ArrayLike,
        levels: ArrayLike,
        *,
        n_bins: int = 10,
        random_state: Seed = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Draw where targets fell among quantiles that are already there."""
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        values = pit_from_quantiles(y_true, quantiles, levels, random_state=random_state)
        return cls.from_values(values, n_bins=n_bins, ax=ax, **kwargs)
