"""The figure of the comparison: loss against time, a panel a stream."""

import numpy as np

_COLUMNS = 3
_DPI = 150
_MARKERS = "osD^vPX*"
_COLORS = {"sklearn_okl": "#c44e17", "scikit-learn": "#1f5fa8", "River": "#009e73"}
_WORST = 1.5  # losses beyond it are drawn at the edge


def save_trade_off(path, results, homes):
    """Draw losses against times; return the path, or None without matplotlib.

    Parameters
    ----------
    path : Path
        The PNG to write; its folder is made if it is not there.
    results : dict of str to dict of str to dict
        Title of the stream -> label of the learner -> ``{"loss": ..., "microseconds": ...}``.
    homes : dict of str to str
        Label -> package, which gives the colour.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return None

    n_columns = min(_COLUMNS, len(results))
    n_lines = -(-len(results) // n_columns)
    figure = Figure(figsize=(4.4 * n_columns + 2.6, 3.3 * n_lines + 0.6), layout="constrained")
    axes = figure.subplots(n_lines, n_columns, squeeze=False, sharex=True).ravel()
    for ax in axes[len(results) :]:
        ax.set_axis_off()
    markers = _markers(homes)
    for ax, (title, result) in zip(axes, results.items(), strict=False):
        handles = []
        for label, record in result.items():
            loss = record["loss"] if np.isfinite(record["loss"]) else np.inf
            (handle,) = ax.semilogx(
                record["microseconds"],
                min(loss, _WORST),
                markers[label],
                color=_COLORS[homes[label]],
                markersize=8,
                markeredgecolor="white",
                clip_on=False,
                label=f"{homes[label]}: {label}",
            )
            handles.append(handle)
        ax.set_title(title, fontsize=11)
        ax.set_ylim(bottom=0)
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[::n_columns]:
        ax.set_ylabel("loss / variance of targets")
    for ax in axes[max(0, len(results) - n_columns) : len(results)]:
        ax.set_xlabel("µs a row")
        ax.tick_params(labelbottom=True)
    figure.legend(handles=handles, loc="outside right center", frameon=False)
    figure.suptitle(f"Progressive squared loss against time (losses above {_WORST:g} at the edge)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=_DPI)
    return path


def _markers(homes):
    """Give the learners of a package different markers."""
    seen = {}
    markers = {}
    for label, home in homes.items():
        markers[label] = _MARKERS[seen.get(home, 0) % len(_MARKERS)]
        seen[home] = seen.get(home, 0) + 1
    return markers
