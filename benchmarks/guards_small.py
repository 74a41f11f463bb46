"""Sixty small cases of the job guards, a second or two each, for every change of the package."""

from .guards_cases import (
    CELLS,
    CHANGES,
    EVERYDAY,
    JUMPS,
    SENTINELS,
    SINGLE,
    TAILS,
    Case,
    cell_line,
    change_line,
    everyday_line,
    jump_line,
    sentinel_line,
    single_line,
    tail_line,
)
from .guards_models import FORECASTER

FAST, BALANCED = "fast", "balanced"
N_ROWS = 1200


def small_cases():
    """Return the sixty cases, each to be run on one seed."""
    return [
        Case(kind, title, budget, bars, measure)
        for kind, lines in _lines().items()
        for budget, (title, bars, measure, _) in lines
    ]


def _lines():
    return {
        JUMPS: list(_jumps()),
        EVERYDAY: list(_everyday()),
        SENTINELS: list(_sentinels()),
        SINGLE: list(_singles()),
        CHANGES: list(_changes()),
        CELLS: [
            (FAST, cell_line("table", 0.02, N_ROWS)),
            (BALANCED, cell_line("table", 0.005, N_ROWS)),
            (FAST, cell_line("series", 0.05, N_ROWS)),
        ],
        TAILS: [
            (budget, tail_line(name, N_ROWS))
            for budget, name in (
                (FAST, "t(1.5)"),
                (BALANCED, "Cauchy"),
                (FAST, "Pareto"),
                (FAST, "lognormal"),
                (BALANCED, "intermittent demand"),
                (FAST, "0/1, 5 %"),
            )
        ],
    }


def _jumps():
    for budget, hidden, every, noise in (
        (FAST, True, 30, 0.1),
        (FAST, True, 100, 0.1),
        (BALANCED, True, 100, 0.1),
        (FAST, True, 300, 0.1),
        (BALANCED, True, 30, 1.0),
        (FAST, True, 100, 3.0),
        (FAST, True, 100, 0.01),
        (FAST, False, 30, 0.1),
        (FAST, False, 100, 0.1),
        (BALANCED, False, 100, 0.1),
        (FAST, False, 300, 1.0),
        (FAST, False, 100, 3.0),
    ):
        where = "hidden" if hidden else "a column"
        title = f"setpoints, {where}, every {every}, noise {noise:g}"
        settings = {"every": every, "noise": noise, "hidden": hidden}
        n_rows = max(N_ROWS, 6 * every)
        yield budget, jump_line(title, n_rows, kind="setpoints", **settings)
    for budget, kind in ((FAST, "counter"), (FAST, "walk"), (BALANCED, "price"), (FAST, "loads")):
        yield budget, jump_line(kind, 2400 if kind == "counter" else N_ROWS, kind=kind)


def _everyday():
    for kind in ("meter", "events", "cycles", "saw"):
        yield FAST, everyday_line(kind, N_ROWS)
    for kind in ("meter", "cycles"):
        yield BALANCED, everyday_line(kind, N_ROWS)


def _sentinels():
    for budget, base, value, share in (
        (FAST, "table", -9999.0, 0.01),
        (FAST, "table", -9999.0, 0.2),
        (BALANCED, "table", -9999.0, 0.05),
        (FAST, "table", "low", 0.05),
        (FAST, "table", "low", 0.2),
        (FAST, "table", -9999.0, 0.4),
        (FAST, "series", -9999.0, 0.02),
        (FAST, "series", -9999.0, 0.1),
        (BALANCED, "series", -9999.0, 0.2),
        (FAST, "series", "low", 0.1),
        (FAST, "series", "low", 0.2),
        (FORECASTER, "series", -9999.0, 0.05),
        (FORECASTER, "series", -9999.0, 0.2),
    ):
        yield budget, sentinel_line(base, value, share, N_ROWS)


def _singles():
    for budget, place, delay in (
        (FAST, 0, 0),
        (FAST, 1, 5),
        (BALANCED, 3, 0),
        (FAST, 8, 0),
        (BALANCED, 15, 5),
        (FAST, 33, 0),
        (FAST, 63, 0),
        (FAST, 64, 5),
        (FAST, 512, 0),
        (FAST, 1024, 0),
        (FORECASTER, 5, 0),
    ):
        yield budget, single_line(place, delay)


def _changes():
    for budget, base, kind, size in (
        (FAST, "table", "level", 2.0),
        (FAST, "table", "level", 100.0),
        (FAST, "series", "level", 4.0),
        (FAST, "series", "unit", 1e3),
        (FAST, "table", "sign", 1.0),
    ):
        yield budget, change_line(base, kind, size, N_ROWS)
