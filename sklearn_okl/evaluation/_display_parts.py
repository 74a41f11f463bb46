"""What the displays share: colours, lines, legends, and how learners are named.

A display keeps arrays; ``from_estimator`` and ``from_predictions`` compute them and draw; ``plot``
draws them (again). matplotlib is imported when something is drawn, and not before.
"""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils._optional_dependencies import check_matplotlib_support

# Okabe and Ito's colours, told apart with every kind of colour vision; without their yellow, too
# pale for a line on white, and their black, which is kept for bounds.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

STYLES = ("-", "--", "-.", ":")

GREY, PALE = "#B8B8B8", "#D4D4D4"


class Display:
    """What all displays keep once they are drawn.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        The figure of these axes.
    """


class CurveDisplay(Display):
    """What displays with one curve a learner over the rounds 1, ..., n share."""

    def _plot_curves(self, curves, *, ax, start, line_kwargs):
        """Draw the curves from round `start + 1` on; set ``ax_``, ``figure_`` and ``lines_``."""
        n = len(next(iter(curves.values())))
        check_scalar(start, "start", Integral, min_val=0, max_val=n - 1)
        self.ax_, self.figure_ = ax, ax.figure
        before = len(_labelled_lines(ax))  # go on with the colours of an earlier display
        rounds = np.arange(start + 1, n + 1)
        shown = {name: values[start:] for name, values in curves.items()}
        self.lines_ = draw_many(ax, rounds, shown, line_kwargs, before)
        ax.set_xlabel("Round")


def draw_many(ax, rounds, curves, line_kwargs, before=0):
    """Draw curves by their names, in styles after those of the first ones; return the lines."""
    lines = []
    for i, (name, values) in enumerate(curves.items(), start=before):
        style = {
            "color": COLORS[i % len(COLORS)],
            "linestyle": STYLES[i // len(COLORS) % len(STYLES)],
            "linewidth": 1.5,
            "label": name,
        }
        lines += ax.plot(rounds, values, **{**style, **line_kwargs})
    return lines


def axes_of(display, ax, size=(6.4, 4.0)):
    """Return axes to draw on and whether they are new; new ones leave room for a legend."""
    check_matplotlib_support(f"{type(display).__name__}.plot")
    if ax is not None:
        return ax, False
    import matplotlib.pyplot as plt

    _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax, True


def draw_legend(ax, is_new, handles):
    """Put the legend beside axes of our own, and where there is room on those of others."""
    if not is_new:
        place = {"loc": "best"}
    elif len(handles) == 1:
        place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.0}
    else:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0)}
    ax.legend(handles=handles, frameon=False, **place)


def _labelled_lines(ax):
    return [line for line in ax.get_lines() if not line.get_label().startswith("_")]


def ends_first(ax):
    """Return the labelled lines in the order, top to bottom, in which they end."""
    lines = _labelled_lines(ax)
    ends = [line.get_ydata()[-1] for line in lines]
    return [lines[i] for i in np.argsort(-np.asarray(ends, dtype=np.float64), kind="stable")]


def named_estimators(estimators):
    """Return a dict of estimators from one, a dict, or a list of pairs."""
    if isinstance(estimators, (list, tuple)):
        named = dict(estimators)
        if len(named) < len(estimators):
            raise ValueError("Two estimators have the same name; give each its own.")
    elif isinstance(estimators, dict):
        named = dict(estimators)
    else:
        named = {type(estimators).__name__: estimators}
    if not named:
        raise ValueError("There is no estimator to draw; give at least one.")
    return named


def named_forecasts(forecasts):
    named = dict(forecasts) if isinstance(forecasts, dict) else {"Forecasts": forecasts}
    if not named:
        raise ValueError("There are no forecasts to draw; give at least one array.")
    return named
