"""Laws by rows: CRPS, interval scores, shares held, likelihoods, beside intervals and others."""

import numpy as np
from sklearn.base import clone

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.evaluation import crps_from_quantiles, interval_score

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, streams_at_hand, table
from .distribution_rivals import (
    DOEBE,
    N_NATURAL,
    boosted,
    by_own_levels,
    has_natural,
    likelihoods,
    natural,
    one_gaussian,
)
from .distribution_series import last_windows
from .distribution_streams import FIRST, MADE, calibration, made
from .distribution_streams import N_ROWS as N_MADE
from .kinds import load_frame
from .tables import ARRAYS, FRAMES, IN_ORDER, N_TREES, load_stream, ordered, orders_of

ALPHA = np.arange(1, 20) / 20.0  # what the CRPS is taken from
ASKED = np.concatenate([[0.025], ALPHA, [0.975]])
DECILES = np.arange(1, 10) / 10.0
COVERAGES = (0.8, 0.9, 0.95)
DATA = (
    *ARRAYS,
    *("naval", "ailerons", "raker_toms", "arena_bike", "arena_metro_traffic", "arena_fried"),
    *FRAMES,
    *("table_chicago", "table_nmes_visits", "table_check_times", "table_gss_wages"),
    *("table_rain_innsbruck", "table_flights_delay"),
)
DIAMONDS = "mixed_diamonds"
N_ROWS = 1500
N_FIRST = 100  # rows that are not scored
N_LEARNT = 1000  # rows whose mean and deviation scale targets, before likelihoods count
WINDOW = 500  # rows in a row that 90 % are to be held in
PARTS = ("tables", "made", "likelihoods", "series")
LINES = (
    *("intervals", "running", "rows", "Gaussian", "ratio", "rows, ratio", "rows, Gaussian"),
    *(f"score {c:.0%}" for c in COVERAGES),
    *("crossed", "90 %", "rows, 90 %", "least", "most", "95 %, width"),
)
SHOWN = ("rows, ratio", "ratio", "rows, Gaussian", *LINES[7:])
TREES = ("boosted", "over boosted", "trees over boosted")
NATURAL = ("NGBoost", "over NGBoost")


def run(
    data=DATA,
    output=RESULTS,
    *,
    n_seeds=1,
    n_rows=N_ROWS,
    budget="fast",
    kinds=PARTS,
    trees=False,
    quick=False,
):
    """Run the parts that are asked for, print and save what they give, return the exit status."""
    n_seeds, n_rows, n_trees = (1, 160, 5) if quick else (n_seeds, n_rows, N_TREES)
    n_natural = has_natural() * (n_trees if quick else N_NATURAL)
    model = OnlineKernelRegressor(budget=budget, random_state=0)
    content = {"environment": print_environment(), "rows": n_rows, "budget": budget}
    if "tables" in kinds:
        available = streams_at_hand(data, load)
        if not available:
            return 1
        sizes = n_seeds, n_rows, n_trees if trees else 0, n_natural
        content |= run_tables(available, model, *sizes)
    if "made" in kinds:
        content["made"] = run_made(model, quick)
    if "likelihoods" in kinds and not quick:
        content["likelihoods"] = run_likelihoods(model, n_rows)
    if "series" in kinds:
        content["series"] = last_windows(quick)
    print_saved(output / "distributions.json", content)
    return 0


def load(name):
    """Return rows and targets of a set; those of tables with text as frames."""
    return load_frame(name) if name.startswith("table_") else load_stream(name)


def run_tables(available, model, n_seeds, n_rows, n_trees, n_natural):
    """Score laws on each set, print the table, and return the figures by set and their means."""
    found = {}
    rivals = (TREES if n_trees else ()) + (NATURAL if n_natural else ())
    with progress(len(available) * n_seeds, "run") as advance:
        for name, stream in available.items():
            runs = []
            for seed in range(n_seeds):
                X, y = ordered(stream, orders_of(name)[0], n_rows, seed)
                one = clone(model).set_params(random_state=seed)
                ours = scored(X, y, one)
                trees = beside_trees(X, y, one, n_trees)
                runs.append(ours + trees + beside_natural(X, y, ours[2], n_natural))
                advance(1, name)
            found[name] = dict(zip(LINES + rivals, np.mean(runs, axis=0).tolist(), strict=True))
    worst_first = sorted(found, key=lambda name: -found[name]["rows, ratio"])
    over = tuple(line for line in rivals if "over" in line)
    shown = SHOWN + over
    rows = [[name, *(f"{found[name][line]:.4g}" for line in shown)] for name in worst_first]
    print("\n" + table(["", *shown], rows))
    ratios = *(line for line in LINES if "ratio" in line or line == LINES[6]), *over
    means = {line: _geometric_mean([one[line] for one in found.values()]) for line in ratios}
    without = [one["rows, ratio"] for name, one in found.items() if name != DIAMONDS]
    print(f"Geometric means on {len(found)} sets, {n_rows} rows, {model.budget}:")
    print(", ".join(f"{line} {mean:.4f}" for line, mean in means.items()))
    print(f"rows without diamonds {_geometric_mean(without):.4f} (bar .97; none above 1.005)")
    print("Ratios: CRPS of 19 quantiles over that of intervals by own levels, and over that of one")
    print(f"Gaussian, after {N_FIRST} rows. Score: of intervals by rows, over those by own levels.")
    print(
        "Crossed: rows in which a higher coverage had a narrower interval by its own level. 90 %:"
    )
    print(f"held; least, most: in a window of {WINDOW} rows. Width: mean, over the range of y.")
    if n_trees:
        print("Over boosted: 9 quantiles, boosting refitted as the past grows (bars 1, trees .9).")
    if n_natural:
        print("Over NGBoost: rows, its Normal laws refitted when the past has grown by a fifth.")
    else:
        print("NGBoost is not installed, and left out.")
    return {"sets": found, "mean": means}


