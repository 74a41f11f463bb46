"""The estimators without tuning on tables as people have them, beside what people pick instead.

The rival is gradient boosting, fitted anew whenever the past has grown by a twentieth, with the
four last targets as columns. Beside it stand the last target, and on the streams of a public
leaderboard the figures that are published there. Every row counts, the first one too, which all
lines forecast as 0.
"""

from importlib.metadata import version
from math import floor, log10

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_okl import LagFeatures, OnlineKernelRegressor, RefitRegressor, StreamingPipeline
from sklearn_okl.datasets import load_dataset
from sklearn_okl.evaluation import compare

from ._progress import progress
from ._report import (
    RESULTS,
    counted,
    data_path,
    moments,
    print_environment,
    print_saved,
    streams_at_hand,
    table,
    with_spread,
)
from .tables_board import BOARD, PUBLISHED, beside_the_board, save_run

N_TREES = 300
N_LAGS = 4  # last targets among the columns of the rival, as many as our default has
PERMUTED, IN_ORDER = "permuted", "in the order of the file"
ARRAYS = (
    "bank32nh",
    "elevators",
    "airfoil",
    "concrete",
    "casp",
    "calhousing_14000",
    "bias_notebook",
)
FRAMES = {  # sets with columns that hold names, or codes without an order
    "mixed_diamonds": ("cut", "color", "clarity"),
    "mixed_kings_county": ("zipcode", "date_year", "date_month", "date_day"),
}
ORDERS = {PERMUTED: (*ARRAYS, *FRAMES), IN_ORDER: ("airfoil", "concrete", *PUBLISHED)}
DATA = tuple(dict.fromkeys(name for names in ORDERS.values() for name in names))
RIVAL, LAST = "boosting refitted", "the last target"
BALANCED, NO_LAGS = "balanced", "balanced, no lags"


def run(data=DATA, output=RESULTS, *, n_seeds=1, n_rows=None, lines=None, quick=False):
    """Run our lines, by default all, on each set in each of its orders; print and save tables."""
    n_trees = N_TREES
    if quick:
        n_seeds, n_rows, n_trees = 1, min(n_rows or 120, 120), 10
    available = streams_at_hand(data, load_stream)
    if not available:
        return 1
    own = own_lines(n_trees, lines)
    where, rival = print_environment(), rival_in_words(n_trees)
    print(f"Boosting refitted: {rival}, {n_trees} trees, {N_LAGS} last targets as columns.")

    tables = {}
    tasks = [(name, order) for name in available for order in orders_of(name)]
    with progress(len(tasks) * n_seeds, "run") as advance:
        for name, order in tasks:
            whole = n_rows is None or n_rows >= len(available[name][1])
            published = PUBLISHED.get(name, {}) if whole and order == IN_ORDER else {}
            sizes = n_seeds, n_rows, n_trees
            runs = run_set(name, available[name], order, own, *sizes, output, advance)
            tables[name, order] = compared(runs, published)
            header = [f"{name}, {order}", "RMSE", "ratio", "rank", "ms"]
            print("\n" + table(header, rows_of(tables[name, order])), flush=True)

    print()
    permuted = [tables[name, PERMUTED] for name in ARRAYS if name in available]
    means = geometric_means(permuted)
    for line, mean in means.items():
        sets = counted(len(permuted), "permuted set")
        print(f"Geometric mean of the ratios on {sets} of numbers, {line}: {mean:.3f}")
    for sentence in beside_the_board({name: t for (name, o), t in tables.items() if o == IN_ORDER}):
        print(sentence)
    print("Ratio: of the mean squared error to that of boosting refitted. Rank: by RMSE, among all")
    print("other lines. ms: time a row. Means over the seeds.")
    if n_rows is not None:
        print("Figures of the leaderboard, and files for it, are of whole streams only.")
    content = {
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "trees": n_trees, "rival": rival},
        "tables": [
            {"data": name, "order": order, "lines": found}
            for (name, order), found in tables.items()
        ],
        "geometric_means": means,
    }
    print_saved(output / "tables.json", content)
    return 0


def orders_of(name):
    """Return the orders in which a set is learnt; permuted if nobody has said."""
    return [order for order, names in ORDERS.items() if name in names] or [PERMUTED]


def load_stream(name):
    """Return rows and targets of a set; with columns of names a frame, these as categories."""
    if name not in FRAMES:
        return load_dataset(name, return_X_y=True)
    path = data_path(name)
    try:
        import pandas as pd
    except ImportError as error:
        raise ValueError("Its columns of names need pandas, which is not installed.") from error
    frame = pd.read_csv(path, dtype=dict.fromkeys(FRAMES[name], "category"))
    return frame.drop(columns="target"), frame["target"].to_numpy(dtype=np.float64)


def ordered(stream, order, n_rows, seed):
    """Return the rows of a run: in the file's order, or permuted by a seed; then cut."""
    X, y = stream
    rows = np.arange(len(y))
    if order == PERMUTED:
        rows = np.random.RandomState(seed).permutation(len(y))
    rows = rows[:n_rows]
    return (X.iloc[rows].reset_index(drop=True) if hasattr(X, "iloc") else X[rows]), y[rows]


def boosting(n_trees):
    """Return LightGBM's gradient boosting, or scikit-learn's of the same settings."""
    try:
        from lightgbm import LGBMRegressor
    except ImportError:
        return HistGradientBoostingRegressor(
            max_iter=n_trees,
            learning_rate=0.05,
            max_leaf_nodes=31,
            min_samples_leaf=10,
            early_stopping=False,
        )
    return LGBMRegressor(
        n_estimators=n_trees,
        learning_rate=0.05,
        num_leaves=31,
        min_child_samples=10,
        n_jobs=1,
        verbose=-1,
    )


