"""``python -m benchmarks``: the main job, the published tables, and the speed."""

import argparse
import sys
from pathlib import Path

from . import default, delay
from .clients import report as clients
from .papers import bandit, graph_aided, nons_ald, pkawv, vaw2
from .papers.bandit_lines import ROWS as BANDIT_DATA
from .papers.graph_lines import DATA, N_DRAWS
from .papers.nons_ald_lines import DATA as NONS_ALD_DATA
from .papers.nons_ald_lines import N_PERMUTATIONS
from .papers.pkawv_adversary import N_ROUNDS
from .papers.pkawv_streams import DATA as PKAWV_DATA
from .papers.rules import TABLE_3_DATA
from .peers import report as peers
from .speed import report, rows, single_rows


def main(arguments=None):
    """Run the job that the command line names; return the exit status."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help")):
        arguments = ["main", *arguments]
    options = _parser().parse_args(arguments)
    if options.job == "speed" and options.one_row:
        return rows.run(options.output, quick=options.quick)
    if options.job == "speed" and options.single_rows:
        return single_rows.run(options.output, quick=options.quick)
    if options.job == "speed":
        return report.run(options.output, quick=options.quick, memory=options.memory)
    if options.job == "peers":
        return peers.run(
            options.data or peers.default_data(),
            options.output,
            n_rows=options.rows,
            quick=options.quick,
        )
    if options.job == "graph_aided":
        return graph_aided.run(
            options.data,
            options.output,
            n_seeds=options.seeds,
            n_rows=options.rows,
            exact=options.exact,
        )
    if options.job == "nons_ald":
        return nons_ald.run(
            options.data, options.output, n_seeds=options.seeds, n_rows=options.rows
        )
    if options.job == "pkawv":
        return pkawv.run(
            options.data,
            options.output,
            n_seeds=options.seeds,
            n_rows=options.rows,
            n_rounds=options.rounds,
            timeout=options.timeout,
            quick=options.quick,
        )
    if options.job == "bandit":
        return bandit.run(
            options.data,
            options.output,
            n_seeds=options.seeds,
            n_rows=options.rows,
            n_jobs=options.n_jobs,
            quick=options.quick,
        )
    if options.job == "default":
        return default.run(
            options.data,
            options.output,
            n_seeds=options.seeds,
            n_rows=options.rows,
            quick=options.quick,
            accurate=options.accurate,
            peers=options.peers,
        )
    if options.job == "delay":
        return delay.run(
            options.output, n_seeds=options.seeds, budget=options.budget, quick=options.quick
        )
    if options.job == "clients":
        return clients.run(options.output, only=options.only)
    return vaw2.run(
        options.job,
        options.data,
        options.output,
        n_seeds=options.seeds,
        n_rows=options.rows,
        n_jobs=options.n_jobs,
    )


def _parser():
    output = argparse.ArgumentParser(add_help=False)
    output.add_argument(
        "--output",
        type=Path,
        default=Path("results"),
        metavar="DIR",
        help="folder for numbers and figures (default: results)",
    )
    streams = argparse.ArgumentParser(add_help=False, parents=[output])
    streams.add_argument(
        "--seeds", type=_count, default=5, metavar="N", help="draws of the features (default: 5)"
    )
    streams.add_argument(
        "--rows", type=_count, metavar="N", help="learn only the first N rows of each stream"
    )
    streams.add_argument(
        "--n-jobs", type=int, metavar="N", help="threads over the kernels (default: one)"
    )

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Hold the package against published figures, and measure its speed. Without "
        "the name of a job, the job is main. Each has its own --help.",
    )
    jobs = parser.add_subparsers(dest="job", required=True, title="jobs", metavar="JOB")
    main_job = jobs.add_parser(
        "main",
        parents=[streams],
        help="VAW² and the best single kernel on two streams; needs no download",
        description="VAW² and the best single kernel on a simulated series and on scikit-learn's "
        "diabetes data, beside the published figures. Needs no download.",
    )
    main_job.set_defaults(data=["ar4", "diabetes"])
    table = jobs.add_parser(
        "vaw2",
        parents=[streams],
        help="Table 3 and Figures 1 and 2 of the VAW² paper on its data sets",
        description="Table 3 and Figures 1 and 2 of the VAW² paper: its data in its order and "
        "scaling, our figures beside the published ones, and the theorem's VAW beside the "
        "published program's. Sets that are not found are left out.",
    )
    table.add_argument(
        "--data",
        nargs="+",
        default=list(TABLE_3_DATA),
        metavar="NAME",
        help="names that load_dataset knows, or ar4, or diabetes (default: the table's)",
    )
    graphs = jobs.add_parser(
        "graph_aided",
        parents=[output],
        help="Tables 1 to 5 of the graph-aided paper: first-order multi-kernel learning",
        description="Tables 1 to 5 and Figures 3, 5 and 6 of the paper on graph-aided online "
        "multi-kernel learning: MSE and run time beside the published figures. Sets that are not "
        "found are left out.",
    )
    graphs.add_argument(
        "--data",
        nargs="+",
        default=list(DATA),
        metavar="NAME",
        help="names that load_dataset knows, or ar4, or diabetes (default: the tables')",
    )
    graphs.add_argument(
        "--seeds",
        type=_count,
        default=N_DRAWS,
        metavar="N",
        help=f"draws of the features and of the kernels asked (default: {N_DRAWS}, the paper's)",
    )
    graphs.add_argument(
        "--rows", type=_count, metavar="N", help="learn only the first N rows of each stream"
    )
    graphs.add_argument(
        "--exact", action="store_true", help="run OMKR, of quadratic cost, on long streams too"
    )
    ald = jobs.add_parser(
        "nons_ald",
        parents=[output],
        help="Table 3 of the NONS-ALD paper: one kernel, first and second order",
        description="Table 3 of the paper on NONS-ALD and AOGD-ALD: MSE, size of the dictionary "
        "and run time beside the published figures. Sets that are not found are left out.",
    )
    ald.add_argument(
        "--data",
        nargs="+",
        default=list(NONS_ALD_DATA),
        metavar="NAME",
        help="sets of the table (default: all that load_dataset knows)",
    )
    ald.add_argument(
        "--seeds",
        type=_count,
        default=N_PERMUTATIONS,
        metavar="N",
        help=f"permutations of the rows (default: {N_PERMUTATIONS}, the paper's)",
    )
    ald.add_argument(
        "--rows", type=_count, metavar="N", help="learn only N rows drawn from each set"
    )
    awv = jobs.add_parser(
        "pkawv",
        parents=[output],
        help="Figures 2 to 4 of the PKAWV paper: an adversary, and four long streams",
        description="Figures 2 to 4 of the paper on Kernel-AWV and PKAWV: regret against a greedy "
        "adversary, which needs no data, and error and time on casp, ijcnn1, cod-rna and SUSY. "
        "Sets that are not found are left out.",
    )
    awv.add_argument(
        "--data",
        nargs="*",
        default=list(PKAWV_DATA),
        metavar="NAME",
        help="sets of the figures; none for the adversary alone (default: all)",
    )
    awv.add_argument(
        "--seeds",
        type=_count,
        default=3,
        metavar="N",
        help="games of each system, and permutations of each set (default: 3)",
    )
    awv.add_argument(
        "--rows", type=_count, metavar="N", help="learn only N rows drawn from each set"
    )
    awv.add_argument(
        "--rounds",
        type=_count,
        default=N_ROUNDS,
        metavar="N",
        help=f"rounds of a game (default: {N_ROUNDS}, the paper's)",
    )
    awv.add_argument(
        "--timeout",
        type=float,
        default=pkawv.TIMEOUT,
        metavar="S",
        help=f"seconds a system has for a set (default: {pkawv.TIMEOUT:g}; 300 in the paper)",
    )
    awv.add_argument("--quick", action="store_true", help="a trial of everything at small sizes")
    selection = jobs.add_parser(
        "bandit",
        parents=[output],
        help="Tables 2 to 10 of the bandit paper: one kernel a round, chosen at random",
        description="Tables 2 to 10 of the paper on OKS++ and IOKS: mistakes or mean losses and "
        "times a round, exact and on random features, beside the published figures. Takes a "
        "quarter of an hour, with --seeds 10 about an hour, most of it for a9a. Sets that are not "
        "found are left out.",
    )
    selection.add_argument(
        "--data",
        nargs="+",
        default=list(BANDIT_DATA),
        metavar="NAME",
        help="sets of the tables (default: all that load_dataset knows)",
    )
    selection.add_argument(
        "--seeds",
        type=_count,
        default=bandit.DEFAULT_SEEDS,
        metavar="N",
        help=f"permutations of the rows (default: {bandit.DEFAULT_SEEDS}; 10 in the paper)",
    )
    selection.add_argument(
        "--rows", type=_count, metavar="N", help="learn only N rows drawn from each set"
    )
    selection.add_argument(
        "--n-jobs", type=int, default=1, metavar="N", help="processes over permutations"
    )
    selection.add_argument("--quick", action="store_true", help="a trial of everything on 300 rows")
    rivals = jobs.add_parser(
        "peers",
        parents=[output],
        help="loss and time beside what a user would pick instead: scikit-learn, River",
        description="Progressive loss and time a row beside scikit-learn's RBFSampler with SGD and "
        "KernelRidge on windows, and River's linear and ensemble regressors, in one run. River "
        'needs pip install "sklearn_okl[peers]".',
    )
    rivals.add_argument(
        "--data",
        nargs="+",
        metavar="NAME",
        help="names that load_dataset knows, or ar4, friedman, friedman_drift (default: these "
        "three, and with SKLEARN_OKL_DATA set six of the papers' sets)",
    )
    rivals.add_argument(
        "--rows",
        type=_count,
        default=5000,
        metavar="N",
        help="learn only the first N rows of each stream (default: 5000)",
    )
    rivals.add_argument("--quick", action="store_true", help="a trial of everything on 200 rows")
    untuned = jobs.add_parser(
        "default",
        parents=[output],
        help="the estimators without tuning against every published figure",
        description="The estimators without tuning as they come, beside the best "
        "published figure of each set; what other choices of their constants give; drift; and how "
        "often the intervals hold. With ten permutations about twenty minutes. Sets that are not "
        "found are left out.",
    )
    untuned.add_argument(
        "--data",
        nargs="+",
        default=list(default.PUBLISHED),
        metavar="NAME",
        help="sets with a published figure (default: all)",
    )
    untuned.add_argument(
        "--seeds",
        type=_count,
        default=default.N_SEEDS,
        metavar="N",
        help=f"permutations of the rows, and draws of the features (default: {default.N_SEEDS})",
    )
    untuned.add_argument(
        "--rows", type=_count, metavar="N", help="learn only the first N rows of each run"
    )
    untuned.add_argument("--accurate", action="store_true", help="run the largest budget too")
    untuned.add_argument("--peers", action="store_true", help="run scikit-learn's learners too")
    untuned.add_argument("--quick", action="store_true", help="a trial of everything on 300 rows")
    late = jobs.add_parser(
        "delay",
        parents=[output],
        help="late labels, a day ahead or at random, and random walks; needs no download",
        description="The estimator without tuning where labels come late: an hourly series a day "
        "ahead, labels late at random; random walks; and in the tools of sktime, skforecast and "
        "MAPIE, where they are installed. Needs no download. Takes about a quarter of an hour a "
        "seed.",
    )
    late.add_argument(
        "--seeds",
        type=_count,
        default=delay.N_SEEDS,
        metavar="N",
        help=f"streams of each kind (default: {delay.N_SEEDS})",
    )
    late.add_argument(
        "--budget", choices=("fast", "balanced", "accurate"), default="balanced", help="of all runs"
    )
    late.add_argument("--quick", action="store_true", help="a trial of everything at small sizes")
    others = jobs.add_parser(
        "clients",
        parents=[output],
        help="other people's programs that take the estimators: whether all comes right",
        description="Tools of scikit-learn, River, sktime, skforecast, MAPIE, optuna, shap, "
        "dask-ml and mlflow, frames and files: a line for each thing done, held against what the "
        "estimators give by themselves. What is not installed is left out. The exit status is 1 "
        "if a line is not as expected. Needs no download. Takes one or two minutes.",
    )
    others.add_argument("--only", metavar="TEXT", help="only the lines that contain a text")
    speed = jobs.add_parser(
        "speed",
        parents=[output],
        help="speed as ratios in one run, and memory",
        description="Ratios of speed, measured in one run with one BLAS thread on both sides.",
    )
    speed.add_argument("--quick", action="store_true", help="a trial of everything at small sizes")
    speed.add_argument(
        "--memory", action="store_true", help="measure the memory too (a few minutes)"
    )
    speed.add_argument(
        "--one-row",
        action="store_true",
        help="only the README's table: a row alone, a row in long calls, megabytes of a model",
    )
    speed.add_argument(
        "--single-rows",
        action="store_true",
        help="only single rows by the million: the slowest call, memory, equal to long calls "
        "(about half an hour)",
    )
    return parser


def _count(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text}")
    return number


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="replace")  # a terminal without "²" is no reason to stop
    sys.exit(main())
