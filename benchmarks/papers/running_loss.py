"""The figure of running losses: a panel a stream, a line a learner."""

import numpy as np

_SKIPPED = 50  # first rows left out: means of a few losses say nothing and spoil the scale
_TICKS = (1, 2, 5)  # times powers of ten
_LOG_FROM = 10  # losses that span more than this ratio get a log scale
_COLUMNS = 3


def save_figure(path, streams, styles, n_seeds):
    """Draw running means of losses and return the path, or None without matplotlib.

    Parameters
    ----------
    path : Path
        The PNG to write; its folder is made if it is not there.
    streams : dict of str to dict of str to ndarray of shape (n_rows,)
        Title of the stream -> label of the learner -> loss of each row.
    styles : dict of str to dict
        Label -> keywords of its line.
    n_seeds : int
        Number of draws behind each loss, for the caption.
    """
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import LogLocator, NullLocator, StrMethodFormatter
    except ImportError:
        return None

    n_columns = min(_COLUMNS, len(streams))
    n_lines = -(-len(streams) // n_columns)
    figure = Figure(figsize=(4.6 * n_columns, 3.5 * n_lines + 0.9), layout="constrained")
    axes = figure.subplots(n_lines, n_columns, squeeze=False).ravel()
    for ax in axes[len(streams) :]:
        ax.set_visible(False)
    for ax, (title, losses) in zip(axes, streams.items(), strict=False):
        _draw_panel(ax, title, losses, styles)
        for axis in (ax.xaxis, ax.yaxis):
            if axis.get_scale() == "log":
                axis.set_major_locator(LogLocator(subs=_TICKS))
                axis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.set_minor_locator(NullLocator())
    for ax in axes[::n_columns]:
        ax.set_ylabel("running MSE × 10³")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=-(-len(labels) // 3),
        frameon=False,
        handlelength=3.2,
    )
    draws = "one draw" if n_seeds == 1 else f"mean of {n_seeds} draws"
    figure.suptitle(f"Mean squared error of the forecasts so far, {draws} of the features")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def _draw_panel(ax, title, losses, styles):
    lowest, highest = np.inf, 0.0
    for label, values in losses.items():
        rounds = np.arange(1, len(values) + 1)
        first = min(_SKIPPED, len(values) // 4)
        running = (1e3 * np.cumsum(values) / rounds)[first:]
        ax.plot(rounds[first:], running, label=label, linewidth=1.6, **styles[label])
        lowest, highest = min(lowest, running.min()), max(highest, running.max())
    # rounds on a log scale: what is learnt early is as wide as the long end
    ax.set_xscale("log")
    if highest > _LOG_FROM * lowest > 0:
        ax.set_yscale("log")
    ax.set_title(title, fontsize=11)
    ax.set_xlabel("rounds")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.margins(x=0.02)
