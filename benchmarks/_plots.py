"""The figures of all jobs, as PNG files.

A function that draws is called with the path to write first, and returns it; where matplotlib is
not installed it draws nothing and returns None.
"""

from functools import wraps

import numpy as np

from sklearn_okl.evaluation import ExpertWeightsDisplay

ORANGE, BLUE, GREEN, PINK, GREY = "#c44e17", "#1f5fa8", "#009e73", "#b5579a", "#777777"
_HOMES = {"sklearn_okl": ORANGE, "scikit-learn": BLUE, "River": GREEN}
_MARKERS = "osD^vPX*"
_SKIPPED = 50  # first rows left out: means of a few losses say nothing and spoil the scale
_COLUMNS = 3
_WORST = 1.5  # losses beyond it are drawn at the edge


def print_figures(paths):
    """Say where figures are, or once that there are none."""
    for path in dict.fromkeys(paths):
        print(f"Figure:  {path}" if path else "Figure:  none, matplotlib is not installed.")


def _saved(draw):
    """Let a function that returns a figure write it to the path that it is given first."""

    @wraps(draw)
    def save(path, *arguments):
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            return None
        figure = draw(*arguments)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
        return path

    return save


def _figure(width, height, dpi=150):
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), dpi=dpi, layout="constrained")


