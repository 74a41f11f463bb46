"""The growing-basis engine: online Newton steps on coordinates in a dictionary that grows."""

from __future__ import annotations

import numpy as np
from sklearn.utils import gen_batches

from .._documentation import inherit_documentation
from .._types import Array
from ..dictionaries._growth import growth
from ..dictionaries._nested import coordinates, dual, start_basis
from ..kernels import kernel_of
from ._one_kernel import OneKernel
from ._regressor import OnlineRegressor

_BLOCK = 128  # rows forecast in one product


@inherit_documentation
class GrowingBasisRegressor(OneKernel, OnlineRegressor):
    r"""Base of the regressors that take online Newton steps on a dictionary of rows that grows.

    A dictionary of J rows gives every row J orthonormal coordinates in the span of their kernel
    functions, on which :class:`~sklearn_okl.ONSRegressor` learns. A row that enters appends a
    coordinate and leaves the others. A subclass says who enters, who learns, and, where it is not
    as below, what the learner does about an entry::

        _rule() -> EntryRule                           who enters the dictionary
        _newton() -> ONSRegressor                      the learner on the coordinates
        _admit(newton, learnt, phi, y) -> forecasts    what the learner does about an entry

    The first two read the parameters, and are asked again when these have changed. `_admit`
    gets the learner, its state `learnt`, to be edited, and the row's coordinates phi (1, J + 1) in
    the basis that has it, with its target y (1,): ``phi[:, :-1]`` are those in the basis without.
    The state is to have one coordinate more afterwards. What it returns is the forecast of the row,
    or nothing: then the row is learnt in the new basis, with those after it. The one here forecasts
    and learns the row in the old basis, then carries over what was learnt.

    Attributes
    ----------
    components_ : ndarray of shape (J, n_features)
        The dictionary: rows whose kernel functions span the hypotheses.
    dual_coef_ : ndarray of shape (J,)
        Their coefficients, before the projection that the next row will ask for.

    See Also
    --------
    EntryRule : What `_rule` returns.

    Notes
    -----
    *Cost.* :math:`O(d J + J^2)` per round for a dictionary of J rows, and what the rule costs. Rows
    are tested in blocks of at most 128; those before the first that enters are learnt at once, the
    basis grows, the rest of the block gets its new coordinate, and so on. The model grows with its
    dictionary.

    *Subclasses.*

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

    @property
    def components_(self) -> Array:
        """The rows whose kernel functions span the hypotheses, of shape (J, n_features)."""
        return self._fitted_state("components_")["basis"]["atoms"].copy()

    @property
    def dual_coef_(self) -> Array:
        """Coefficient of each kernel function before clipping, of shape (J,)."""
        state = self._fitted_state("dual_coef_")
        return dual(state["basis"], state["newton"]["theta"])

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "basis": start_basis(n_features),
            "rule": self._rule().start(n_features),
            "newton": self._newton()._start(0),
        }

    def _admit(self, newton, learnt, phi, y):
        forecasts = newton._learn(learnt, phi[:, :-1], y)
        newton._grow(learnt)
        return forecasts

    def _learn(self, state, X, y):
        rule, newton, learnt = self._rule(), self._built(type(self)._newton), state["newton"]
        forecasts = np.empty(len(y))
        stretches = growth(kernel_of(self), rule, state["rule"], state["basis"], X, state["t"])
        for stretch in stretches:
            low, high, Phi = stretch.rows.start, stretch.rows.stop, stretch.coordinates
            if Phi.shape[1] > len(learnt["theta"]):
                first = self._admit(newton, learnt, Phi[:1], y[low : low + 1])
                forecasts[low : low + len(first)] = first
                low, Phi = low + len(first), Phi[len(first) :]
            if low < high:
                forecasts[low:high] = newton._learn(learnt, Phi, y[low:high])
        state["t"] += len(y)
        return forecasts

    def _close(self, state, grows=False):
        self._built(type(self)._newton)._close(state["newton"], grows)

    def _forecast(self, state, X):
        kernel, newton = kernel_of(self), self._newton()
        forecasts = np.empty(len(X))
        for block in gen_batches(len(X), _BLOCK):
            Phi, _ = coordinates(kernel, state["basis"], X[block])
            forecasts[block] = newton._forecast(state["newton"], Phi)
        return forecasts
