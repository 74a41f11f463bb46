r"""J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large scale online kernel learning" (2016).

NOGD: kernel gradient descent at a cost that does not grow, on the Nyström map of the first rows.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._linalg import aligned_slices
from .._types import Any, Array
from ..base import OneAgainstRestClassifier, OneKernel, OnlineRegressor
from ..base._descent import GradientSteps, descend, descend_columns
from ..base._loss import LABEL_LOSSES, TARGET_LOSSES, LossOfLabels, LossOfTargets
from ..dictionaries._nested import coordinates, dual, span_of
from ..kernels import kernel_of
from ._fourier_descent import _FourierDescent

_BLOCK = 64  # rows learnt at once


@inherit_documentation
@explained_by(_FourierDescent)
class _NystroemDescent(OneKernel, GradientSteps):
    r"""NOGD: what its regressor and its classifier share.

    Until the budget is full the state holds the stored rows and their coefficients, and "basis" is
    None. Then it holds the nested basis of these rows, and theta, the function's coordinates in it.

    Parameters
    ----------
    budget : int, default=400
        B, the number of rows stored, >= 1; the experiments of [2]_ take 400.
    eta0 : float, default=0.1

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Stored rows, in the order in which they came, at most `budget`; once that is full, those of
        them that span the map.
    dual_coef_ : ndarray of shape (n_components,) or (n_components, n_classes)
        Coefficient of each of `components_` in f, badly determined where they nearly depend on
        one another; forecasts do not pass through it. Of more than two classes a column for each.

    References
    ----------
    .. [1] Lu et al. 2016, Algorithm 2.
    .. [2] Li & Liao 2023, section 5.
    """

    _shared_test_parameters = {"budget": 40}

    _parameter_constraints = {
        **OneKernel._parameter_constraints,
        "budget": [Interval(Integral, 1, None, closed="left")],
        **GradientSteps._parameter_constraints,
    }
    _structural = ("budget",)

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        budget: int = 400,
        loss: Any = "log_loss",
        eta0: float = 0.1,
        power_t: float = 0.5,
        radius: float | None = None,
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.budget = budget
        self.loss = loss
        self.eta0 = eta0
        self.power_t = power_t
        self.radius = radius

    @property
    def components_(self) -> Array:
        """Stored rows; once the budget is full, those that span the map."""
        state = self._fitted_state("components_")
        rows = state["rows"] if state["basis"] is None else state["basis"]["atoms"]
        return rows.copy()

    @property
    def dual_coef_(self) -> Array:
        """Coefficient of each of `components_`; a column for each of more than two classes."""
        state = self._fitted_state("dual_coef_")
        if state["basis"] is None:
            return state["coef"].copy()
        return dual(state["basis"], state["theta"].T)

    def _start(self, n_features, n_targets=None):
        targets = () if n_targets is None else (n_targets,)
        return {
            "t": 0,
            "rows": np.empty((0, n_features)),
            "coef": np.empty((0, *targets)),
            # squared norm of the function, until the budget is full
            "norm_sq": 0.0 if n_targets is None else np.zeros(n_targets),
            "basis": None,
            "theta": np.empty((*targets, 0)),
        }

    def _learn(self, state, X, y):
        kernel, forecasts = kernel_of(self), np.empty(y.shape)
        for block in aligned_slices(state["t"], len(y), _BLOCK):
            low = block.start
            while low < block.stop:  # once more after the row that fills the budget
                rows = slice(low, block.stop)
                if state["basis"] is None:
                    learnt = self._learn_exactly(kernel, state, X[rows], y[rows])
                else:
                    Phi = coordinates(kernel, state["basis"], X[rows])[0]
                    learnt = self._learn_features(state, Phi, y[rows])
                forecasts[low : low + len(learnt)] = learnt
                low += len(learnt)
        return forecasts

    def _learn_exactly(self, kernel, state, X, y):
        """Learn rows, or the first of them until the budget is full; return their forecasts."""
        room = self.budget - len(state["coef"])
        gram, before = kernel(X, X), kernel(X, state["rows"]) @ state["coef"]
        loss, n, steps = self._loss(), len(y), descend if y.ndim == 1 else descend_columns
        while True:
            etas, norm_sq = self._step_sizes(state["t"], n), state["norm_sq"]
            learnt = steps(gram[:n, :n], before[:n], y[:n], loss, etas, self.radius, norm_sq)
            # a slope of 0, for all classes, takes no place in the budget
            stored = np.flatnonzero(learnt.coef.reshape(n, -1).any(axis=1))
            if len(stored) <= room:
                break
            n = int(stored[room - 1]) + 1  # the budget is full after this row
        state["rows"] = np.vstack([state["rows"], X[stored]])
        state["coef"] = np.concatenate([learnt.left * state["coef"], learnt.coef[stored]])
        state["norm_sq"] = learnt.norm_sq
        state["t"] += n
        if len(stored) == room:
            state["basis"], Phi = span_of(kernel, state["rows"])
            state["theta"] = state["coef"].T @ Phi  # the same function
            state["rows"], state["coef"] = state["rows"][:0].copy(), state["coef"][:0].copy()
        return learnt.forecasts

    def _forecast(self, state, X):
        kernel, forecasts = kernel_of(self), np.empty((len(X), *state["coef"].shape[1:]))
        for rows in gen_batches(len(X), _BLOCK):
            if state["basis"] is None:
                forecasts[rows] = kernel(X[rows], state["rows"]) @ state["coef"]
            else:
                Phi = coordinates(kernel, state["basis"], X[rows])[0]
                forecasts[rows] = Phi @ state["theta"].T
        return forecasts


@inherit_documentation
class NOGDRegressor(LossOfTargets, _NystroemDescent, OnlineRegressor):
    r"""Nyström online gradient descent: exact until a budget of rows is full, then on their map.

    Until B rows are stored it is kernel gradient descent, :math:`f_{t+1} = f_t
    - \eta_t \ell'(f_t(x_t)) k(x_t, \cdot)`. Then z is the Nyström map of these rows, w the
    coefficients of the same function in it, and [1]_

    .. math:: \hat y_t = w_t^T z(x_t) , \qquad w_{t+1} = w_t - \eta_t \ell'(\hat y_t) z(x_t) .

    See Also
    --------
    NOGDClassifier : The same for labels.
    KOGDRegressor : Exact for good, at a cost that grows.
    FOGDRegressor : Random features, cheaper per round.

    Notes
    -----
    *Cost.* O(J d) per round with J < B rows stored, O(B^3) once when the budget is full, from then
    on O(B d + B^2) per round and as much memory, which no longer grows. 64 rows meet the stored
    ones in one product and one triangular solve; the square loss without a ball learns them in one
    more, anything else goes row by row on their inner products.

    *Theorem.* For the constant step :math:`\eta`, convex losses, and any u in the span of the rows
    stored in the end, over the whole stream,

    .. math:: \sum_t \ell_t(f_t(x_t)) - \sum_t \ell_t(u(x_t))
              \le \frac{\|u\|_H^2}{2 \eta} + \frac{\eta}{2} \sum_t \ell_t'(f_t(x_t))^2 k(x_t, x_t) ,

    as the steps before the budget is full lie in that span, and those after it are projected onto
    it. A rival outside costs besides what the span cannot follow, which [1]_ bounds.

    *Departures.* [1]_ keeps the k largest of the B eigenvalues of the stored rows' kernel matrix;
    here all are kept, so that the change to the map leaves the function as it is. A row whose
    slope is 0 is not stored, as in [1]_. A stored row within :math:`10^{-5} \sqrt{k(x, x)}` of the
    span of those before it fills its place in the budget but gets no coordinate; of what it added
    to the function the projection stays. The map is the nested Cholesky basis, whose forecasts are
    those of any other basis of the same span. The default step decays; without a `radius` the
    theorem is for the constant one.

    *First step.* On the rows of the notes of :class:`FOGDRegressor` 0.9 in place of the default
    raises R² from 0.20 to 0.73, and from 0.36 to 0.75.

    The square loss diverges while :math:`\eta_t k(x_t, x_t)` stays above 1: scale the features for
    a polynomial kernel, or take a smaller `eta0`.

    Examples
    --------
    >>> from sklearn_okl import NOGDRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(2000)
    >>> model = NOGDRegressor("rbf", 0.1, budget=50, eta0=0.5)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.components_.shape
    (50, 4)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    """

    _test_parameters = (
        {"eta0": 0.7},
        {"gamma": 0.02, "eta0": 2.0, "loss": "absolute_error", "radius": 20.0},
    )

    _parameter_constraints = {
        **_NystroemDescent._parameter_constraints,
        **TARGET_LOSSES,
    }
    _poor_score = True  # the default step is short for one pass over a few hundred rows

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        budget: int = 400,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        eta0: float = 0.1,
        power_t: float = 0.5,
        radius: float | None = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma,
            degree=degree,
            coef0=coef0,
            budget=budget,
            loss=loss,
            eta0=eta0,
            power_t=power_t,
            radius=radius,
        )
        self.quantile = quantile


@inherit_documentation
class NOGDClassifier(LossOfLabels, _NystroemDescent, OneAgainstRestClassifier):
    r"""Nyström online gradient descent for classes: exact until a budget of rows is full.

    Until B rows are stored it is kernel gradient descent on the decision function,
    :math:`f_{t+1} = f_t - \eta_t \ell'(f_t(x_t)) k(x_t, \cdot)` with labels :math:`\pm 1`. Then z
    is the Nyström map of these rows, w the coefficients of the same function in it, and [1]_

    .. math:: f_t(x_t) = w_t^T z(x_t) , \qquad w_{t+1} = w_t - \eta_t \ell'(f_t(x_t)) z(x_t) .

    Each of C > 2 classes has a function of its own, and is +1 against all others, which are -1; the
    stored rows and their map are the same, and the label forecast is that of the largest decision
    value.

    See Also
    --------
    NOGDRegressor : The same for numbers.
    FOGDClassifier : Random features, cheaper per round.

    Notes
    -----
    *Cost.* O(J d) per round with J < B rows stored, O(B^3) once when the budget is full, from then
    on O(B d + B^2) per round and as much memory, which no longer grows. 64 rows meet the stored
    ones in one product and one triangular solve; the steps are taken row by row on their inner
    products. C > 2 classes add O(B C). With the hinge losses a row whose margin is 1 or more, for
    all classes, takes no step and no place in the budget.

    *Theorem.* That of :class:`NOGDRegressor`, for each class. The hinge loss is at least 1 where
    the label is wrong, and the sum of those of more than two classes at least 2, so that with it
    the theorem bounds the number of mistakes.

    *Departures.* Those of :class:`NOGDRegressor`; and [1]_ has two classes and the hinge loss. More
    share one budget: a row is stored if any class steps. With ``"log_loss"`` every row steps, and
    each class is the model of two classes that it would be alone; with the hinge losses it may lack
    rows that it would have stored alone, and use others.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import NOGDClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 0.6, "inside", "outside")
    >>> model = NOGDClassifier("rbf", 2.0, budget=50, eta0=2.0)
    >>> labels = model.prequential_predict(X, y)  # each made before its own was seen
    >>> bool((labels == y).mean() > 0.9)
    True
    >>> len(model.components_) <= 50
    True
    """

    _test_parameters = (
        {"eta0": 0.9},
        {"eta0": 0.9, "loss": "hinge"},
        {"eta0": 0.9, "loss": "squared_hinge", "radius": 20.0},
    )

    _parameter_constraints = {
        **_NystroemDescent._parameter_constraints,
        **LABEL_LOSSES,
    }
