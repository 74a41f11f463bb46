"""What a row costs alone and in long calls, and what a model weighs: the table of the README."""

import pickle
import time
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    FourierFeatures,
    NONSALDRegressor,
    OKSPlusPlusRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    PKAWVRegressor,
    RakerRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    VAW2Regressor,
    VAWRegressor,
)
from sklearn_okl.datasets import make_friedman_stream, scale_as_published

from .._progress import progress
from .._report import environment, environment_line, save_json
from .figure import Figure
from .ratios import N_REPEATS, in_turns

N_INPUTS, N_FEATURES = 8, 100
_SIZES = {  # rows known before, learnt alone a turn, in a long call a turn, and those of SGD
    False: (2000, 100, 1000, 1000),
    True: (100, 3, 30, 30),
}
_LATER = {False: 100_000, True: 600}  # rows after which dictionaries and states have grown
_COLUMNS = (
    *("`predict`, ms", "× SGD", "`partial_fit`, ms", "× SGD"),
    *("both by `rows()`, × both alone", "a row in long calls, ms", "× SGD", "model, MB"),
)


class Line(NamedTuple):
    """A line of the table.

    Attributes
    ----------
    model : estimator
    learn, predict : float or None
        Bars of one row's `partial_fit` and `predict`, in multiples of SGD's `partial_fit`.
    path : float or None
        Bar of both on a row path, ``with model.rows() as row``, likewise.
    """

    model: object
    learn: float | None = None
    predict: float | None = None
    path: float | None = None


def lines():
    """Return the lines of the table, label -> Line: all estimators as they are by default."""
    default = "`OnlineKernelRegressor"
    return {
        f'{default}(budget="fast")`': Line(
            OnlineKernelRegressor(budget="fast", random_state=0), learn=3.5, predict=2.0, path=1.8
        ),
        f'{default}(budget="fast", label_delay=23)`': Line(
            OnlineKernelRegressor(budget="fast", label_delay=23, random_state=0)
        ),
        f"{default}()`": Line(OnlineKernelRegressor(random_state=0), learn=8.0, predict=3.5),
        f"{default}(label_delay=23)`": Line(OnlineKernelRegressor(label_delay=23, random_state=0)),
        "`OnlineKernelClassifier()`": Line(OnlineKernelClassifier(random_state=0)),
        f"`VAWRegressor()`, on {N_FEATURES} features": Line(VAWRegressor(), learn=0.35, path=0.12),
        f"pipeline: scaler, {N_FEATURES} features, VAW": Line(
            StreamingPipeline(
                [
                    ("scale", RunningStandardScaler()),
                    ("map", FourierFeatures(n_components=N_FEATURES, random_state=0)),
                    ("vaw", VAWRegressor()),
                ]
            ),
            learn=2.0,
        ),
        "`VAW2Regressor()`": Line(VAW2Regressor(random_state=0), learn=3.5),
        "`RakerRegressor()`": Line(RakerRegressor(random_state=0), learn=2.0),
        "`PKAWVRegressor()`": Line(PKAWVRegressor(random_state=0)),
        "`NONSALDRegressor(novelty=...)`, 100 atoms": Line(
            NONSALDRegressor(gamma=1.0, novelty=0.05), learn=4.0
        ),
        "`OKSPlusPlusRegressor()`": Line(OKSPlusPlusRegressor(random_state=0)),
    }


