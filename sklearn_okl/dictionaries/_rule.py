"""Who enters a dictionary: the contract of entry rules."""

from __future__ import annotations

from .._types import Any


class EntryRule:
    """Base of the rules that let rows into a dictionary, one class per rule.

    A rule holds settings only. What it learns is a state of its own, a dict of arrays and scalars
    that it edits in place; what chance says of rows is drawn for all rows of a block at once, so
    that the cut of the stream into calls changes nothing. Who enters may depend on the rows, never
    on their targets. A rule writes :meth:`first`, and the other verbs where it has a state or
    draws.

    See Also
    --------
    GrowingBasisRegressor : Whose `_rule` returns one.

    Examples
    --------
    The rule that lets in as many rows as there is room for:

    >>> from sklearn_okl.base import EntryRule
    >>> class FirstRows(EntryRule):
    ...     def __init__(self, budget):
    ...         self.budget = budget
    ...
    ...     def first(self, kernel, state, rows, low, drawn):
    ...         return low if len(rows.atoms) < self.budget else len(rows.X)
    """

    def start(self, n_features: int) -> Any:
        """Return the state of the rule before the first row.

        Parameters
        ----------
        n_features : int
            Number d of features.

        Returns
        -------
        dict
            Arrays, scalars and random generators; empty unless a subclass has a state.
        """
        return {}

    def draw(self, state: dict[str, Any], n: int) -> Any:
        """Return what chance says of each of the next rows.

        Parameters
        ----------
        state : dict
            Its own; a generator in it moves on, by as much per row in calls of any length.
        n : int
            Number of rows.

        Returns
        -------
        drawn : object
            Handed to :meth:`first`; None unless a subclass draws.
        """

    def first(self, kernel: Any, state: dict[str, Any], rows: Any, low: int, drawn: Any) -> int:
        """Return the first of the rows from `low` on that enters.

        Parameters
        ----------
        kernel : sklearn_okl.kernels.Kernel
            Its call gives the matrix of kernel values of two arrays of rows, and its ``diagonal``
            the values of rows with themselves.
        state : dict
            The state of the rule, only to be read.
        rows : Rows
            The block of n rows, with the dictionary as it is now.
        low : int
            Where to begin.
        drawn : object
            What :meth:`draw` returned for the block.

        Returns
        -------
        int
            Place of the row in the block, or n if none enters.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say which row enters first.")

    def enter(self, kernel: Any, state: dict[str, Any], x: Any) -> None:
        """Take note that a row enters.

        Parameters
        ----------
        kernel : sklearn_okl.kernels.Kernel
        state : dict
            The state of the rule, to be edited.
        x : ndarray of shape (d,)
            The row.
        """
