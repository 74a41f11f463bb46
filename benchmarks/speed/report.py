"""The ratios of speed and the memory, printed beside their bars and saved."""

from .._progress import progress
from .._report import RESULTS, print_environment, print_saved
from . import aggregation, bandit, many_kernels, one_kernel, one_kernel_growth, ratios, rows, search
from . import memory as memory_job
from . import single_rows as single_rows_job


def run(output=RESULTS, *, quick=False, memory=False, one_row=False, single_rows=False):
    """Measure, print a line a figure and save the numbers; return the exit status."""
    if one_row:
        return rows.run(output, quick=quick)
    if single_rows:
        return single_rows_job.run(output, quick=quick)
    where = print_environment()
    if quick:
        print("Small sizes: the bars belong to the full ones.")
    print()
    figures = []

    def show(figure):
        figures.append(figure)
        print(figure.line(), flush=True)

    jobs = (ratios, aggregation, one_kernel, one_kernel_growth, many_kernels, bandit, search)
    for measure in (measure for job in jobs for measure in job.MEASURES):
        with progress(ratios.N_REPEATS, "repeat") as advance:
            measured = measure(quick, advance)
        for figure in measured:
            show(figure)
    if memory or quick:
        for measure in memory_job.MEASURES:
            show(measure(quick))

    print_saved(
        output / "speed.json",
        {"environment": where, "quick": quick, "figures": [figure.numbers() for figure in figures]},
    )
    return 0
