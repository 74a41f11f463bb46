"""The published figures of the job default, and what it prints beside them."""

from typing import NamedTuple

import numpy as np

from ._report import table
from .published import figures


class Published(NamedTuple):
    """The best published figure: MSE x 10^3 or mistakes in percent, who reached it, and where."""

    figure: float
    system: str
    source: str
    permuted: bool  # or in the order of the file
    classes: bool = False


PUBLISHED = {
    row["data"]: Published(
        *(row[column] for column in ("figure", "system", "source")),
        permuted=row["order"] == "permuted",
        classes=row["kind"] == "classes",
    )
    for row in figures("best")
}


def missed(cells):
    """Say which runs of the default are behind the published figure."""
    return [
        f"{cell['line']} on {cell['data']} ({cell['ratio']:.3f})"
        for cell in cells
        if ":" not in cell["line"] and cell["ratio"] > 1.0
    ]


def figures_table(cells, budgets):
    """Return the table of figures and times, a row a set."""
    names = list(dict.fromkeys(cell["data"] for cell in cells))
    lines = [*budgets, *dict.fromkeys(c["line"] for c in cells if c["line"] not in budgets)]
    found = {(cell["data"], cell["line"]): cell for cell in cells}
    rows = []
    for name in names:
        best = PUBLISHED[name]
        row = [name, f"{best.figure:g} {best.system}"]
        for line in lines:
            cell = found.get((name, line))
            row.append("" if cell is None else _cell(cell))
        row += [f"{found[name, budget]['milliseconds']:.3f}" for budget in budgets]
        rows.append(row)
    return table(["set", "published", *lines, *(f"ms {budget}" for budget in budgets)], rows)


def _cell(cell):
    figure = np.mean(cell["figures"])
    return f"{figure:.3g} ({cell['ratio']:.3f})" if figure < 1e4 else "diverged"


def _line(label, values):
    mean = np.exp(np.mean(np.log(values)))
    return [label, *(f"{value:.3f}" for value in values), f"{mean:.3f}"]


def synthetic_table(ratios):
    """Return the table of other constants on made streams."""
    rows = [_line(choice, list(found.values())) for choice, found in ratios.items()]
    return table(["made streams", *next(iter(ratios.values())), "mean"], rows)


def choice_table(ratios, chosen, names):
    """Return the table of other constants, and what is chosen without each set."""
    rows = [_line(choice, [found[name] for name in names]) for choice, found in ratios.items()]
    rows.append(_line("left one out", [ratios[chosen[name]][name] for name in names]))
    text = table(["ratios, balanced", *names, "mean"], rows)
    picked = ", ".join(f"{name}: {choice}" for name, choice in chosen.items())
    return f"{text}\nChosen without the set: {picked}."
