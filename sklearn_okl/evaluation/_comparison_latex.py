"""The means of a comparison as a table of LaTeX."""

import numpy as np

_DIGITS = 4  # significant ones of the smallest mean in a column
_MOST_DECIMALS = 8
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def latex_table(means, deviations, best, models, streams, decimals):
    r"""Return a ``tabular`` with a row for each model and a column for each stream.

    Parameters
    ----------
    means : ndarray of shape (n_streams, n_models)
        What is shown; a mean that is not finite is a dash.
    deviations : ndarray of shape (n_streams, n_models)
        What stands after the ±; NaN for nothing.
    best : ndarray of shape (n_streams,)
        The best of the means of each stream, bold with all that look the same.
    models : list of str
        Names of the rows.
    streams : list of str
        Names of the columns.
    decimals : int or None
        Digits after the point, None by the size of the means in each column.
    """
    columns = []
    for mean, deviation, top in zip(means, deviations, best, strict=True):
        places = _decimals(mean) if decimals is None else decimals
        cells = zip(mean, deviation, strict=True)
        columns.append([_cell(*cell, places, f"{top:.{places}f}") for cell in cells])
    rows = zip(models, zip(*columns, strict=True), strict=True)
    lines = [
        "% needs the package booktabs",
        rf"\begin{{tabular}}{{l{'r' * len(streams)}}}",
        r"\toprule",
        " & ".join(["", *map(_escaped, streams)]) + r" \\",
        r"\midrule",
        *(" & ".join([_escaped(model), *cells]) + r" \\" for model, cells in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _escaped(name):
    return "".join(_ESCAPES.get(character, character) for character in name)


def _decimals(means):
    sizes = np.abs(means[np.isfinite(means) & (means != 0)])
    if len(sizes) == 0:
        return 0
    return int(np.clip(_DIGITS - 1 - np.floor(np.log10(sizes.min())), 0, _MOST_DECIMALS))


def _cell(mean, deviation, decimals, best):
    if not np.isfinite(mean):
        return "--"
    number = f"{mean:.{decimals}f}"
    number = rf"\mathbf{{{number}}}" if number == best else number
    spread = rf" \pm {deviation:.{decimals}f}" if np.isfinite(deviation) else ""
    return f"${number}{spread}$"