def _panels(n, most_columns, size, more, dpi=150, **sharing):
    """Return a figure, the axes of n panels and of the places left, and how many columns it has.

    Sizes are in inches: of a panel, and of what the figure has around all of them.
    """
    n_columns = min(most_columns, n)
    n_lines = -(-n // n_columns)
    figure = _figure(size[0] * n_columns + more[0], size[1] * n_lines + more[1], dpi)
    axes = figure.subplots(n_lines, n_columns, squeeze=False, **sharing).ravel()
    for ax in axes[n:]:
        ax.set_axis_off()
    return figure, axes, n_columns


def _tidy(ax, grid="y"):
    ax.grid(alpha=0.25, axis=grid)
    ax.spines[["top", "right"]].set_visible(False)


def _round_ticks(axis):
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_locator(NullLocator())


@_saved
def save_running_losses(streams, styles, title):
    """Draw running means of losses, means over the seeds, a panel a stream, a line a style.

    `streams` has for each title of a stream the records of its models, as `records` returns them.
    """
    figure, axes, n_columns = _panels(len(streams), _COLUMNS, (4.6, 3.5), (0.0, 0.9))
    for ax, (name, found) in zip(axes, streams.items(), strict=False):
        for label, style in styles.items():
            rows = np.array(found[label]["rows"])
            shown = rows >= min(_SKIPPED, rows[-1] // 4)
            means = np.mean(found[label]["curves"], axis=0)
            ax.plot(rows[shown], means[shown], label=label, linewidth=1.6, **style)
        # rounds on a log scale: what is learnt early is as wide as the long end
        ax.set(title=name, xlabel="rounds", xscale="log")
        _round_ticks(ax.xaxis)
        _tidy(ax)
    for ax in axes[::n_columns]:
        ax.set_ylabel("running MSE × 10³")
    handles, _ = axes[0].get_legend_handles_labels()
    style = {"handles": handles, "frameon": False, "handlelength": 3.2}
    if len(axes) > len(streams):
        axes[-1].legend(loc="center", fontsize=11, **style)
    else:
        n_columns = -(-len(handles) // (1 if n_columns == _COLUMNS else 2))
        figure.legend(loc="outside lower center", ncols=n_columns, **style)
    figure.suptitle(title)
    return figure


@_saved
def save_weights(streams, colors, borders, title):
    """Draw weights as bars, a row of panels a stream and a column an algorithm.

    `streams` has for each title of a stream the weights (n_kernels,) of each algorithm by its
    label, `colors` a colour for each label, and `borders` for each family of kernels the number of
    its kernels, in the order of the weights.
    """
    figure = _figure(13.0, 2.0 * len(streams) + 1.2)
    axes = figure.subplots(len(streams), len(colors), sharex=True, squeeze=False)
    for i, (line, (name, weights)) in enumerate(zip(axes, streams.items(), strict=True)):
        for ax, (label, color) in zip(line, colors.items(), strict=True):
            numbers = [str(i) for i in range(len(weights[label]))]
            display = ExpertWeightsDisplay({label: weights[label]}, numbers)
            display.plot(ax, color=color, width=0.9)
            ax.get_legend().remove()
            _mark_families(ax, borders, named=i == 0)
            ax.set(xlabel=None, ylabel=None)
        line[0].set_ylabel(f"{name}\nweight")
    for ax, label in zip(axes[0], colors, strict=True):
        ax.set_title(label, fontsize=11)
    figure.align_ylabels(axes[:, 0])
    for ax in axes[-1]:
        ax.set_xlabel("kernel, narrow to wide in each family")
    figure.suptitle(title)
    return figure


def _mark_families(ax, borders, named):
    ends = np.cumsum([0, *borders.values()])
    for end in ends[1:-1]:
        ax.axvline(end - 0.5, color="black", linewidth=0.8, linestyle=(0, (4, 3)))
    ax.set_xticks([*range(0, ends[-1], 10)], [*range(0, ends[-1], 10)], rotation=0)
    _tidy(ax)
    if named:
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.15 * (high - low))  # room for the names
        for family, first, last in zip(borders, ends[:-1], ends[1:], strict=True):
            at = (first + last - 1) / 2, 0.98
            place = {"ha": "center", "va": "top", "transform": ax.get_xaxis_transform()}
            ax.text(*at, family, fontsize=9, color="#555555", **place)


@_saved
def save_curves(panels, styles, title, crosses=None, xscale="linear", columns=4):
    """Draw panels with a curve a system.

    `panels` has for each title of a panel what its two axes show and the curve (x, values) of each
    system by its label, and `crosses` values to mark at the same x, which become ticks.
    """
    figure, axes, n_columns = _panels(len(panels), columns, (4.8, 4.0), (0.0, 0.6))
    handles = {}
    for ax, (name, (labels, curves)) in zip(axes, panels.items(), strict=False):
        for label, (x, values) in curves.items():
            (handles[label],) = ax.plot(x, values, label=label, **styles[label])
            marked = crosses[name][label] if crosses else [None]
            if marked[0] is not None:
                ax.plot(x, marked, "x", color=styles[label]["color"])
        ax.set(title=name, xlabel=labels[0], ylabel=labels[1], xscale=xscale)
        if crosses:
            ax.set_xticks(x)
        if xscale == "log":
            _round_ticks(ax.xaxis)
        _tidy(ax)
    style = {"ncols": min(4, 2 * n_columns), "frameon": False}
    figure.legend(handles=handles.values(), loc="outside lower center", **style)
    figure.suptitle(title)
    return figure


@_saved
def save_beside_published(panels):
    """Draw our means and the published ones with their deviations, a panel a table's data set.

    `panels` has for each title what the axis shows, and for each line its name, the published mean
    and standard deviation, and ours.
    """
    figure, axes, _ = _panels(len(panels), 4, (4.0, 3.2), (0.0, 0.6), dpi=120)
    for ax, (title, (shown, lines)) in zip(axes, panels.items(), strict=False):
        at = np.arange(len(lines))[::-1]
        names, *sides = zip(*lines, strict=True)
        theirs, ours = map(np.transpose, sides)
        for (mean, sd), place, mark, color, label in (
            (theirs, at + 0.13, "x", GREY, "published"),
            (ours, at - 0.13, "o", BLUE, "ours"),
        ):
            ax.errorbar(mean, place, xerr=sd, fmt=mark, color=color, label=label)
        ax.set_yticks(at, names)
        ax.set(title=title, xlabel=shown)
        _tidy(ax, "x")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


@_saved
def save_trade_off(results, homes):
    """Draw losses against times, a panel a stream.

    `results` has for each title of a stream the ``loss`` and ``microseconds`` of each learner by
    its label, and `homes` the package that each label comes from.
    """
    n = len(results)
    figure, axes, n_columns = _panels(n, _COLUMNS, (4.4, 3.3), (2.6, 0.6), sharex=True)
    markers = _markers(homes)
    for ax, (title, result) in zip(axes, results.items(), strict=False):
        handles = []
        for label, record in result.items():
            loss = record["loss"] if np.isfinite(record["loss"]) else np.inf
            (handle,) = ax.semilogx(
                record["microseconds"],
                min(loss, _WORST),
                markers[label],
                color=_HOMES[homes[label]],
                markersize=8,
                markeredgecolor="white",
                clip_on=False,
                label=f"{homes[label]}: {label}",
            )
            handles.append(handle)
        ax.set_title(title, fontsize=11)
        ax.set_ylim(bottom=0)
        _tidy(ax, "both")
    for ax in axes[::n_columns]:
        ax.set_ylabel("loss / variance of targets")
    for ax in axes[max(0, n - n_columns) : n]:
        ax.set_xlabel("µs a row")
        ax.tick_params(labelbottom=True)
    figure.legend(handles=handles, loc="outside right center", frameon=False)
    figure.suptitle(f"Progressive squared loss against time (losses above {_WORST:g} at the edge)")
    return figure


def _markers(homes):
    """Give the learners of a package different markers."""
    seen = {}
    markers = {}
    for label, home in homes.items():
        markers[label] = _MARKERS[seen.get(home, 0) % len(_MARKERS)]
        seen[home] = seen.get(home, 0) + 1
    return markers
