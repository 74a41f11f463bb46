"""Intervals, and whatever else is said at several levels, as frames of pandas.

pandas is imported only where a frame is asked for.
"""

import numpy as np
from sklearn.utils._optional_dependencies import check_pandas_support

KINDS = ("wide", "multiindex")


def interval_frame(intervals, coverage, as_frame, *, index=None, names=None):
    """Return intervals as a frame, or as they are where `as_frame` is None.

    Parameters
    ----------
    intervals : ndarray of shape (n, [m,] [n_levels,] 2)
        Without the axis of levels where `coverage` is a number, without m of one series or target.
    coverage : float or array-like of shape (n_levels,)
    as_frame : {"wide", "multiindex"}, default=None
        A frame of pandas, which is to be installed, with the rows' index where they have one:
        columns ``lo-90`` and ``hi-90``, of several variables ``load-lo-90``, as statsforecast
        has them; or columns of three levels, the variable, the coverage, and ``"lower"`` or
        ``"upper"``, as sktime has them. Variables without a name are numbered.
    index : pandas.Index, or frame of pandas whose index is taken; default=None
        Anything else: rows are numbered.
    names : list of length m, default=None
        Of the series or targets. None: they are numbered.

    Raises
    ------
    ImportError
        If a frame is asked for and pandas is not installed.
    ValueError
        If there is no such kind of frame.
    """
    if as_frame is None:
        return intervals
    shares = np.ravel(coverage).tolist()
    levels = [
        (f"{end}-{100 * share:g}", (share, side))
        for share in shares
        for end, side in (("lo", "lower"), ("hi", "upper"))
    ]
    is_flat = intervals.ndim == 2 + np.ndim(coverage)
    n_variables = 1 if is_flat else intervals.shape[1]
    names = names if names is not None and len(names) == n_variables else None
    values = intervals.reshape(len(intervals), n_variables, len(levels))
    return level_frame(values, levels, as_frame, is_flat, index, names)


def check_as_frame(as_frame):
    """Refuse what is no kind of frame, and a frame where pandas is not installed."""
    if as_frame is None:
        return
    if as_frame not in KINDS:
        raise ValueError(f"as_frame={as_frame!r} must be one of {list(KINDS)}, or None for arrays.")
    check_pandas_support(f"as_frame={as_frame!r}")


def level_frame(values, levels, as_frame, is_flat, index=None, names=None):
    """Return what is said of m variables at k levels as a frame with a column for each pair.

    Parameters
    ----------
    values : ndarray of shape (n, m, k)
    levels : list of tuple of (str, tuple), of length k
        What a level is called in a wide frame, as ``"lo-90"``, and in one of several, as
        ``(0.9, "lower")``.
    as_frame : {"wide", "multiindex"}
    is_flat : whether there is one variable that needs no name in a wide frame.
    index, names
        As `interval_frame` takes them.
    """
    check_as_frame(as_frame)
    import pandas as pd

    n, n_variables, _ = values.shape
    names = [None] * n_variables if names is None else names
    names = [number if name is None else name for number, name in enumerate(names)]
    if as_frame == "wide":
        prefixes = [""] if is_flat else [f"{name}-" for name in names]
        columns = [prefix + label for prefix in prefixes for label, _ in levels]
    else:
        columns = pd.MultiIndex.from_tuples([(name, *key) for name in names for _, key in levels])
    index = getattr(index, "index", index)
    index = index if isinstance(index, pd.Index) else None
    return pd.DataFrame(values.reshape(n, -1), index=index, columns=columns)
