"""The curves of a comparison, drawn: a panel for each stream, a band over the seeds."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils._optional_dependencies import check_matplotlib_support

from ._display_parts import COLORS, STYLES, draw_legend, ends_first
from ._prequential_display import _loss_scale

_MOST_COLUMNS = 3
_PANEL = (4.2, 3.2)  # inches
_SINGLE = (6.4, 4.0)


def draw_curves(comparison, score, streams, ax, start, line_kwargs):
    """Draw a score's curves on streams; return the axes, as :meth:`Comparison.plot` says."""
    check_matplotlib_support("Comparison.plot")
    check_scalar(start, "start", Integral, min_val=0)
    curves = {stream: _curves_of(comparison, score, stream, start) for stream in streams}
    axes = _new_axes(len(streams)) if ax is None else np.atleast_1d(np.asarray(ax, object)).ravel()
    if len(axes) != len(streams):
        raise ValueError(
            f"There are {len(axes)} axes for {len(streams)} streams; give one for each, or say by "
            "stream= which one to draw."
        )
    for axis, (stream, (rounds, values)) in zip(axes, curves.items(), strict=True):
        _draw_panel(axis, rounds, values, line_kwargs)
        label = score.replace("_", " ").capitalize() + ",\nrows so far"
        axis.set(xlabel="Round", ylabel=label, title=stream)
    if ax is not None or len(streams) == 1:
        for axis in axes:
            draw_legend(axis, ax is None, ends_first(axis))
    else:
        handles, _ = axes[0].get_legend_handles_labels()  # panels may end in different orders
        axes[0].figure.legend(handles=handles, frameon=False, loc="outside right upper")
    return axes


def _curves_of(comparison, score, stream, start):
    """Return the rounds (n_points,) and each model's curves (n_seeds, n_points) on a stream."""
    found = {name: [] for name in comparison.models}
    rounds = None
    runs = zip(
        comparison.results["stream"], comparison.results["model"], comparison.curves, strict=True
    )
    for where, model, curve in runs:
        if where == stream:
            rounds = curve["rounds"] if rounds is None else rounds
            if not np.array_equal(rounds, curve["rounds"]):
                raise ValueError(
                    f"The stream {stream!r} has {rounds[-1]} rows for one seed and "
                    f"{curve['rounds'][-1]} for another, so that there is no mean curve. Cut it to "
                    "one length."
                )
            found[model].append(curve[score])
    shown = rounds > start
    if not shown.any():
        raise ValueError(f"start={start} leaves nothing of the {rounds[-1]} rows of {stream!r}.")
    return rounds[shown], {name: np.array(values)[:, shown] for name, values in found.items()}


def _new_axes(n):
    import matplotlib.pyplot as plt

    n_columns = min(n, _MOST_COLUMNS)
    n_lines = -(-n // n_columns)
    size = _SINGLE if n == 1 else (_PANEL[0] * n_columns + 1.6, _PANEL[1] * n_lines)
    _, axes = plt.subplots(n_lines, n_columns, figsize=size, layout="constrained", squeeze=False)
    axes = axes.ravel()
    for axis in axes[n:]:
        axis.set_axis_off()
    for axis in axes[:n]:
        axis.spines[["top", "right"]].set_visible(False)
    return axes[:n]


def _draw_panel(ax, rounds, values, line_kwargs):
    for i, (name, curves) in enumerate(values.items()):
        style = {
            "color": COLORS[i % len(COLORS)],
            "linestyle": STYLES[i // len(COLORS) % len(STYLES)],
            "linewidth": 1.5,
            "label": name,
        }
        mean = curves.mean(axis=0)
        (line,) = ax.plot(rounds, mean, **{**style, **line_kwargs})
        if len(curves) > 1:
            spread = curves.std(axis=0, ddof=1)
            ax.fill_between(
                rounds, mean - spread, mean + spread, color=line.get_color(), alpha=0.2, linewidth=0
            )
    ax.set_yscale(_loss_scale([curves.mean(axis=0) for curves in values.values()]))
