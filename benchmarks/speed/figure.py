"""A measured figure and the bar it is held against."""

from statistics import median
from typing import NamedTuple


class Figure(NamedTuple):
    """One line of the report.

    Attributes
    ----------
    name : str
        What was measured.
    values : list of float
        One value a repeat; their median is held against the bar.
    unit : str
        Unit of the values.
    bar : float or None
        The figure that must be reached; None for a line that only informs.
    aim : float or None
        The figure that would be good.
    more_is_better : bool
        Whether values must be at least the bar, or at most.
    note : str
        What else to say in the line.
    """

    name: str
    values: list
    unit: str
    bar: float | None = None
    aim: float | None = None
    more_is_better: bool = False
    note: str = ""

    def passes(self):
        """Tell whether the median reaches the bar; None without a bar."""
        if self.bar is None:
            return None
        middle = median(self.values)
        return middle >= self.bar if self.more_is_better else middle <= self.bar

    def line(self):
        """Return the figure as a line of text."""
        text = f"{self.name:<52} {median(self.values):8.2f} {self.unit:<8}"
        if len(self.values) > 1:
            text += f" ({min(self.values):.2f} to {max(self.values):.2f})"
        if self.bar is not None:
            text += f"  bar {'≥' if self.more_is_better else '≤'} {self.bar:g}"
            text += f", aim {self.aim:g}" if self.aim is not None else ""
            text += "  pass" if self.passes() else "  FAIL"
        return text + (f"  {self.note}" if self.note else "")

    def numbers(self):
        """Return the figure as a dictionary for JSON."""
        return {**self._asdict(), "median": median(self.values), "passes": self.passes()}
