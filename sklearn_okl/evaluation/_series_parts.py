"""What displays of series share: one of several, its times, and an axis for these."""

import numpy as np

from ..series._labels import as_known

_OF_AN_AXIS = "datetime64", "timedelta64", "integer", "floating"  # in pandas' words


def rounds_of(ax, times, n):
    """Return the times of n rows, or their numbers, and the zone, which the axis is to have."""
    zone = getattr(times, "tz", None)
    if zone is not None:
        ax.xaxis_date(zone)
    return np.arange(n) if times is None else times, zone


def write_dates_short(ax, zone):
    """Let dates, where the axis has them, not run into each other."""
    from matplotlib.dates import ConciseDateFormatter, DateLocator

    locator = ax.xaxis.get_major_locator()
    if isinstance(locator, DateLocator):
        ax.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone))


def place_of(forecasts, series):
    """Return the place of a series by its place or name."""
    shape = np.shape(forecasts)
    names = list(getattr(forecasts, "columns", []))
    if series in names:
        return names.index(series)
    n_series = shape[1] if len(shape) == 2 else 1
    if not isinstance(series, (int, np.integer)) or not 0 <= series < n_series:
        known = f"they are {names}" if names else f"there are {n_series}"
        raise ValueError(f"series={series!r} is none of the series: {known}.")
    return int(series)


def series_of(rows, place):
    """Return a series (n,) of some rows, and the times in their index or None."""
    values = np.asarray(rows, dtype=np.float64)
    return values[:, place] if values.ndim == 2 else values, times_of(rows)


def times_of(rows):
    """Return the times in the index of a frame, None where there is none that has an axis."""
    index = getattr(rows, "index", None)
    if index is None or not hasattr(index, "get_indexer"):
        return None
    index = as_known(index)
    if hasattr(index, "to_timestamp"):
        return index.to_timestamp()
    is_name = index.inferred_type == "string" and index.is_unique
    return index if is_name or index.inferred_type in _OF_AN_AXIS else None
