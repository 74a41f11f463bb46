"""Figures 1 and 2 of the VAW² paper: running losses, and weights of the kernels at the end."""

import numpy as np

from sklearn_okl.evaluation import ExpertWeightsDisplay, PrequentialDisplay

_SKIPPED = 50  # first rows left out: means of a few losses say nothing and spoil the scale
_TICKS = (1, 2, 5)  # times powers of ten
_COLUMNS = 3
_DPI = 150


def save_running_losses(path, streams, styles, title):
    """Draw running means of losses, a panel a stream; return the path, or None without matplotlib.

    Parameters
    ----------
    path : Path
        The PNG to write; its folder is made if it is not there.
    streams : dict of str to dict of str to ndarray of shape (n_rows,)
        Title of the stream -> label of the learner -> loss of each row.
    styles : dict of str to dict
        Label -> properties of its line.
    title : str
        Title of the figure.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None

    n_columns = min(_COLUMNS, len(streams))
    n_lines = -(-len(streams) // n_columns)
    figure = Figure(figsize=(4.6 * n_columns, 3.5 * n_lines + 0.9), layout="constrained")
    axes = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for ax in axes[len(streams) :]:
        ax.set_axis_off()
    for ax, (name, losses) in zip(axes, streams.items(), strict=False):
        handles = _draw_losses(ax, losses, styles)
        ax.set_title(name, fontsize=11)
    for ax in axes[::n_columns]:
        ax.set_ylabel("running MSE × 10³")
    style = {"handles": handles, "frameon": False, "handlelength": 3.2}
    if len(axes) > len(streams):
        axes[-1].legend(loc="center", fontsize=11, **style)
    else:
        n_columns = -(-len(handles) // (1 if n_columns == _COLUMNS else 2))
        figure.legend(loc="outside lower center", ncols=n_columns, **style)
    figure.suptitle(title)
    return _save(figure, path)


def _draw_losses(ax, losses, styles):
    from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter

    running = {
        label: 1e3 * np.cumsum(values) / np.arange(1, len(values) + 1)
        for label, values in losses.items()
    }
    n_rows = len(next(iter(running.values())))
    # rounds on a log scale: what is learnt early is as wide as the long end
    display = PrequentialDisplay(running)
    display.plot(ax, start=min(_SKIPPED, n_rows // 4), xscale="log", linewidth=1.6)
    for line in display.lines_:
        line.set(**styles[line.get_label()])
    ax.get_legend().remove()
    ax.set(xlabel="rounds", ylabel=None)
    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=_TICKS))
            axis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axis.set_minor_locator(NullLocator())
    _tidy(ax)
    ax.margins(x=0.02)
    return display.lines_


def save_weights(path, streams, colors, borders, title):
    """Draw weights as bars, a row of panels a stream and a column an algorithm.

    Parameters
    ----------
    path : Path
        The PNG to write; its folder is made if it is not there.
    streams : dict of str to dict of str to ndarray of shape (n_kernels,)
        Title of the stream -> label of the algorithm -> weights.
    colors : dict of str to str
        Label -> colour of its bars.
    borders : dict of str to int
        Name of each family of kernels -> number of its kernels, in the order of the weights.
    title : str
        Title of the figure.

    Returns
    -------
    path : Path or None
        The file; None without matplotlib.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None

    figure = Figure(figsize=(13.0, 2.0 * len(streams) + 1.2), layout="constrained")
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
    return _save(figure, path)


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


def _tidy(ax):
    ax.grid(alpha=0.25, axis="y")
    ax.spines[["top", "right"]].set_visible(False)


def _save(figure, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI)
    return path
