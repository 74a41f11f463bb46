"""The means of a comparison as a table of LaTeX or of Markdown."""

import numpy as np

_DIGITS = 4  # significant ones of the smallest mean in a column
_MOST_DECIMALS = 8
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex_table(means, deviations, best, models, streams, decimals, note):
    r"""Return a ``tabular`` with a row for each model and a column for each stream.

    Parameters
    ----------
    means : ndarray of shape (n_streams, n_models)
        What is shown; a mean that is not finite is a dash.
    deviations : ndarray of shape (n_streams, n_models)
        What stands after the ±; NaN for nothing.
    best : ndarray of shape (n_streams,)
        The best of the means of each stream, bold with all that look the same.
    models, streams : lists of str
        Names of the rows, and of the columns.
    decimals : int or None
        Digits after the point, None by the size of the means in each column.
    note : str or None
        What is named beside the numbers.
    """
    note = "" if note is None else f"; {note}"
    rows = _rows(means, deviations, best, decimals, _cell)
    lines = [
        f"% needs the package booktabs{note}",
        rf"\begin{{tabular}}{{l{'r' * len(streams)}}}",
        r"\toprule",
        " & ".join(["", *map(_escaped, streams)]) + r" \\",
        r"\midrule",
        *(
            " & ".join([_escaped(model), *cells]) + r" \\"
            for model, cells in zip(models, rows, strict=True)
        ),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def markdown_table(means, deviations, best, models, streams, decimals, note):
    """Return the same as a table of Markdown, with the note below it."""
    rows = _rows(means, deviations, best, decimals, _plain_cell)
    lines = [["", *streams], ["---", *["---:"] * len(streams)]]
    lines += [[model, *cells] for model, cells in zip(models, rows, strict=True)]
    table = ["| " + " | ".join(line) + " |" for line in _without_bars(lines)]
    return "\n".join([*table, *([] if note is None else ["", f"{note[0].upper()}{note[1:]}."])])


def _without_bars(lines):
    return [[cell.replace("|", r"\|") for cell in line] for line in lines]


def _rows(means, deviations, best, decimals, cell):
    """Return the cells of each model: a tuple with one for each stream."""
    columns = []
    for mean, deviation, top in zip(means, deviations, best, strict=True):
        places = _decimals(mean) if decimals is None else decimals
        cells = zip(mean, deviation, strict=True)
        columns.append([cell(*numbers, places, f"{top:.{places}f}") for numbers in cells])
    return zip(*columns, strict=True)


def _escaped(name):
    return "".join(_ESCAPES.get(character, character) for character in name)


def _decimals(means):
    sizes = np.abs(means[np.isfinite(means) & (means != 0)])
    if len(sizes) == 0:
        return 0
    return int(np.clip(_DIGITS - 1 - np.floor(np.log10(sizes.min())), 0, _MOST_DECIMALS))


def _plain_cell(mean, deviation, decimals, best):
    if not np.isfinite(mean):
        return "–"
    number = f"{mean:.{decimals}f}"
    number = f"**{number}**" if number == best else number
    return f"{number} ± {deviation:.{decimals}f}" if np.isfinite(deviation) else number


def _cell(mean, deviation, decimals, best):
    if not np.isfinite(mean):
        return "--"
    number = f"{mean:.{decimals}f}"
    number = rf"\mathbf{{{number}}}" if number == best else number
    spread = rf" \pm {deviation:.{decimals}f}" if np.isfinite(deviation) else ""
    return f"${number}{spread}$"
