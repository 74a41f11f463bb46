"""Tables with gaps: what the estimator without tuning loses where cells are missing at random."""

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  makes the next one there
from sklearn.impute import IterativeImputer
from sklearn.preprocessing import StandardScaler

from sklearn_okl import OnlineKernelRegressor

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, streams_at_hand, table
from .tables import ARRAYS, N_TREES, PERMUTED, load_stream, ordered, refitted, run_line

SHARE = 0.1  # of the cells is missing
N_ROWS = 8000
GAPS, FILLED, RIVAL = "with gaps", "filled from the whole table", "boosting refitted"


def run(data=ARRAYS, output=RESULTS, *, n_seeds=1, n_rows=N_ROWS, quick=False):
    """Run all lines on each set, print and save the table, and return the exit status."""
    n_seeds, n_rows, n_trees = (1, 120, 10) if quick else (n_seeds, n_rows, N_TREES)
    available = streams_at_hand(data, load_stream)
    if not available:
        return 1
    where, found = print_environment(), {}
    with progress(len(available) * n_seeds, "run") as advance:
        for name, stream in available.items():
            runs = []
            for seed in range(n_seeds):
                runs.append(ratios(*ordered(stream, PERMUTED, n_rows, seed), seed, n_trees))
                advance(1, name)
            found[name] = {line: float(np.mean([one[line] for one in runs])) for line in runs[0]}
    lines = list(next(iter(found.values())))
    rows = [[name, *(f"{found[name][line]:.3f}" for line in lines)] for name in found]
    means = {
        line: float(np.exp(np.mean([np.log(one[line]) for one in found.values()])))
        for line in lines
    }
    rows.append(["geometric mean", *(f"{means[line]:.3f}" for line in lines)])
    print("\n" + table(["", *lines], rows))
    print(f"Mean squared errors, {SHARE:.0%} of the cells missing, over those without gaps.")
    print_saved(output / "gaps.json", {"environment": where, "ratios": found, "means": means})
    return 0


def ratios(X, y, seed, n_trees):
    """Return by line the loss on a table with gaps over that on the complete one."""
    gaps = np.random.RandomState(seed).uniform(size=X.shape) < SHARE
    with_gaps = np.where(gaps, np.nan, X)
    scaled = StandardScaler().fit_transform(with_gaps)
    filled = IterativeImputer(random_state=0).fit_transform(scaled)
    ours, rival = OnlineKernelRegressor(), refitted(n_trees, [])
    complete, of_gaps, of_filled = (
        run_line(ours, rows, y, seed)["mse"] for rows in (X, with_gaps, filled)
    )
    rival_complete, of_rival = (run_line(rival, rows, y, seed)["mse"] for rows in (X, with_gaps))
    return {
        GAPS: of_gaps / complete,
        FILLED: of_filled / complete,
        RIVAL: of_rival / rival_complete,
        f"{RIVAL}, over ours": of_rival / complete,
    }
