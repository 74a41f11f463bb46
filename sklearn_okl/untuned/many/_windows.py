"""Windows of the latest numbers, of which some are fuller than others."""

import numpy as np


def append(windows, lengths, new):
    """Append numbers (S, ...) to windows (S, n, ...) that hold so many, and drop the oldest."""
    full = lengths == windows.shape[1]
    if full.any():
        windows[full, :-1] = windows[full, 1:]
        lengths[full] -= 1.0
    windows[np.arange(len(new)), lengths.astype(np.intp)] = new
    lengths += 1.0
