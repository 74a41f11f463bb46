"""The growing-basis engine: online Newton steps on coordinates in a dictionary that grows."""

import numpy as np
from sklearn.utils import gen_batches

from ..dictionaries._nested import CLOSE, coordinates, dual, grow_basis, start_basis
from ..kernels import KERNEL_CONSTRAINTS, KERNEL_STRUCTURE, kernel_of
from ._regressor import OnlineRegressor

_BLOCK = 128  # rows tested in one product
_DEPENDENT = 1e-10  # a row that leaves less of its size outside the span adds no coordinate


class GrowingBasisRegressor(OnlineRegressor):
    r"""Base of the regressors that take online Newton steps on a dictionary of rows that grows.

    A dictionary of J rows gives every row J orthonormal coordinates in the span of their kernel
    functions, on which :class:`~sklearn_okl.ONSRegressor` learns. A row that enters appends a
    coordinate and leaves the others. A subclass says who enters, who learns, and, where it is not
    as below, what an entry does::

        _rule() -> EntryRule       who enters the dictionary
        _newton() -> ONSRegressor  the learner on the coordinates
        _admit(rows, i)            what happens when row i of a block enters

    These are asked in every call, so they read the parameters as they are now. `_admit` is written
    in the words of :class:`Rows`. The one here forecasts and learns the row in the old basis, then
    adds the row and carries over what was learnt.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel, by its name, as an object or as a callable, which gets two arrays of rows and
        returns their matrix, see :mod:`sklearn_okl.kernels`.
    gamma : float, default=None
        Its bandwidth; None is ``1 / n_features``, or that of the object.
    degree : int, default=3
        Degree of ``"poly"``, >= 1. Other kernels do not read it.
    coef0 : float, default=1.0
        Constant of ``"poly"``, >= 0. Other kernels do not read it.

    Attributes
    ----------
    components_ : ndarray of shape (J, n_features)
        The dictionary: rows whose kernel functions span the hypotheses.
    dual_coef_ : ndarray of shape (J,)
        Coefficient of each kernel function, before clipping.

    See Also
    --------
    EntryRule : What `_rule` returns.
    Rows : What `_admit` gets.

    Notes
    -----
    *Cost.* :math:`O(d J + J^2)` per round for a dictionary of J rows, and what the rule costs. Rows
    are tested in blocks of at most 128; those before the first that enters are learnt at once, the
    basis grows, the rest of the block gets its new coordinate, and so on. The model grows with its
    dictionary.

    A subclass with parameters of its own names those it takes in its ``__init__`` and hands them to
    this one; those that it does not name keep their defaults.

    Examples
    --------
    >>> from sklearn_okl import ONSRegressor
    >>> from sklearn_okl.base import EntryRule, GrowingBasisRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> class FirstRows(EntryRule):
    ...     def __init__(self, budget):
    ...         self.budget = budget
    ...
    ...     def first(self, kernel, state, rows, low, drawn):
    ...         return low if len(rows.atoms) < self.budget else len(rows.X)
    >>> class FirstRowsNewtonRegressor(GrowingBasisRegressor):
    ...     def __init__(self, gamma=0.05, budget=20):
    ...         super().__init__(gamma=gamma)
    ...         self.budget = budget
    ...
    ...     def _rule(self):
    ...         return FirstRows(self.budget)
    ...
    ...     def _newton(self):
    ...         return ONSRegressor(1.0, radius=5.0)
    >>> X, y = make_ar4(300)
    >>> model = FirstRowsNewtonRegressor().fit(X, y)
    >>> model.components_.shape, model.dual_coef_.shape
    ((20, 4), (20,))
    """

    _parameter_constraints = KERNEL_CONSTRAINTS
    _structural = KERNEL_STRUCTURE

    def __init__(self, kernel="rbf", gamma=None, *, degree=3, coef0=1.0):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    @property
    def components_(self):
        """The rows whose kernel functions span the hypotheses, of shape (J, n_features)."""
        return self._fitted_state("components_")["basis"]["atoms"].copy()

    @property
    def dual_coef_(self):
        """Coefficient of each kernel function before clipping, of shape (J,)."""
        state = self._fitted_state("dual_coef_")
        return dual(state["basis"], state["newton"]["theta"])

    def _validate(self):
        super()._validate()
        kernel_of(self)

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "basis": start_basis(n_features),
            "rule": self._rule().start(n_features),
            "newton": self._newton()._start(0),
        }

    def _admit(self, rows, i):
        rows.learn(i + 1)
        if rows.grow(i):
            rows.carry()

    def _learn(self, state, X, y):
        kernel, rule, newton = kernel_of(self), self._rule(), self._newton()
        forecasts = np.empty(len(y))
        low = 0
        while low < len(y):
            # Blocks end where the stream's own count is a multiple of their length, so that most
            # ways of cutting a stream lead through the very same blocks.
            block = slice(low, low + _BLOCK - state["t"] % _BLOCK)
            rows = Rows(kernel, newton, state, X[block], y[block])
            n = len(rows.y)
            drawn = rule.draw(state["rule"], n)
            tested = 0
            while tested < n:
                i = rule.first(kernel, state["rule"], rows, tested, drawn)
                if i < n:
                    self._admit(rows, i)
                    rule.enter(kernel, state["rule"], rows.X[i])
                tested = i + 1
            rows.learn(n)
            forecasts[low : low + n] = rows.forecasts
            state["t"] += n
            low += n
        return forecasts

    def _close(self, state, grows=False):
        self._newton()._close(state["newton"], grows)

    def _forecast(self, state, X):
        kernel, newton = kernel_of(self), self._newton()
        forecasts = np.empty(len(X))
        for block in gen_batches(len(X), _BLOCK):
            Phi, _ = coordinates(kernel, state["basis"], X[block])
            forecasts[block] = newton._forecast(state["newton"], Phi)
        return forecasts


