"""How large errors usually are: robust deviations of the latest ones, window by window."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

MAD = 1.4826  # standard deviations in a median distance of Gaussian numbers
_FEW = 4  # targets other than most that say how far these are


def deviation(errors, values):
    """Return the robust deviation of errors; infinite where there are none that say anything."""
    if not len(errors):
        return np.inf
    deviation = MAD * median(errors)
    if len(values):
        distances = np.abs(values - median(values))
        if median(distances) == 0.0:  # of the few that are not equal
            others = distances[distances > 0.0]
            deviation = max(deviation, MAD * median(others)) if len(others) >= _FEW else np.inf
    return deviation if deviation > 0.0 else np.inf


def deviations(errors, values):
    """Return what `deviation` does of windows (..., latest), none of which is empty."""
    deviations = MAD * median(errors)
    distances = np.abs(values - median(values)[..., None])
    for place in np.argwhere((median(distances) == 0.0) | (deviations == 0.0)):
        deviations[tuple(place)] = deviation(errors[tuple(place)], values[tuple(place)])
    return deviations


def windows_of(values, ends, size):
    """Return the windows (m, size) of values that end there."""
    return sliding_window_view(values, size)[ends - size]


def median(values):
    """Return the medians of values (..., n): `numpy.median` takes longer to get ready."""
    ordered, n = np.sort(values, axis=-1), values.shape[-1]
    return 0.5 * (ordered[..., (n - 1) // 2] + ordered[..., n // 2])
