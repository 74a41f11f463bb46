"""The default beside its own experts and twelve fixed configurations, the best in hindsight.

On each half of streams that jump, turn, recur and change slowly, and from 300 rows after a jump on.
Needs no download.
"""

from itertools import product

import numpy as np

from sklearn_okl import (
    FourierFeatures,
    OnlineKernelRegressor,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.datasets import (
    make_friedman_drift,
    make_rotating_hyperplane,
    make_switching_functions,
)

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, table

MEMORIES = (1.0, 0.998, 0.98)
RIDGES = (0.1, 1.0)
KERNELS = (("rbf", 0.05), ("laplacian", 0.2))
_BARS = {"half": 1.05, "after": 1.10}  # of root mean squared errors
_LATER, _LONG = 300, 500  # rows after a jump that are left out, and that then count


def run(output=RESULTS, *, n_rows=4000, n_seeds=2, budget="fast", quick=False):
    """Run all models over the streams; print those lines first that are the farthest behind."""
    n_rows, n_seeds = (min(n_rows, 1600), 1) if quick else (n_rows, n_seeds)
    where, lines = print_environment(), []
    streams = _streams(n_rows)
    with progress(len(streams) * n_seeds, "stream") as advance:
        for seed in range(n_seeds):
            for name, (make, jumps) in streams.items():
                lines += _lines(name, seed, *make(seed), jumps, budget)
                advance(1, name)
    lines.sort(key=lambda line: line["bar"] - line["ratio"])
    rows = [
        [
            line["stream"],
            f"{line['seed']}",
            f"{line['start']} to {line['stop']}",
            f"{line['rmse']:.4f}",
            f"{line['best_rmse']:.4f}",
            line["best"],
            f"{line['ratio']:.3f}",
            f"{line['bar']:.2f}",
            "above it" if line["ratio"] > line["bar"] else "",
        ]
        for line in lines
    ]
    print(f"\nThe budget '{budget}', root mean squared errors; the farthest behind first")
    head = ["stream", "seed", "rows", "RMSE", "of the best", "which is", "ratio", "bar", ""]
    print(table(head, rows))
    print("Of twelve:", ", ".join(_twelve(0)))
    print_saved(output / "hindsight.json", {"environment": where, "lines": lines})
    return 0


def _streams(n):
    """Return makers by name, and rounds at which functions jump."""
    switching = {"gamma": 0.5, "n_features": 4}
    return {
        "jump": (
            lambda seed: make_switching_functions(n, n_switches=1, random_state=seed, **switching),
            [n // 2],
        ),
        "rotation": (lambda seed: make_rotating_hyperplane(n, random_state=seed), []),
        "recurring": (
            lambda seed: make_friedman_drift(n, drift="recurring", random_state=seed),
            [n // 2, 3 * n // 4],
        ),
        "gradual": (lambda seed: make_friedman_drift(n, drift="gradual", random_state=seed), []),
    }


def _twelve(seed):
    """Return the fixed configurations by name: memories, ridges, kernels."""
    return {
        f"{kernel} {gamma:g}, alpha {alpha:g}, forgetting {rate:g}": (
            StreamingTransformedTargetRegressor(
                make_streaming_pipeline(
                    RunningStandardScaler(),
                    FourierFeatures(kernel, gamma, random_state=seed),
                    VAWRegressor(alpha, forgetting=rate),
                )
            )
        )
        for rate, alpha, (kernel, gamma) in product(MEMORIES, RIDGES, KERNELS)
    }


def _lines(stream, seed, X, y, jumps, budget):
    n = len(y)
    windows = [("half", 0, n // 2), ("half", n // 2, n)]
    after = [jump + _LATER for jump in jumps]  # chance decides a stretch that is cut short
    windows += [("after", start, start + _LONG) for start in after if start + _LONG <= n]
    ends = sorted({end for _, *pair in windows for end in pair} | {n})
    errors = {
        name: np.square(model.prequential_predict(X, y) - y)
        for name, model in _twelve(seed).items()
    }
    model = OnlineKernelRegressor(budget=budget, random_state=seed)
    own, sums, low = np.empty(n), {0: {}}, 0
    for high in ends:
        if high > low:
            rows = slice(low, high)
            own[rows] = np.square(model.prequential_predict(X[rows], y[rows]) - y[rows])
            known = model.experts_
            sums[high] = {
                name: (loss * rounds, rounds)
                for name, loss, rounds in zip(
                    known["name"], known["mean_loss"], known["n_rounds"], strict=True
                )
            }
            low = high
    lines = []
    for kind, start, stop in windows:
        means = {name: float(loss[start:stop].mean()) for name, loss in errors.items()}
        for name, (total, rounds) in sums[stop].items():
            before = sums[start].get(name, (0.0, 0))
            if rounds - before[1] == stop - start:  # it was there in all of them
                means[f"its {name}"] = float(total - before[0]) / (stop - start)
        best = min(means, key=means.get)
        rmse, best_rmse = float(own[start:stop].mean()) ** 0.5, max(means[best], 0.0) ** 0.5
        lines.append(
            {
                "stream": stream,
                "seed": seed,
                "kind": kind,
                "start": start,
                "stop": stop,
                "rmse": rmse,
                "best": best,
                "best_rmse": best_rmse,
                "ratio": rmse / best_rmse,
                "bar": _BARS[kind],
            }
        )
    return lines
