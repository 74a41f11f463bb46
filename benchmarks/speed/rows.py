"""What a row costs alone and in long calls, and what a model weighs: the table of the README."""

import pickle
import time

import numpy as np
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    NONSALDRegressor,
    OKSPlusPlusRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    PKAWVRegressor,
    RakerRegressor,
    VAW2Regressor,
    VAWRegressor,
)
from sklearn_okl.datasets import make_friedman_stream, scale_as_published

from .._progress import progress
from .._report import environment, environment_line, save_json
from .ratios import N_REPEATS, in_turns

N_INPUTS, N_FEATURES = 8, 100
_SIZES = {  # rows known before, learnt alone a turn, in a long call a turn, and those of SGD
    False: (2000, 100, 1000, 1000),
    True: (100, 3, 30, 30),
}
_COLUMNS = "a row alone, ms", "× SGD", "a row in long calls, ms", "× SGD", "model, MB"


def estimators():
    """Return the lines of the table, label -> estimator: all as they are by default."""
    return {
        '`OnlineKernelRegressor(budget="fast")`': OnlineKernelRegressor(
            budget="fast", random_state=0
        ),
        '`OnlineKernelRegressor(budget="fast", label_delay=23)`': OnlineKernelRegressor(
            budget="fast", label_delay=23, random_state=0
        ),
        "`OnlineKernelRegressor()`": OnlineKernelRegressor(random_state=0),
        "`OnlineKernelRegressor(label_delay=23)`": OnlineKernelRegressor(
            label_delay=23, random_state=0
        ),
        "`OnlineKernelClassifier()`": OnlineKernelClassifier(random_state=0),
        f"`VAWRegressor()`, on {N_FEATURES} features": VAWRegressor(),
        "`VAW2Regressor()`": VAW2Regressor(random_state=0),
        "`RakerRegressor()`": RakerRegressor(random_state=0),
        "`PKAWVRegressor()`": PKAWVRegressor(random_state=0),
        "`NONSALDRegressor()`": NONSALDRegressor(),
        "`OKSPlusPlusRegressor()`": OKSPlusPlusRegressor(random_state=0),
    }


class _Replay:
    """A model in mid-stream, which goes on by some rows whenever it is told to."""

    def __init__(self, model, X, y, n_known):
        self.X, self.y, self.t = X, y, n_known
        self.model = model.fit(X[:n_known], y[:n_known])
        self.megabytes = len(pickle.dumps(self.model)) / 1e6

    def one_by_one(self, n):
        """Forecast and learn the next rows, each by itself."""
        for t in range(self.t, self.t + n):
            self.model.predict(self.X[t : t + 1])
            self.model.partial_fit(self.X[t : t + 1], self.y[t : t + 1])
        self.t += n

    def in_one_call(self, n):
        """Forecast and learn the next rows together."""
        rows = slice(self.t, self.t + n)
        self.model.prequential_predict(self.X[rows], self.y[rows])
        self.t += n


def measure(quick=False, advance=None):
    """Measure every line in turns, together with ``SGDRegressor().partial_fit`` of one row.

    Times are the processor's: on a machine where others work, too, they are those of a quiet one.

    Returns
    -------
    sgd : list of float
        Milliseconds of that call, one value a turn.
    lines : dict
        Label -> dict of milliseconds a row, alone (``predict``, then ``partial_fit``) and in long
        calls (``prequential_predict``), one value a turn, and of the megabytes of the pickle.
    """
    n_known, n_alone, n_long, n_sgd = _SIZES[quick]
    n_rows = n_known + (1 + N_REPEATS) * (n_alone + n_long)
    rng = np.random.default_rng(0)
    X, y = scale_as_published(*make_friedman_stream(n_rows, n_features=N_INPUTS, random_state=0))
    features = rng.standard_normal((n_rows, N_FEATURES)) / np.sqrt(N_FEATURES)
    classes = np.where(y > np.median(y), 1, -1)
    replays = {}
    for label, model in estimators().items():
        own_X = features if isinstance(model, VAWRegressor) else X
        own_y = classes if isinstance(model, OnlineKernelClassifier) else y
        replays[label] = _Replay(model, own_X, own_y, n_known)

    sgd = SGDRegressor()

    def sgd_one_by_one():
        for t in range(n_sgd):
            sgd.partial_fit(X[t : t + 1], y[t : t + 1])

    calls, counts = [sgd_one_by_one], [n_sgd]
    for replay in replays.values():
        calls += [
            lambda replay=replay: replay.one_by_one(n_alone),
            lambda replay=replay: replay.in_one_call(n_long),
        ]
        counts += [n_alone, n_long]
    sgd_row, *rows = 1e3 * in_turns(calls, N_REPEATS, advance, time.process_time) / np.c_[counts]
    return sgd_row.tolist(), {
        label: {"alone": alone.tolist(), "long": long.tolist(), "megabytes": replay.megabytes}
        for (label, replay), alone, long in zip(replays.items(), rows[::2], rows[1::2], strict=True)
    }


def run(output, *, quick=False):
    """Measure, print the table as the README has it, save its numbers; return the exit status."""
    where = environment()
    print(environment_line(where))
    print("Small sizes: no figures for a README.\n" if quick else "")
    with progress(N_REPEATS, "repeat") as advance:
        sgd, lines = measure(quick, advance)
    header = f"after {_SIZES[quick][0]} rows of {N_INPUTS} inputs", *_COLUMNS
    print("| " + " | ".join(header) + " |")
    print("|---" + "|--:" * len(_COLUMNS) + "|")
    for label, line in lines.items():
        times = [
            figure
            for column in ("alone", "long")
            for figure in (np.median(line[column]), np.median(np.divide(line[column], sgd)))
        ]
        cells = [label, *map(two_digits, [*times, line["megabytes"]])]
        print("| " + " | ".join(cells) + " |")
    print(
        f"\nProcessor time, medians of {N_REPEATS} turns, one BLAS thread. Alone: predict, then "
        "partial_fit, of one\nrow. In long calls: prequential_predict. × SGD: of "
        f"SGDRegressor().partial_fit of one row, {two_digits(np.median(sgd))} ms\nin the same "
        "turns. MB: of the pickle."
    )
    content = {"environment": where, "quick": quick, "sgd": sgd, "lines": lines}
    print(f"\nNumbers: {save_json(output / 'speed_one_row.json', content)}")
    return 0


def two_digits(figure):
    """Return a positive number with two significant digits, never in powers of ten."""
    exponent = int(f"{figure:.1e}".partition("e")[2])
    return f"{figure:.{max(1 - exponent, 0)}f}"
