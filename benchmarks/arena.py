"""A submission to the public leaderboard StreamArena: all its streams, ten seeds each.

``python -m benchmarks.arena`` runs the estimators without tuning, as constructed by default, on
every stream of classes or numbers that is at hand, and writes a file for each run in the form that
the leaderboard takes (submissions/README.md of github.com/TechyNilesh/StreamArena). Streams that
are not at hand are left out by name: ``load_dataset`` knows some, and any other is NAME.csv.gz,
with the board's name for it, in the folder that SKLEARN_OKL_DATA names, its target in the last
column. Runs whose files are there are not made again. All of it takes days; --data runs a part.
"""

import argparse
import sys
from pathlib import Path
from time import perf_counter

import numpy as np

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.datasets import load_dataset

from ._report import RESULTS, data_path
from .classes import FLOOR
from .tables_board import file_of, save_submission

N_SEEDS = 10  # that the leaderboard asks for, from 1 on
KNOWN = {  # to load_dataset
    "real/MetroTraffic": "arena_metro_traffic",
    "real/ailerons": "arena_ailerons",
    "real/bike": "arena_bike",
    "real/california_housing": "arena_california_housing",
    "real/electricity": "arena_electricity",
    "real/elevators": "arena_elevators",
    "real/nomao": "arena_nomao",
    "real/shuttle": "arena_shuttle",
    "synth/fried": "arena_fried",
}
REGRESSION = {
    "real": "House8L MetroTraffic WGN0331_data abalone ailerons bike brazilian_houses "
    "california_housing cps88wages cpu_activity diamonds elevators fifa health_insurance kin8nm "
    "kings_county miami_housing naval_propulsion_plant physiochemical_protein pumadyn32nh sarcos "
    "superconductivity video_transcoding_noID wave_energy white_wine",
    "synth": "FriedmanGra FriedmanGsg FriedmanLea fried hyperA",
}
CLASSIFICATION = {
    "real": "Dota Gisette HAR KDDCup99 MNIST Spambase Usenet adult airlines electricity "
    "forest_cover insects nomao poker real_kdd99 real_pendigits real_powersupply real_sensor "
    "real_shuttle shuttle spam vehicle_sensIT weather",
    "synth": "Madelon RBF RBFm_100k RTG_2abrupt RTG_highdim_10k hyperplane_high_gradual_drift "
    "movingRBF moving_squares sea_high_abrupt_drift sea_high_mixed_drift sine_stream_with_drift "
    "synth_agrawal synth_blobs_expanding synth_blobs_gradual synth_blobs_incremental "
    "synth_blobs_merge_split synth_blobs_sudden synth_rbf_fast synth_rbf_gradual synth_rbf_random",
}


def streams(task):
    """Return the names of a task's streams on the board."""
    listed = {"regression": REGRESSION, "classification": CLASSIFICATION}[task]
    return [f"{kind}/{name}" for kind, names in listed.items() for name in names.split()]


def load_stream(name):
    """Return rows and targets in the order of the file; arrays, or a frame with its columns."""
    if name in KNOWN:
        return load_dataset(KNOWN[name], return_X_y=True)
    import pandas as pd

    frame = pd.read_csv(data_path(name.partition("/")[2]))
    return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy()


def run(output=RESULTS, *, tasks=("regression", "classification"), data=None, n_seeds=N_SEEDS):
    """Make the runs that are not there yet; return 1 if no stream is at hand."""
    folder, n_runs, n_streams = Path(output) / "streamarena", 0, 0
    measures = {"regression": of_numbers, "classification": of_classes}
    names = [(task, name) for task in tasks for name in streams(task)]
    for task, name in names:
        if data is not None and name not in data:
            continue
        try:
            X, y = load_stream(name)
        except (FileNotFoundError, ValueError) as error:  # the loader says what to do
            print(f"Left out {name}. {error}", file=sys.stderr)
            continue
        n_streams += 1
        for seed in range(1, n_seeds + 1):
            model = model_of(task, seed)
            if not file_of(folder, model, name, seed).exists():
                metrics, seconds = measures[task](model, X, y)
                save_submission(folder, task, model, name, seed, metrics, seconds)
                n_runs += 1
                print(f"{name}, seed {seed}: {metrics}", flush=True)
    print(f"{n_runs} runs made on {n_streams} streams, in {folder}")
    return 0 if n_streams else 1


def model_of(task, seed):
    """Return the one configuration of a task."""
    make = {"regression": OnlineKernelRegressor, "classification": OnlineKernelClassifier}[task]
    return make(random_state=seed)


def of_numbers(model, X, y):
    """Return the board's measures of progressive forecasts, and seconds; the first one is 0."""
    y = np.asarray(y, dtype=np.float64)
    start = perf_counter()
    errors = model.prequential_predict(X, y) - y
    seconds = perf_counter() - start
    mse = np.mean(errors**2)
    measures = {"rmse": mse**0.5, "mae": np.mean(abs(errors)), "r2": 1.0 - mse / np.var(y)}
    return {name: float(value) for name, value in measures.items()}, seconds


def of_classes(model, X, y):
    """Return the board's measures of progressive probabilities, and seconds; shares in percent.

    A kappa is how much of the mistakes of a rival is saved: of one that guesses with the same
    shares of labels, of the label before, and of the most frequent label.
    """
    labels, y = np.unique(y, return_inverse=True)
    start = perf_counter()
    P = model.prequential_predict_proba(X, y, classes=np.arange(len(labels)))
    seconds = perf_counter() - start
    said, n = P.argmax(axis=1), len(y)
    wrong = np.mean(said != y)
    shares = [np.bincount(values, minlength=len(labels)) / n for values in (said, y)]
    rivals = 1.0 - shares[0] @ shares[1], np.mean(y[1:] != y[:-1]), 1.0 - shares[1].max()
    kappas = [100.0 * float(1.0 - wrong / rival) if rival else 0.0 for rival in rivals]
    log_loss = -np.log(np.maximum(P[np.arange(n), y], FLOOR)).mean()
    metrics = dict(zip(("kappa", "kappa_t", "kappa_m"), kappas, strict=True))
    return {"accuracy": 100.0 * float(1.0 - wrong), "log_loss": float(log_loss)} | metrics, seconds


def main(arguments=None):
    """Run what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena", description=__doc__)
    option = parser.add_argument
    option("--tasks", nargs="+", choices=("regression", "classification"), metavar="TASK")
    option("--data", nargs="+", metavar="NAME", help="the board's names (default: all)")
    option("--seeds", dest="n_seeds", type=int, metavar="N", help="1 to N (default: 10)")
    option("--output", type=Path, metavar="DIR", help="folder (default: results)")
    given = {key: value for key, value in vars(parser.parse_args(arguments)).items() if value}
    return run(**given)


if __name__ == "__main__":
    sys.exit(main())
