"""``python -m benchmarks``: the main job, the published tables, and the speed."""

import argparse
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import NamedTuple


def _checked(kind, is_right, expected):
    """Return what makes a number of the text of an option, or says what is expected."""

    def number_of(text):
        try:
            number = kind(text)
        except ValueError:
            number = None
        if number is None or not is_right(number):
            raise argparse.ArgumentTypeError(f"expected {expected}, got {text}")
        return number

    return number_of


_count = _checked(int, lambda n: n >= 1, "a whole number of at least 1")
_jobs = _checked(int, lambda n: n != 0, "a whole number other than 0, -1 for all processors")
_seconds = _checked(float, lambda s: s > 0.0, "a number of seconds above 0")
_seed = _checked(int, lambda n: n >= 0, "a whole number of at least 0")


FIRST_ROWS = "learn only the first N rows of each stream"
DRAWN_ROWS = "learn only N rows drawn from each set"
OF_TABLES = "names that load_dataset knows, or ar4, or diabetes (default: the tables')"
ALL_KNOWN = "sets of the tables (default: all that load_dataset knows)"
SMALL_SIZES = "a trial of everything at small sizes"
OPTIONS = {  # what an option is in every job that has it; the others are flags
    "output": {
        "type": Path,
        "metavar": "DIR",
        "help": "folder for numbers and figures (default: %(default)s)",
    },
    "data": {"nargs": "+", "metavar": "NAME"},
    "seeds": {"dest": "n_seeds", "type": _count, "metavar": "N"},
    "rows": {"dest": "n_rows", "type": _count, "metavar": "N"},
    "keys": {"dest": "n_keys", "type": _count, "metavar": "N"},
    "soak": {"dest": "n_soak", "type": _count, "metavar": "N"},
    "rounds": {"dest": "n_rounds", "type": _count, "metavar": "N"},
    "n-jobs": {"type": _jobs, "metavar": "N"},
    "timeout": {"type": _seconds, "metavar": "S"},
    "streams": {"dest": "n_streams", "type": _count, "metavar": "N"},
    "budget": {"choices": ("fast", "balanced", "accurate")},
    "only": {"metavar": "TEXT"},
    "files": {"dest": "n_files", "type": _count, "metavar": "N"},
    "seed": {"type": _seed, "metavar": "N"},
    "lines": {"nargs": "+", "metavar": "LINE"},
    "kinds": {"nargs": "+", "metavar": "KIND"},
    "budgets": {"nargs": "+", "choices": ("fast", "balanced", "forecaster")},
}


class Job(NamedTuple):
    """A job of the command line.

    Attributes
    ----------
    module : str
        The module whose ``run`` does it, imported when the job is asked for. Its signature has the
        defaults of the options.
    help : str
        What the list of jobs says.
    description : str
        What its own ``--help`` says.
    options : dict of str to str or dict
        Name of an option -> its help, or what else differs from the same option of other jobs.
    fixed : dict
        Arguments of ``run`` that the name of the job stands for.
    """

    module: str
    help: str
    description: str
    options: dict
    fixed: dict = {}


