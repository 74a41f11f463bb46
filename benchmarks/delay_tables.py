"""The bars of the job delay, and what it prints."""

import numpy as np

from ._report import table

BAR = 1.05  # for the ratio to the better rival
BAR_OF_WALKS = 1.03  # for the ratio to the last value
COVERAGE, COVERED = 0.9, (0.88, 0.92)
BAR_OF_WIDTHS = 1.2


def days_table(days):
    """Return the table of forecasts a day ahead."""
    columns = ("default", "VAW", "yesterday", "formula", "ratio")
    rows = []
    for title, ways in days.items():
        for way, runs in ways.items():
            means = _means(runs)
            rows.append(
                [title, way]
                + [f"{means[column]:.3f}" for column in columns]
                + [f"{max(run['ratio'] for run in runs):.3f}"]
                + [f"{100 * means['held']:.1f}", f"{means['width']:.2f}"]
            )
    return table(["day ahead", "way", *columns, "worst", "held", "width"], rows)


def _means(runs):
    return {name: float(np.mean([run[name] for run in runs])) for name in runs[0]}


def arrivals_table(losses):
    """Return the table of labels that arrive at random."""
    rows = []
    for title, found in losses.items():
        own = np.mean(found["lags=0"])
        cells = (f"{np.mean(f):.3f} ({np.mean(f) / own:.3f})" for f in found.values())
        rows.append([title, *cells])
    return table(["late at random", *next(iter(losses.values()))], rows)


def walks_table(ratios):
    """Return the table of random walks."""
    rows = [
        [title, f"{np.mean(found):.3f}", f"{max(found):.3f}"] for title, found in ratios.items()
    ]
    return table(["random walks", "ratio", "worst"], rows)


def missed_bars(days, losses, ratios):
    """Yield in words which bars were not reached."""
    for title, ways in days.items():
        for way, runs in ways.items():
            means, stream = _means(runs), f"{title}, {way}"
            if means["ratio"] > BAR:
                yield f"{stream}: ratio {means['ratio']:.3f}"
            if not COVERED[0] <= means["held"] <= COVERED[1]:
                yield f"{stream}: held {100 * means['held']:.1f} %"
            if means["width"] > BAR_OF_WIDTHS:
                yield f"{stream}: width {means['width']:.2f}"
    for title, found in losses.items():
        for label in ("label_delay=30", "label_delay=40"):
            ratio = np.mean(found[label]) / np.mean(found["lags=0"])
            if ratio > BAR:
                yield f"{title}, {label}: ratio {ratio:.3f}"
    for title, found in ratios.items():
        if np.mean(found) > BAR_OF_WALKS:
            yield f"{title}: ratio {np.mean(found):.3f}"
