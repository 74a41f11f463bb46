"""Guards against faulty targets: what they cost where nothing is wrong, and what they save.

Each line is a kind of stream, a budget and a ratio: of our loss to that of those who never doubt a
target, of a twin that is told which are faulty, or of one that begins anew. The worst of all seeds
is held against the bar of the line.
"""

import sys

import numpy as np

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, table
from .guards_cases import BUDGETS, KINDS, Sizes, cases
from .guards_models import N_TREES

N_SEEDS = 5
N_ROWS_QUICK = 450


def run(
    output=RESULTS,
    *,
    kinds=KINDS,
    budgets=BUDGETS,
    n_seeds=N_SEEDS,
    n_rows=None,
    only=None,
    quick=False,
):
    """Run the cases, print the lines that lose first, and return the exit status."""
    n_trees = N_TREES
    if quick:
        n_seeds, n_rows, n_trees = 1, min(n_rows or N_ROWS_QUICK, N_ROWS_QUICK), 10
    sizes = Sizes() if n_rows is None else Sizes(*(min(n, n_rows) for n in Sizes()))
    if strange := [kind for kind in kinds if kind not in KINDS]:
        print(f"There is no kind {strange[0]!r}; there are {', '.join(KINDS)}.", file=sys.stderr)
        return 1
    chosen = cases(kinds, budgets, sizes, n_trees=n_trees, kept=output / "guards")
    chosen = [case for case in chosen if not only or only in case.title]
    if quick:
        chosen = list({(case.kind, case.budget): case for case in chosen[::-1]}.values())[::-1]
    if not chosen:
        print("No case is left to run.", file=sys.stderr)
        return 1

    where = print_environment()
    records = []
    with progress(len(chosen) * n_seeds, "run") as advance:
        for case in chosen:
            runs = []
            for seed in range(n_seeds):
                runs.append(run_case(case, seed))
                advance(1, f"{case.title}, {case.budget}")
            records.append({**case._asdict(), "measure": None, "runs": runs})
    lines = lines_of(records)
    print("\n" + lines_table(lines))
    n_missed = sum(not line["holds"] for line in lines)
    print(f"\n{n_missed} of {len(lines)} lines miss their bars. Worst: of {n_seeds} seeds.")
    print(
        "Rival: the better of last value and ridge on X, from the fourth change on; lost: rows at"
    )
    print(
        "the first change. Best rival: of last value, ridge on X and four lags, boosting refitted."
    )
    for record in records:
        del record["measure"]
    settings = {"seeds": n_seeds, "sizes": sizes._asdict(), "trees": n_trees}
    content = {"environment": where, "settings": settings, "lines": lines, "cases": records}
    print_saved(output / "guards.json", content)
    return 0


def run_case(case, seed):
    """Return what one run of a case gives; a run that fails has lost."""
    try:
        with np.errstate(over="ignore"):
            return case.run(seed)
    except Exception as error:
        print(f"{case.title}, {case.budget}, seed {seed}: {error!r}", file=sys.stderr)
        return dict.fromkeys(case.bars, float("inf"))


def lines_of(records):
    """Return a line for each ratio that has a bar, those that lose most first."""
    lines = []
    for record in records:
        for name, bar in record["bars"].items():
            values = np.array([one[name] for one in record["runs"]])
            worst = float(values.max()) if np.isfinite(values).all() else float("inf")
            lines.append(
                {name: record[name] for name in ("kind", "title", "budget")}
                | {"ratio": name, "mean": float(values.mean()), "worst": worst}
                | {"bar": bar, "holds": worst <= bar}
            )
    return sorted(lines, key=lambda line: -line["worst"] / line["bar"])


def lines_table(lines):
    """Return the table of all lines."""
    header = ["stream", "budget", "over", "mean", "worst", "bar", "holds"]
    rows = [
        [line["title"], line["budget"], line["ratio"]]
        + [f"{line[name]:.4g}" for name in ("mean", "worst", "bar")]
        + ["yes" if line["holds"] else "NO"]
        for line in lines
    ]
    return table(header, rows)
