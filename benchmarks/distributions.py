"""Quantiles of one law a row, held against intervals whose levels move each by itself."""

import numpy as np
from sklearn.base import clone

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.evaluation import crps_from_quantiles
from sklearn_okl.untuned.rounds import _conformal, _targets

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, streams_at_hand, table
from .distribution_streams import FIRST, MADE, calibration, made
from .distribution_streams import N_ROWS as N_MADE
from .tables import ARRAYS, PERMUTED, load_stream, ordered

ALPHA = np.arange(1, 20) / 20.0
N_ROWS = 1500
N_FIRST = 100  # rows that are not scored
LINES = ("CRPS, intervals", "CRPS", "rows", "ratio", "rows, ratio", "crossed", "90 %", "rows, 90 %")


def run(data=ARRAYS, output=RESULTS, *, n_seeds=1, n_rows=N_ROWS, budget="fast", quick=False):
    """Score both on each set, print and save the table, and return the exit status."""
    n_seeds, n_rows = (1, 160) if quick else (n_seeds, n_rows)
    available = streams_at_hand(data, load_stream)
    if not available:
        return 1
    where, found = print_environment(), {}
    with progress(len(available) * n_seeds, "run") as advance:
        for name, stream in available.items():
            runs = []
            for seed in range(n_seeds):
                X, y = ordered(stream, PERMUTED, n_rows, seed)
                runs.append(scored(X, y, OnlineKernelRegressor(budget=budget, random_state=seed)))
                advance(1, name)
            found[name] = dict(zip(LINES, np.mean(runs, axis=0).tolist(), strict=True))
    worst_first = sorted(found, key=lambda name: -found[name]["rows, ratio"])
    rows = [[name, *(f"{found[name][line]:.4g}" for line in LINES)] for name in worst_first]
    ratios = np.array([[one[line] for line in LINES[3:5]] for one in found.values()])
    mean = np.exp(np.log(ratios).mean(axis=0)).tolist()
    print("\n" + table(["", *LINES], rows))
    print(f"Geometric means of the ratios on {len(found)} sets, {n_rows} rows, {budget}:")
    print(f"running {mean[0]:.4f}, rows {mean[1]:.4f} (bar .97; none above 1.005)")
    print(
        f"CRPS of 19 quantiles after {N_FIRST} rows; crossed: the share of rows in which a higher"
    )
    print("coverage had a narrower interval by its own level; 90 %: the share held; rows: by the")
    print("sizes of errors that rows tell.")
    content = {"environment": where, "rows": n_rows, "budget": budget, "sets": found, "mean": mean}
    content["made"] = run_made(OnlineKernelRegressor(budget=budget, random_state=0), quick)
    print_saved(output / "distributions.json", content)
    return 0


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


def scored(X, y, model):
    """Return the numbers of a run, in the order of `LINES`."""
    other = clone(model).set_params(spread="rows")
    for one in (model, other):
        one.partial_fit(_row(X, 0), y[:1])
    quantiles, of_rows, former = np.zeros((3, len(y), len(ALPHA)))
    crossed = np.zeros(len(y), dtype=bool)
    for t in range(1, len(y)):
        quantiles[t] = model.predict_quantiles(_row(X, t), ALPHA)[0]
        former[t], crossed[t] = by_own_levels(model, quantiles[t, 9])
        of_rows[t] = other.predict_quantiles(_row(X, t), ALPHA)[0]
        for one in (model, other):
            one.partial_fit(_row(X, t), y[t : t + 1])
    rows = slice(min(N_FIRST, len(y) // 2), None)
    y, crossed = y[rows], crossed[rows]
    laws = quantiles[rows], of_rows[rows]
    scores = [crps_from_quantiles(y, one, ALPHA) for one in (former[rows], *laws)]
    held = [np.mean((one[:, 0] <= y) & (y <= one[:, -1])) for one in laws]
    return *scores, *(score / scores[0] for score in scores[1:]), crossed.mean(), *held


def by_own_levels(model, forecast):
    """Return quantiles by intervals of each coverage's own level, and whether these cross."""
    state = model.constants.renewal.likelier(model._state)
    (errors,), (guard,) = state["errors"], state["targets"]
    if not len(errors["scores"]):
        return np.full(len(ALPHA), forecast), False
    ordered, step = np.sort(errors["scores"]), _conformal._step(errors)
    unit = _targets.unit(guard) * _conformal._unit(errors)
    reach = unit * np.array([_conformal._score_at(ordered, one, step) for one in errors["levels"]])
    reach = reach[9:90:10]  # of 10 to 90 %, in tens
    return forecast + np.concatenate([-reach[::-1], [0.0], reach]), (np.diff(reach) < 0.0).any()


def _row(X, t):
    return X.iloc[t : t + 1] if hasattr(X, "iloc") else X[t : t + 1]