def scored(X, y, model):
    """Return the numbers of a run, in the order of `LINES`."""
    running = clone(model).prequential_quantiles(X, y, ASKED)
    of_rows = clone(model).set_params(spread="rows").prequential_quantiles(X, y, ASKED)
    forecasts = running[:, 10]  # of `spread="running"` the median
    former, crossed = by_own_levels(y - forecasts, forecasts, ASKED)
    laws = former, running, of_rows, one_gaussian(y - forecasts, forecasts, ASKED)
    kept = slice(min(N_FIRST, len(y) // 2), None)
    y, crossed, laws = y[kept], crossed[kept], [law[kept] for law in laws]
    crps = [crps_from_quantiles(y, law[:, 1:-1], ALPHA) for law in laws]
    scores = [interval_score(y, _intervals(law), COVERAGES) for law in (laws[0], laws[2])]
    held = [(law[:, 1] <= y) & (y <= law[:, -2]) for law in laws[1:3]]
    windows = _shares(held[1])
    width = np.mean(laws[2][:, -1] - laws[2][:, 0]) / np.ptp(y)
    return (
        *crps,
        *(crps[k] / crps[0] for k in (1, 2)),
        crps[2] / crps[3],
        *(scores[1] / scores[0]),
        crossed.mean(),
        *(one.mean() for one in held),
        windows.min(),
        windows.max(),
        width,
    )


def beside_trees(X, y, model, n_trees):
    """Return the CRPS of boosted quantiles, and ours without and with trees over it."""
    if not n_trees:
        return ()
    kept = slice(min(N_FIRST, len(y) // 2), None)
    model = clone(model).set_params(spread="rows")
    said = [
        boosted(_all_numbers(X), y, DECILES, n_trees),
        clone(model).prequential_quantiles(X, y, DECILES),
        clone(model).set_params(trees=True).prequential_quantiles(X, y, DECILES),
    ]
    crps = [crps_from_quantiles(y[kept], law[kept], DECILES) for law in said]
    return crps[0], crps[1] / crps[0], crps[2] / crps[0]


def beside_natural(X, y, ours, n_trees):
    """Return the CRPS of NGBoost, and ours over it; nothing where it is not installed."""
    if not n_trees:
        return ()
    kept = slice(min(N_FIRST, len(y) // 2), None)
    crps = crps_from_quantiles(y[kept], natural(_all_numbers(X), y, ALPHA, n_trees)[kept], ALPHA)
    return crps, ours / crps


def run_made(model, quick):
    """Print and return how laws by rows are held on streams whose law is known."""
    streams, n_rows, first = (MADE[3:4], 120, 60) if quick else (MADE, N_MADE, FIRST)
    found = {}
    for of in streams:
        X, y = made(of, n_rows)
        decile, ks, held, windows = calibration(clone(model).set_params(spread="rows"), X, y, first)
        inside = np.mean((windows >= 0.88) & (windows <= 0.92)) if len(windows) else np.nan
        found[of.__name__] = [float(one) for one in (decile, ks, held, inside)]
    worst_first = sorted(found.items(), key=lambda item: -item[1][1])
    rows = [[name, *(f"{one:.4g}" for one in of)] for name, of in worst_first]
    print("\n" + table(["", "decile off", "KS", "90 %", "windows"], rows))
    print(
        f"Made streams, rows {first} to {n_rows}: the decile whose share is farthest off (bar .02),"
    )
    print("KS of the randomised integral transform (bar .03), and of windows of 500 rows the share")
    print("that held 88 to 92 % of 90 (bar .9).")
    return found


def run_likelihoods(model, n_rows):
    """Print and return squared errors and log-likelihoods beside published ones."""
    found = {}
    for name, stream in streams_at_hand(DOEBE, load).items():
        X, y = ordered(stream, IN_ORDER, n_rows, 0)
        first = min(N_LEARNT, len(y) // 2)
        found[name] = likelihoods(clone(model).set_params(spread="rows"), X, y, first)
    rows = [
        [name, *(f"{one:.4f}" for one in (*ours, *DOEBE[name]))] for name, ours in found.items()
    ]
    heads = "nMSE", "log-likelihood", "one Gaussian", "nMSE, DOEBE", "log-likelihood, DOEBE"
    print("\n" + table(["", *heads], rows))
    print(f"From row {N_LEARNT} on, in the order of the file, targets scaled by the rows before;")
    print("published: whole sets.")
    return found


def _intervals(quantiles):
    """Return the intervals (n, 3, 2) of `COVERAGES` of the quantiles `ASKED`."""
    ends = [(2, -3), (1, -2), (0, -1)]
    return np.stack([quantiles[:, list(pair)] for pair in ends], axis=1)


def _shares(held):
    """Return shares in windows of rows, or of all where they are fewer."""
    n = min(WINDOW, len(held))
    sums = np.concatenate([[0], np.cumsum(held)])
    return (sums[n:] - sums[:-n]) / n


def _all_numbers(X):
    return X.apply(_numbers).to_numpy(dtype=np.float64) if hasattr(X, "iloc") else X


def _numbers(column):
    """Return codes for names, what is a number as it is."""
    return column if column.dtype.kind in "fiub" else column.astype("category").cat.codes


def _geometric_mean(ratios):
    return float(np.exp(np.mean(np.log(ratios)))) if len(ratios) else float("nan")