def rival_in_words(n_trees):
    """Return what the boosting is, with its version."""
    name = type(boosting(n_trees)).__name__
    if name == "LGBMRegressor":
        return f"lightgbm {version('lightgbm')}"
    return f"scikit-learn {version('scikit-learn')}, as lightgbm is not installed"


def refitted(n_trees, nominal):
    """Return the rival; it is to know which columns hold codes of names."""
    model = boosting(n_trees)
    if nominal:
        model = make_pipeline(FunctionTransformer(framed, kw_args={"nominal": nominal}), model)
    return StreamingPipeline([("lags", LagFeatures(N_LAGS)), ("trees", RefitRegressor(model))])


def framed(X, nominal):
    """Return rows as a frame, in which some columns are categories: boosting knows these."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=[f"column{j}" for j in range(X.shape[1])])
    return frame.astype({f"column{j}": "category" for j in nominal})


def coded(X):
    """Return an array with codes for names, and the numbers of the columns that hold them."""
    if not hasattr(X, "iloc"):
        return X, []
    nominal = [j for j, kind in enumerate(X.dtypes) if kind == "category"]
    codes = X.assign(**{X.columns[j]: X.iloc[:, j].cat.codes for j in nominal})
    return codes.to_numpy(dtype=np.float64), nominal


def own_lines(n_trees, lines=None):
    """Return our estimators by line, those that are named or all."""
    own = {
        BALANCED: {},
        NO_LAGS: {"lags": 0},
        "fast": {"budget": "fast"},
        "trees as the rival's": {"trees": boosting(n_trees)},
        "trees": {"trees": True},
    }
    if unknown := sorted(set(lines or ()) - set(own)):
        raise SystemExit(f"There is no line {unknown[0]!r} of ours. There are: {', '.join(own)}.")
    return {line: OnlineKernelRegressor(**own[line]) for line in own if line in (lines or own)}


def run_set(name, stream, order, own, n_seeds, n_rows, n_trees, output, advance):
    """Return the runs of each line: a dict of squared and absolute error and seconds a seed.

    In the order of the file, seeds are the board's, 1, 2 and so on, and draw the features; the
    rival draws nothing there, and runs once. Else they are 0, 1 and so on, and permute the rows.
    What the rival forecast is kept, by its rows, its settings and its version.
    """
    kept = output / "tables" / rival_in_words(n_trees).partition(",")[0].replace(" ", "-")
    found = {}
    for seed in range(n_seeds) if order == PERMUTED else range(1, n_seeds + 1):
        X, y = ordered(stream, order, n_rows, seed)
        numbers, nominal = coded(X)
        if order == PERMUTED or not found:
            rival = run_line(refitted(n_trees, nominal), numbers, y, seed, kept)
            found.setdefault(RIVAL, []).append(rival)
            errors = y - np.concatenate([[0.0], y[:-1]])
            last = {"seed": seed, "mse": np.mean(errors**2), "mae": np.mean(abs(errors))}
            found.setdefault(LAST, []).append(last | {"ms": None})
        for line, model in own.items():
            one = run_line(model, X, y, seed)
            found.setdefault(line, []).append(one)
            if name in BOARD and order == IN_ORDER and len(y) == len(stream[1]):
                save_run(output / "streamarena", BOARD[name], line, model, one, y)
        advance(1, f"{name}, {order}")
    return found


def run_line(model, X, y, seed, kept=None):
    """Return what one run comes to; with a folder it is made once."""
    scores = ["squared_error", "absolute_error"]
    found = compare({"model": model}, {"stream": (X, y)}, [seed], scoring=scores, path=kept)
    mse, mae, seconds = (found.results[name].item() for name in (*scores, "seconds_per_row"))
    return {"seed": seed, "mse": mse, "mae": mae, "ms": 1e3 * seconds}


def compared(runs, published):
    """Return the lines of a table: RMSE of each seed, ratio to the rival, rank among the others.

    `runs` has the runs of each line, `published` a root mean squared error of each line.
    """
    runs = runs | {line: [{"mse": figure**2, "ms": None}] for line, figure in published.items()}
    rival = np.mean([one["mse"] for one in runs[RIVAL]])
    means = {
        line: np.mean([one["mse"] ** 0.5 for one in of_line]) for line, of_line in runs.items()
    }
    others = np.array([mean for line, mean in means.items() if line != RIVAL])
    whose = {RIVAL: "rival", LAST: "rival"} | dict.fromkeys(published, "published")
    return {
        line: {
            "rmse": [float(one["mse"] ** 0.5) for one in of_line],
            "ratio": float(np.mean([one["mse"] for one in of_line]) / rival),
            "rank": None if line == RIVAL else 1 + int(np.sum(others < means[line])),
            "ms": None if of_line[0]["ms"] is None else np.mean([one["ms"] for one in of_line]),
            "whose": whose.get(line, "ours"),
        }
        for line, of_line in runs.items()
    }


def rows_of(lines):
    """Return the cells of a table, a row a line."""
    rows = []
    for line, found in lines.items():
        mean, spread = moments(found["rmse"])
        digits = max(0, 3 - floor(log10(mean))) if mean else 0
        diverged = found["ratio"] > 1e4
        rows.append(
            [
                line,
                "diverged" if diverged else with_spread(mean, spread, digits),
                "" if diverged else f"{found['ratio']:.3f}",
                "" if found["rank"] is None else str(found["rank"]),
                "" if found["ms"] is None else f"{found['ms']:.2f}",
            ]
        )
    return rows


def geometric_means(tables):
    """Return the geometric mean over tables of each line's ratios."""
    return {
        line: float(np.exp(np.mean([np.log(lines[line]["ratio"]) for lines in tables])))
        for line in (tables[0] if tables else {})
        if line != RIVAL
    }