class Rows:
    """A block of n rows on its way through the rounds, and what an entry can do to them.

    :class:`GrowingBasisRegressor` makes them, and hands them to its `_admit` and to its rule.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    y : ndarray of shape (n,)
        Their targets.
    atoms : ndarray of shape (J, d)
        Rows in the dictionary as it is now.
    distances : ndarray of shape (n,)
        Squared distances of the rows' kernel functions to the span of the dictionary as it is now.
    forecasts : ndarray of shape (n,)
        Of the rows learnt so far.

    See Also
    --------
    EntryRule : Which finds the row that enters.
    """

    def __init__(self, kernel, newton, state, X, y):
        self.X, self.y, self.basis = X, y, state["basis"]
        self.forecasts = np.empty(len(y))
        self._kernel, self._newton, self._state = kernel, newton, state
        self._coordinates, self.distances = coordinates(kernel, self.basis, X)
        self._learnt = 0

    @property
    def atoms(self):
        """Rows in the dictionary as it is now, of shape (J, d)."""
        return self.basis["atoms"]

    def learn(self, stop):
        """Forecast and learn all rows before `stop`, in the basis as it is now.

        Parameters
        ----------
        stop : int
            Place in the block; rows learnt before are not learnt again.
        """
        rows = slice(self._learnt, stop)
        if rows.start < stop:
            self.forecasts[rows] = self._newton._learn(
                self._state["newton"], self._coordinates[rows], self.y[rows]
            )
            self._learnt = stop

    def project(self, i):
        """Project the weights onto those whose forecast for row i is within the radius.

        Parameters
        ----------
        i : int
            Place of the row in the block.
        """
        self._newton._project(self._state["newton"], self._coordinates[i])

    def grow(self, i):
        """Add row i to the dictionary, unless it lies in the span up to rounding.

        What was learnt is then in a basis too small: :meth:`carry` or :meth:`restart` follows.

        Parameters
        ----------
        i : int
            Place of the row in the block.

        Returns
        -------
        bool
            Whether it was added.
        """
        x = self.X[i : i + 1]
        distance, least = self.distances[i], _DEPENDENT * self._kernel.diagonal(x)[0]
        if distance <= least + CLOSE:  # too near to say, so away from the block's rounding
            distance = coordinates(self._kernel, self.basis, x)[1][0]
        if not distance > least:
            return False
        row = grow_basis(self._kernel, self.basis, x[0])
        values = self._kernel(self.X, x)[:, 0]
        # not by row[-1]: the pivot is a little larger, see `grow_basis`
        added = (values - self._coordinates @ row[:-1]) / self.basis["factor"][-1, -1]
        self._coordinates = np.column_stack([self._coordinates, added])
        self.distances = np.maximum(self.distances - added**2, 0.0)
        return True

    def restart(self):
        """Forget what was learnt: A = mu I and w = 0, in the basis as it is now.

        The row that enters must have been learnt before, as `predict` cannot know that it will.
        """
        size = len(self.basis["atoms"])
        self._state["newton"] = self._newton._start(size)

    def carry(self):
        """Take over what was learnt into a basis that has grown by one."""
        self._newton._grow(self._state["newton"])
