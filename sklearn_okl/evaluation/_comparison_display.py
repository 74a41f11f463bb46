"""A comparison drawn: curves, a panel for each stream, and the diagram of the ranks."""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils._optional_dependencies import check_matplotlib_support

from ._comparison_ranks import not_told_apart
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
    scales = [_loss_scale([c.mean(axis=0) for c in v.values()]) for _, v in curves.values()]
    scale = "log" if "log" in scales else "linear"
    if any((c.mean(axis=0) <= 0).any() for _, v in curves.values() for c in v.values()):
        scale = "linear"  # on a logarithmic one nothing would be seen of them
    for axis, (stream, (rounds, values)) in zip(axes, curves.items(), strict=True):
        _draw_panel(axis, rounds, values, line_kwargs)
        axis.set_yscale(scale)
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


def draw_ranks(ranks, over, ax):
    """Draw a critical-difference diagram of ranks; return the axes."""
    check_matplotlib_support("Comparison.plot_ranks")
    names, places = list(ranks.average), list(ranks.average.values())
    groups = not_told_apart(names, ranks.pairs)
    if ax is None:
        import matplotlib.pyplot as plt

        height = 1.0 + 0.22 * len(names) + 0.12 * len(groups)
        _, ax = plt.subplots(figsize=(6.4, height), layout="constrained")
    n, lowest = len(names), 1.0 + 0.5 * len(groups)
    for i, (name, place) in enumerate(zip(names, places, strict=True)):
        is_left = i < (n + 1) // 2
        level = lowest + (i if is_left else n - 1 - i)
        end = 0.9 if is_left else n + 0.1
        ax.plot([place, place, end], [0, level, level], color="black", linewidth=0.9)
        side = {"ha": "right", "x": end - 0.05} if is_left else {"ha": "left", "x": end + 0.05}
        ax.text(y=level, s=f"{name} ({place:.2f})", va="center", **side)
    for i, (first, last) in enumerate(groups):
        height, reach = 0.4 + 0.5 * i, 0.03
        ends = [places[first] - reach, places[last] + reach]
        ax.plot(ends, [height, height], color=COLORS[0], linewidth=4, solid_capstyle="butt")
    ax.set(xlim=(1, n), ylim=(lowest + n // 2 + 0.5, 0), yticks=[], xticks=range(1, n + 1))
    ax.xaxis.tick_top()
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.set_title(f"Average rank over {ranks.n_blocks} {over}", fontsize="medium")
    return ax
