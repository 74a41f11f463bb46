"""The forecaster's quantiles in the manner of a board: the last rows of ETTh1, in windows.

The board is GIFT-Eval: horizon 48, the last 960 rows in 20 windows, nine quantiles. Its hourly
series are sums of the 15-minute files, and not the hourly file that is used here; so ratios to the
last season are compared, and these not to their last digit.
"""

import sys

import numpy as np

from sklearn_okl import OnlineForecaster

from ._report import table
from .series import DAY, read_series

FILE, HORIZON, N_WINDOWS = "ett_h1", 48, 20
ALPHA = np.arange(1, 10) / 10.0
PUBLISHED = {"Chronos-2": 0.805, "TiRex": 0.836, "PatchTST": 0.914}  # MASE over last season's


def last_windows(quick=False):
    """Print and return MASE and mean quantile loss, over those of the last season."""
    try:
        _, y = read_series(FILE)
    except FileNotFoundError as error:
        print(f"Left out {FILE}. {error}", file=sys.stderr)
        return None
    if quick:
        y = y[: 12 * HORIZON]
    n_windows = 2 if quick else N_WINDOWS
    ours, naive = measured(OnlineForecaster(HORIZON), y, n_windows)
    found = {"MASE": ours[0] / naive[0], "quantile loss": ours[1] / naive[1]}
    rows = [
        [name, f"{ours[i]:.4f}", f"{ratio:.4f}"] for i, (name, ratio) in enumerate(found.items())
    ]
    rows += [[f"MASE of {name}, published", "", f"{one:.3f}"] for name, one in PUBLISHED.items()]
    print("\n" + table([f"{FILE}, last {n_windows * HORIZON} rows", "", "over last season"], rows))
    print("Bars .835 and .76. The board's hourly series are sums of the 15-minute files.")
    return found


def measured(model, y, n_windows):
    """Return MASE and mean quantile loss, of the model and of the last season come again."""
    first = len(y) - n_windows * HORIZON
    model = model.fit(y[:first])
    scaled, losses, sizes = [], [], 0.0
    for t in range(first, len(y), HORIZON):
        came = y[t : t + HORIZON]
        quantiles = model.predict_quantiles(alpha=ALPHA)
        season = np.tile(y[t - DAY : t], (HORIZON // DAY, 1))
        said = [(quantiles[..., 4], quantiles), (season, season[..., None] + 0.0 * ALPHA)]
        unit = np.abs(y[DAY:t] - y[: t - DAY]).mean(axis=0)
        scaled.append([np.mean(np.abs(came - median).mean(axis=0) / unit) for median, _ in said])
        beyond = [came[..., None] - of for _, of in said]
        pinball = [2.0 * np.maximum(ALPHA * off, (ALPHA - 1.0) * off) for off in beyond]
        losses.append([loss.mean(axis=-1).sum() for loss in pinball])
        sizes += np.abs(came).sum()
        model.partial_fit(came)
    figures = np.mean(scaled, axis=0), np.sum(losses, axis=0) / sizes
    return [tuple(float(of[k]) for of in figures) for k in (0, 1)]