_DRAWS = {
    "seeds": "draws of the features (default: %(default)s)",
    "rows": FIRST_ROWS,
    "n-jobs": "processes that share the draws (default: one)",
}
JOBS = {
    "main": Job(
        "papers.vaw2",
        "VAW² and the best single kernel on two streams; needs no download",
        "VAW² and the best single kernel on a simulated series and on scikit-learn's diabetes "
        "data, beside the published figures. Needs no download.",
        _DRAWS,
        {"job": "main", "data": ("ar4", "diabetes")},
    ),
    "vaw2": Job(
        "papers.vaw2",
        "Table 3 and Figures 1 and 2 of the VAW² paper on its data sets",
        "Table 3 and Figures 1 and 2 of the VAW² paper: its data in its order and scaling, our "
        "figures beside the published ones, and the theorem's VAW beside the published "
        "program's; then H-VAW-D, DVAW and TVAW on them. Sets that are not found are left out.",
        {**_DRAWS, "data": OF_TABLES.replace("tables'", "table's")},
        {"job": "vaw2"},
    ),
    "graph_aided": Job(
        "papers.graph_aided",
        "Tables 1 to 5 of the graph-aided paper: first-order multi-kernel learning",
        "Tables 1 to 5 and Figures 3, 5 and 6 of the paper on graph-aided online multi-kernel "
        "learning: MSE and run time beside the published figures. Sets that are not found are "
        "left out.",
        {
            "data": OF_TABLES,
            "seeds": "draws of the features and of the kernels asked (default: %(default)s, the "
            "paper's)",
            "rows": FIRST_ROWS,
            "exact": "run OMKR, of quadratic cost, on long streams too",
        },
    ),
    "nons_ald": Job(
        "papers.nons_ald",
        "Table 3 of the NONS-ALD paper: one kernel, first and second order",
        "Table 3 of the paper on NONS-ALD and AOGD-ALD: MSE, size of the dictionary and run time "
        "beside the published figures. Sets that are not found are left out.",
        {
            "data": ALL_KNOWN.replace("tables", "table"),
            "seeds": "permutations of the rows (default: %(default)s, the paper's)",
            "rows": DRAWN_ROWS,
        },
    ),
    "pkawv": Job(
        "papers.pkawv",
        "Figures 2 to 4 of the PKAWV paper: an adversary, and four long streams",
        "Figures 2 to 4 of the paper on Kernel-AWV and PKAWV: regret against a greedy adversary, "
        "which needs no data, and error and time on casp, ijcnn1, cod-rna and SUSY. Sets that "
        "are not found are left out.",
        {
            "data": {
                "nargs": "*",
                "help": "sets of the figures; none for the adversary alone (default: all)",
            },
            "seeds": "games of each system, and permutations of each set (default: %(default)s)",
            "rows": DRAWN_ROWS,
            "rounds": "rounds of a game (default: %(default)s, the paper's)",
            "timeout": "seconds a system has for a set (default: %(default)g; 300 in the paper)",
            "quick": SMALL_SIZES,
        },
    ),
    "bandit": Job(
        "papers.bandit",
        "Tables 2 to 10 of the bandit paper: one kernel per round, chosen at random",
        "Tables 2 to 10 of the paper on OKS++ and IOKS: mistakes or mean losses and times a "
        "round, exact and on random features, beside the published figures. Takes a quarter of "
        "an hour, with --seeds 10 about an hour, most of it for a9a. Sets that are not found are "
        "left out.",
        {
            "data": ALL_KNOWN,
            "seeds": "permutations of the rows (default: %(default)s; 10 in the paper)",
            "rows": DRAWN_ROWS,
            "n-jobs": "processes that share the permutations",
            "quick": "a trial of everything on 300 rows",
        },
    ),
    "peers": Job(
        "peers.report",
        "loss and time beside what a user would pick instead: scikit-learn, River",
        "Progressive loss and time a row beside scikit-learn's RBFSampler with SGD and "
        "KernelRidge on windows, and River's linear and ensemble regressors, in one run. River "
        'needs pip install "sklearn_okl[peers]".',
        {
            "data": "names that load_dataset knows, or ar4, friedman, friedman_drift (default: "
            "these three, and with SKLEARN_OKL_DATA set six of the papers' sets)",
            "rows": FIRST_ROWS + " (default: %(default)s)",
            "quick": "a trial of everything on 200 rows",
        },
    ),
    "default": Job(
        "default",
        "the estimators without tuning against every published figure",
        "The estimators without tuning as they come, beside the best published figure of each "
        "set; what other choices of their constants give; drift; and how often the intervals "
        "hold. With ten permutations about twenty minutes. Sets that are not found are left out.",
        {
            "data": "sets with a published figure (default: all)",
            "seeds": "permutations of the rows, and draws of the features (default: %(default)s)",
            "rows": "learn only the first N rows of each run",
            "accurate": "run the largest budget too",
            "peers": "run scikit-learn's learners too",
            "quick": "a trial of everything on 300 rows",
        },
    ),
    "delay": Job(
        "delay",
        "late labels, a day ahead or at random, and random walks; needs no download",
        "The estimator without tuning where labels come late: an hourly series a day ahead, "
        "labels late at random; random walks; and in the tools of sktime, skforecast and MAPIE, "
        "where they are installed. Needs no download. Takes about a quarter of an hour a seed.",
        {
            "seeds": "streams of each kind (default: %(default)s)",
            "budget": "of all runs",
            "quick": SMALL_SIZES,
        },
    ),
    "series": Job(
        "series",
        "series in, horizon out: steps 1 to 48 without leakage, intervals, a day ahead",
        "The forecaster of series as it comes on series of a file, scaled by their first 60 %, "
        "forecast in the last 30 % without leakage, beside persistence, a ridge refitted daily and "
        "published figures; how often its intervals hold; and a made series a day ahead. Files "
        "that are not found are left out. Takes about ten minutes.",
        {
            "data": "names of files NAME.csv.gz with a column of dates and one a series, in the "
            "folder that SKLEARN_OKL_DATA names (default: ett_h1)",
            "seeds": "made series of each kind (default: %(default)s)",
            "rows": "learn only the first N rows of each file",
            "quick": SMALL_SIZES,
        },
    ),
    "known_ahead": Job(
        "known_ahead",
        "weather and kind of day known ahead: errors, and intervals by hour and kind of day",
        "The forecaster on bicycles hired an hour, 24 hours ahead, beside boosting on the same "
        "columns that is fitted anew every week, and how often its intervals hold by hour, "
        "weekday, kind of day and temperature. Takes three minutes.",
        {"rows": "use only the first N rows", "quick": SMALL_SIZES},
    ),
    "demand": Job(
        "demand",
        "demand, calls, prices, sales, visits: beside what people use, the lost ones first",
        "The forecaster of series as it comes on ten files of demand, calls, prices, sales and "
        "visits, from five minutes to a quarter a row, beside the last season, a ridge on windows "
        "and boosting with lags, fitted anew as the past grows, and AutoETS, AutoTheta and MSTL of "
        "statsforecast where it is installed: squared errors over theirs. Files that are not found "
        "are left out. Takes half an hour, nearly all of it for the rivals.",
        {
            "data": "names of files NAME.csv.gz in the folder that SKLEARN_OKL_DATA names "
            "(default: all)",
            "rows": "use only the first N rows of each file",
            "only": "only those who forecast whose names contain a text",
            "quick": SMALL_SIZES,
        },
    ),
    "competition": Job(
        "competition",
        "the 3003 short series of the M3 competition: beside its published entries",
        "The forecaster on the series of the M3 competition, those of a frequency in one panel, "
        "beside published entries: sMAPE, MASE, and how often its intervals hold. The exit status "
        "is 1 where sMAPE is above 13.0 or MASE above 1.45. Takes two minutes.",
        {
            "streams": "use only the first N series of each frequency",
            "alone": "a forecaster of its own for each series; four minutes on two cores",
            "quick": SMALL_SIZES,
        },
    ),
    "explain": Job(
        "explain",
        "exact attributions against KernelSHAP: time for the same rows and background",
        "A ridge forecaster on 100 Fourier features of 5, 10, 20 and 40 columns, explained in "
        "closed form and by shap's KernelExplainer, with coalitions doubled until its error is 1 "
        "%. The exit status is 1 if the exact ones are not 100 times as fast from 10 columns on, "
        "and 2 without shap. Takes about two minutes.",
        {
            "rows": "rows that KernelSHAP explains (default: %(default)s)",
            "quick": SMALL_SIZES,
        },
    ),
    "corrector": Job(
        "corrector",
        "other people's forecasts, corrected online: never worse, mostly better",
        "AdaptedForecaster on last season, exponential smoothing and a ridge refitted daily, on "
        "series of a file, scaled by their first 60 %, scored in their last 30 %: squared errors "
        "of each base alone and corrected, the series that fared worst, and the bound. The exit "
        "status is 1 if a series is made worse by more than 1 %. Files that are not found are left "
        "out. Takes about ten minutes.",
        {
            "data": "names of files NAME.csv.gz with a column of dates and one a series, in the "
            "folder that SKLEARN_OKL_DATA names (default: ett_h1)",
            "rows": "learn only the first N rows of each file",
            "only": "only the bases whose names contain a text",
            "quick": SMALL_SIZES,
        },
    ),
    "classes": Job(
        "classes",
        "probabilities of classes: log loss beside others' and a public leaderboard",
        "The classifier without tuning on streams of two classes and more: log loss, mistakes, "
        "kappa temporal, calibration and time, beside the published figures of the StreamArena "
        "leaderboard and scikit-learn's online classifiers. What others forecast is kept. Sets "
        "that are not found are left out.",
        {
            "data": "sets (default: all)",
            "seeds": "permutations, or draws of the features where the order is given (default: "
            "%(default)s)",
            "rows": FIRST_ROWS,
            "only": "only the lines whose names contain a text, such as ours",
            "trees": "run boosting refitted, and ours with it, which takes most of the time",
            "peers": "run River's adaptive random forest too",
            "small": "run what needs no file too: probabilities of new rows beside logistic "
            "regression, digits, images, and what ten classes cost",
            "quick": "a trial of everything on 120 rows",
        },
    ),
    "clients": Job(
        "clients",
        "other people's programs that take the estimators: whether all comes right",
        "Tools of scikit-learn, River, sktime, skforecast, MAPIE, optuna, shap, dask-ml and "
        "mlflow, frames and files: a line for each thing done, held against what the estimators "
        "give by themselves. What is not installed is left out. The exit status is 1 if a line "
        "is not as expected. Needs no download. Takes one or two minutes.",
        {"only": "only the lines that contain a text"},
    ),
    "tables": Job(
        "tables",
        "tables as people have them: beside refitted boosting and a public leaderboard",
        "The estimators without tuning, permuted and in the order of the file, beside gradient "
        "boosting that is refitted as the stream grows, the last target, and the published figures "
        "of the StreamArena leaderboard, for which it writes result files. Boosting is LightGBM's "
        'where that is installed (pip install "sklearn_okl[boards]"), else that of scikit-learn; '
        "it takes most of the time, and its runs are kept. Sets that are not found are left out.",
        {
            "data": "sets (default: all)",
            "seeds": "permutations, or where the order is given draws of the features; seeds "
            "1, 2 and so on there, of which the leaderboard asks for 10 (default: %(default)s)",
            "rows": FIRST_ROWS,
            "lines": "which of ours, by their names in the tables (default: all)",
            "quick": "a trial of everything on 120 rows",
        },
    ),
    "distributions": Job(
        "distributions",
        "quantiles and densities: CRPS, shares held, log-likelihood, PIT, beside others'",
        "The regressor without tuning, laws by rows: CRPS over 19 quantiles over that of intervals "
        "by own levels and of one Gaussian, interval scores and shares held on tables, the set "
        "that loses most first; made streams of known law; log-likelihoods beside ensembles of "
        "Gaussian processes; and quantiles of the forecaster on the last rows of ETTh1. Where "
        "NGBoost is installed, its laws stand beside ours on tables. Sets that are not found are "
        "left out. Takes a quarter of an hour, and with NGBoost a minute more for each set.",
        {
            "data": "sets (default: all of numbers)",
            "seeds": "permutations of the rows (default: %(default)s)",
            "rows": FIRST_ROWS + " (default: %(default)s)",
            "budget": "of the regressor (default: %(default)s)",
            "kinds": "parts: tables, made, likelihoods, series (default: all)",
            "trees": "run boosted quantiles refitted, and ours with trees, which takes most of "
            "the time",
            "quick": "a trial of everything on 160 rows",
        },
    ),
    "gaps": Job(
        "gaps",
        "cells removed at random: the loss over that of the complete table",
        "A tenth of the cells of each table is removed. The estimator without tuning, as it is and "
        "on a table whose gaps were filled from all its rows beforehand, which no stream allows, "
        "and gradient boosting that is refitted as the stream grows, over the loss of each on the "
        "complete table. Sets that are not found are left out.",
        {
            "data": "sets (default: all)",
            "seeds": "permutations of the rows and draws of the gaps (default: %(default)s)",
            "rows": FIRST_ROWS,
            "quick": "a trial of everything on 120 rows",
        },
    ),
    "kinds": Job(
        "kinds",
        "whole files with columns of all kinds: none is refused",
        "The estimators without tuning on files of text, categories, gaps and numbers, the last "
        "column of which is the target, from the first row to the last at both budgets: what they "
        "lose, and whether a row is refused, which makes the exit status 1. Files that are not "
        "found are left out. Takes some ten minutes, and needs pandas.",
        {
            "data": "names of files NAME.csv.gz in the folder that SKLEARN_OKL_DATA names "
            "(default: ten)",
            "rows": FIRST_ROWS,
            "quick": "a trial of everything on 300 rows",
        },
    ),
    "files": Job(
        "files",
        "damaged and hand-made files of models: none gets through; needs no download",
        "Files of models of all kinds with flipped bits, other numbers, shapes, types, names and "
        "parameters, and files that unpack to many times their size. Each is refused in a sentence "
        "within the memory it may take, or the model in it forecasts and learns in numbers or "
        "sentences. The exit status is 1 if one is not; such files are kept. Needs skops and "
        "pandas, and no download. Takes half an hour.",
        {
            "files": "files in all, in turns of the models (default: %(default)s)",
            "seed": "of the damages (default: %(default)s)",
            "only": "only the models whose names contain a text",
            "quick": "at most 200 files",
        },
    ),
    "changing": Job(
        "changing",
        "changing environments: regrets, bounds and the shares used; needs no download",
        "Regrets against the best path in hindsight and on intervals of rounds, beside their "
        "bounds, on random, drifting and greedy streams; errors under drift of discounted VAW and "
        "its grid, copies on covering intervals, Raker and AdaRaker. Fails where a bound is "
        "exceeded. Needs no download. Takes two minutes.",
        {
            "seeds": "draws of each stream (default: %(default)s)",
            "rows": "rows of a stream (default: %(default)s)",
            "untuned": "run the estimator without tuning too",
            "quick": SMALL_SIZES,
        },
    ),
    "drifts": Job(
        "drifts",
        "long streams that change, beside published figures; needs no download",
        "The estimators without tuning on Friedman's stream with three drifts and on a hyperplane "
        "that turns, beside what SOKNL has as published and what 'balanced' had at b4538c5. Needs "
        "no download. 100 000 rows take a minute and a half to four minutes a stream and budget.",
        {
            "kinds": "recurring, gradual, local or hyperplane (default: all)",
            "budgets": "budgets (default: fast and balanced)",
            "rows": "rows of a stream (default: %(default)s)",
            "seed": "of the streams and of the models",
            "peers": "run CapyMOA's SOKNL, adaptive random forest and FIMT-DD too, if installed",
            "quick": "1000 rows of each",
        },
    ),
    "hindsight": Job(
        "hindsight",
        "the default beside twelve fixed configurations under drift; needs no download",
        "On each half of streams that jump, turn, recur and change slowly, and from 300 rows after "
        "a jump on: root mean squared error of the estimator without tuning over that of the best "
        "of its experts and of twelve fixed configurations (memories, ridges, kernels) in "
        "hindsight. Needs no download. Takes some minutes.",
        {
            "seeds": "draws of each stream (default: %(default)s)",
            "rows": "rows of a stream (default: %(default)s)",
            "budget": "of the estimator (default: %(default)s)",
            "quick": SMALL_SIZES,
        },
    ),
    "shapes": Job(
        "shapes",
        "made shapes that trees are good at: timetables, steps, signs; needs no download",
        "The estimators without tuning on timetables of one to three columns of whole numbers, "
        "products of signs, clipped and rounded targets, and steps: squared error, of classes log "
        "loss, over that of boosting refitted whenever the past has grown by a tenth. Those that "
        "miss their bars come first. Needs no download. Takes a quarter of an hour.",
        {
            "seeds": "draws of each stream (default: %(default)s)",
            "rows": "rows of a stream (default: %(default)s)",
            "only": "only the shapes whose names contain a text",
            "quick": SMALL_SIZES,
        },
    ),
    "guards": Job(
        "guards",
        "faults, jumps and changes: what the guards cost and what they save; needs no download",
        "The estimators without tuning on streams with faulty targets and cells, on streams that "
        "only look as if there were faults, on changes of level, unit and sign, on heavy tails, "
        "and against an adversary who wants their time: over rivals that doubt nothing, twins "
        "that are told which targets are faulty, and models that begin anew. Lines that miss "
        "their bars come first. What boosting forecasts is kept. All of it takes hours; --kinds "
        "runs a part.",
        {
            "kinds": "kinds of cases (default: all)",
            "budgets": "of all runs; the forecaster counts as one (default: all)",
            "seeds": "draws of each stream (default: %(default)s)",
            "rows": "learn at most N rows of each stream",
            "only": "only the cases whose titles contain a text",
            "quick": "a trial of one case of each kind at small sizes",
        },
    ),
    "sequential": Job(
        "sequential",
        "champion and challenger: false alarms and power, looked at in every row; no download",
        "SequentialComparison on null streams with Gaussian, heavy-tailed, correlated errors and "
        "labels, and on streams where the challenger is a little better: the share rejected beside "
        "its bar. The exit status is 1 if one misses it. Needs no download. Takes half a minute.",
        {
            "streams": "streams of each kind (default: %(default)s)",
            "rows": "rows of a stream (default: %(default)s)",
            "quick": SMALL_SIZES,
        },
    ),
    "unlearning": Job(
        "unlearning",
        "a tenth of the rows unlearnt, parts merged: as if never seen, as if in one pass",
        "Pipelines on random features that unlearn a tenth of their rows in random order, one by "
        "one, in blocks and at once, beside models that never saw them, with the time over that of "
        "learning; and parts merged beside one pass. The exit status is 1 if one is further than "
        "1e-10. Sets that are not found are left out. Takes a minute.",
        {
            "data": "names that load_dataset knows, or friedman (default: %(default)s)",
            "seeds": "orders, and draws of the features (default: %(default)s)",
            "rows": FIRST_ROWS,
            "quick": SMALL_SIZES,
        },
    ),
    "fleet": Job(
        "fleet",
        "one model a key: rows a second, memory, checkpoints; needs no download",
        "A bank of linear models of many keys with 32 features, in mixed batches and singly, "
        "beside dicts of models: rows a second of processor time, bytes a key, and what a commit "
        "to a file costs. Lines that miss their bars, which are for 10 000 keys, come first. Takes "
        "some minutes.",
        {
            "keys": "how many keys (default: %(default)s)",
            "rows": "rows of a batch (default: %(default)s)",
            "rounds": "batches measured (default: %(default)s)",
            "soak": "single rows with labels late, lost and doubled, some 0.5 ms each (default: "
            "%(default)s)",
            "kin": "only new keys among others: what they lose in their first rows",
            "tiny": "only the models of budget='tiny': their bytes, a row, and twelve sets beside "
            "'fast'; needs their files",
            "quick": SMALL_SIZES,
        },
    ),
    "speed": Job(
        "speed.report",
        "speed as ratios in one run, and memory",
        "Ratios of speed, measured in one run with one BLAS thread on both sides.",
        {
            "quick": SMALL_SIZES,
            "memory": "measure the memory too (a few minutes)",
            "one-row": "only the README's table: a row alone, a row in long calls, megabytes of "
            "a model",
            "single-rows": "only single rows by the million: the slowest call, memory, equal to "
            "long calls (about half an hour)",
        },
    ),
}


def main(arguments=None):
    """Run the job that the command line names; return the exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help")):
        arguments = ["main", *arguments]
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Hold the package against published figures, and measure its speed. Without "
        "the name of a job, the job is main. Each has its own --help.",
    )
    parsers = parser.add_subparsers(dest="job", required=True, title="jobs", metavar="JOB")
    for name, job in JOBS.items():
        own = parsers.add_parser(name, help=job.help, description=job.description)
        if name == arguments[0]:
            chosen, run = job, import_module(f".{job.module}", __package__).run
            _add_options(own, job, run)
    options = vars(parser.parse_args(arguments))
    del options["job"]
    return run(**options, **chosen.fixed)


def _add_options(parser, job, run):
    defaults = {name: one.default for name, one in signature(run).parameters.items()}
    for name, words in {"output": {}, **job.options}.items():
        settings = {"dest": name.replace("-", "_"), **OPTIONS.get(name, {"action": "store_true"})}
        settings |= {"help": words} if isinstance(words, str) else words
        parser.add_argument(f"--{name}", default=defaults[settings["dest"]], **settings)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a terminal without "²" is no reason to stop
    sys.exit(main())
