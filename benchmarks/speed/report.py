"""The ratios of speed and the memory, printed beside their bars and saved."""

from .._progress import progress
from .._report import environment, environment_line, save_json
from . import aggregation, bandit, one_kernel, one_kernel_growth, ratios, search
from . import memory as memory_job


def run(output, *, quick=False, memory=False):
    """Measure, print a line a figure and save the numbers; return the exit status."""
    where = environment()
    print(environment_line(where))
    if quick:
        print("Small sizes: the bars belong to the full ones.")
    print()
    figures = []

    def show(figure):
        figures.append(figure)
        print(figure.line(), flush=True)

    jobs = (ratios, aggregation, one_kernel, one_kernel_growth, bandit, search)
    for measure in (measure for job in jobs for measure in job.MEASURES):
        with progress(ratios.N_REPEATS, "repeat") as advance:
            measured = measure(quick, advance)
        for figure in measured:
            show(figure)
    if memory or quick:
        for measure in memory_job.MEASURES:
            show(measure(quick))

    path = save_json(
        output / "speed.json",
        {"environment": where, "quick": quick, "figures": [figure.numbers() for figure in figures]},
    )
    print(f"\nNumbers: {path}")
    return 0
