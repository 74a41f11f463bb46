"""Fields of rows that begin as gaps and turn out to be dates, which take columns of their own."""

from datetime import date

import numpy as np

from ..features._columns import is_missing
from ._fields import kept

_MOST = 256  # first rows that are learnt once more where a field of gaps turns out to hold dates
_START = {"unseen": None, "dates": [], "days": [], "rows": []}


class Gaps:
    """What is known of fields: which were gaps in each row so far, and which hold dates.

    Parameters
    ----------
    known : dict or None
        What `after` returned of the latest row; None before the first one.
    fields : list of str
        The names of all.
    """

    def __init__(self, known, fields):
        self.known, self.fields = known or _START, fields
        self.unseen = fields if self.known["unseen"] is None else self.known["unseen"]

    def new_dates(self, x):
        """Return the fields in which a row shows the first dates."""
        return [name for name in self.unseen if _is_date(x.get(name))]

    def turned(self, names, how):
        """Return what is known where some fields hold "dates", or dates that are to be "days"."""
        unseen = [name for name in self.unseen if name not in names]
        return self.known | {"unseen": unseen, how: self.known[how] + names}

    def filled(self, values):
        """Return the values of a row with dates that are missing, or days, where fields ask so."""
        if not (self.known["dates"] or self.known["days"]):
            return values
        import pandas as pd

        values = dict(zip(self.fields, values, strict=True))
        for name in self.known["dates"]:
            values[name] = pd.NaT if values[name] is None else values[name]
        for name in self.known["days"]:
            if _is_date(values[name]):
                moment = pd.Timestamp(values[name]).tz_localize(None) - pd.Timestamp(0)
                values[name] = moment / pd.Timedelta(days=1)
        return list(values.values())

    def rows(self):
        """Return the first rows, with their keys and targets, as they came."""
        return [[_with_dates(x), key, target] for x, key, target in self.known["rows"]]

    def may_begin_anew(self, n_learnt):
        """Tell whether all rows learnt so far are at hand."""
        return len(self.known["rows"]) == n_learnt

    def after(self, n_learnt, x, key, target):
        """Return what is known once a row is learnt, after as many others."""
        unseen = [name for name in self.unseen if is_missing(x.get(name))]
        dates = [name for name in self.new_dates(x) if name not in self.known["days"]]
        rows = self.known["rows"]
        is_kept = unseen and self.may_begin_anew(n_learnt) and n_learnt < _MOST
        return self.known | {
            "unseen": unseen,
            "dates": self.known["dates"] + dates,
            "rows": [*rows, [_written(kept(x)), key, target]] if is_kept else [],
        }


def are_gaps(known, fields):
    """Tell whether what is known of fields may be so, as that of a file."""
    if not isinstance(known, dict) or known.keys() != _START.keys():
        return False
    names = [known[part] for part in ("unseen", "dates", "days")]
    return (
        all(isinstance(part, list) and set(part) <= set(fields) for part in names)
        and isinstance(known["rows"], list)
        and all(isinstance(row, list) and len(row) == 3 for row in known["rows"])
    )


def _written(x):
    """Return a row as files take it without trust: a date is a list of one text, its wall time."""
    import pandas as pd

    dates = {name: pd.Timestamp(value) for name, value in x.items() if _is_date(value)}
    return x | {name: [date.tz_localize(None).isoformat()] for name, date in dates.items()}


def _with_dates(x):
    import pandas as pd

    texts = {name: value for name, value in x.items() if isinstance(value, list)}
    return x | {name: pd.Timestamp(*text) for name, text in texts.items()}


def _is_date(value):
    return isinstance(value, (date, np.datetime64)) and not is_missing(value)