class _Replay:
    """A model in mid-stream, which goes on by some rows whenever it is told to."""

    def __init__(self, model, X, y, n_known):
        self.X, self.y, self.t = X, y, n_known
        self.model = model.fit(X[:n_known], y[:n_known])
        self.megabytes = len(pickle.dumps(self.model)) / 1e6

    def forecasts(self, n):
        """Forecast the next rows, each by itself."""
        for t in range(self.t, self.t + n):
            self.model.predict(self.X[t : t + 1])

    def go_on(self, X, y, n_known):
        """Learn first rows of another stream, of which nothing is measured."""
        self.X, self.y, self.t = X, y, n_known
        self.model.partial_fit(X[:n_known], y[:n_known])
        self.megabytes = len(pickle.dumps(self.model)) / 1e6

    def one_by_one(self, n):
        """Learn the next rows, each by itself."""
        for t in range(self.t, self.t + n):
            self.model.partial_fit(self.X[t : t + 1], self.y[t : t + 1])
        self.t += n

    def by_path(self, n):
        """Forecast and learn the next rows, each by itself, on a row path."""
        with self.model.rows() as row:
            for x, y in zip(self.X[self.t : self.t + n], self.y[self.t :], strict=False):
                row.predict(x)
                row.learn(x, y)
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
    table : dict
        Label -> dict of milliseconds per row of `predict` and of `partial_fit` alone, of both on a
        row path, and of `prequential_predict` in long calls, one value a turn, and of the megabytes
        of the pickle; of `partial_fit` and megabytes later, too.
    """
    n_known, n_alone, n_long, n_sgd = _SIZES[quick]
    n_rows = n_known + (1 + N_REPEATS) * (2 * n_alone + n_long)
    replays = {
        label: _Replay(line.model, *_stream(line.model, n_rows), n_known)
        for label, line in lines().items()
    }
    sgd = SGDRegressor()
    X, y = _stream(sgd, n_rows)

    def sgd_one_by_one():
        for t in range(n_sgd):
            sgd.partial_fit(X[t : t + 1], y[t : t + 1])

    calls, counts = [sgd_one_by_one], [n_sgd]
    for replay in replays.values():
        calls += [
            lambda replay=replay: replay.forecasts(n_alone),
            lambda replay=replay: replay.one_by_one(n_alone),
            lambda replay=replay: replay.by_path(n_alone),
            lambda replay=replay: replay.in_one_call(n_long),
        ]
        counts += [n_alone, n_alone, n_alone, n_long]
    sgd_row, *rows = 1e3 * in_turns(calls, N_REPEATS, advance, time.process_time) / np.c_[counts]
    table = {
        label: {
            "predict": forecast.tolist(),
            "learn": learnt.tolist(),
            "path": path.tolist(),
            "long": long.tolist(),
            "megabytes": replay.megabytes,
        }
        for (label, replay), forecast, learnt, path, long in zip(
            replays.items(), rows[::4], rows[1::4], rows[2::4], rows[3::4], strict=True
        )
    }
    for label, replay in replays.items():
        n_between = _LATER[quick] - replay.t
        n_rows = n_between + (1 + N_REPEATS) * n_alone
        replay.go_on(*_stream(replay.model, n_rows, seed=1), n_between)
        learn = partial(replay.one_by_one, n_alone)
        (later,) = in_turns([learn], N_REPEATS, clock=time.process_time)
        table[label] |= {
            "learn later": (1e3 * later / n_alone).tolist(),
            "megabytes later": replay.megabytes,
        }
        if advance is not None:
            advance(1)
    return sgd_row.tolist(), table


def _stream(model, n_rows, seed=0):
    """Return rows and targets for a model: those of `lines`, or SGD."""
    X, y = scale_as_published(*make_friedman_stream(n_rows, n_features=N_INPUTS, random_state=seed))
    if isinstance(model, VAWRegressor):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n_rows, N_FEATURES)) / np.sqrt(N_FEATURES)
        y = y - y.mean()  # the features express no constant
    if isinstance(model, OnlineKernelClassifier):
        y = np.where(y > np.median(y), 1, -1)
    return X, y


def run(output, *, quick=False):
    """Measure, print the table as the README has it, save its numbers; return the exit status."""
    where = environment()
    print(environment_line(where))
    print("Small sizes: no figures for a README.\n" if quick else "")
    with progress(N_REPEATS + len(lines()), "step") as advance:
        sgd, table = measure(quick, advance)
    later = f"after {_LATER[quick]} rows"
    columns = *_COLUMNS, f"`partial_fit` {later}, × as long", f"MB {later}"
    print(f"| after {_SIZES[quick][0]} rows of {N_INPUTS} inputs | " + " | ".join(columns) + " |")
    print("|---" + "|--:" * len(columns) + "|")
    for label, line in table.items():
        times = [
            figure
            for column in ("predict", "learn", "long")
            for figure in (np.median(line[column]), np.median(np.divide(line[column], sgd)))
        ]
        times.insert(4, np.median(np.divide(line["path"], np.add(line["predict"], line["learn"]))))
        longer = np.median(line["learn later"]) / np.median(line["learn"])
        times += [line["megabytes"], longer, line["megabytes later"]]
        cells = [label, *map(two_digits, times)]
        print("| " + " | ".join(cells) + " |")
    print(
        f"\nProcessor time, medians of {N_REPEATS} turns, one BLAS thread. `predict` and "
        "`partial_fit`: of one\nrow. In long calls: `prequential_predict`. × SGD: of "
        f"SGDRegressor().partial_fit of one row,\n{two_digits(np.median(sgd))} ms in the same "
        "turns. MB: of the pickle.\n"
    )
    figures = [
        Figure(f"{name} of {label}", np.divide(table[label][name], sgd).tolist(), "× SGD", bar)
        for label, line in lines().items()
        for name, bar in (("predict", line.predict), ("learn", line.learn), ("path", line.path))
        if bar is not None
    ]
    for figure in figures:
        print(figure.line())
    content = {"environment": where, "quick": quick, "sgd": sgd, "lines": table}
    print(f"\nNumbers: {save_json(output / 'speed_one_row.json', content)}")
    return 0


def two_digits(figure):
    """Return a positive number with two significant digits, never in powers of ten."""
    exponent = int(f"{figure:.1e}".partition("e")[2])
    return f"{figure:.{max(1 - exponent, 0)}f}"
