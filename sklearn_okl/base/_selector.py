"""The engine of kernel selection under bandit feedback, and its public base on exact kernels."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import inherit_documentation
from .._linalg import aligned_slices
from .._types import Any, Array, Seed
from ._expansions import Expansions, start_expansions
from ._loss import WithLoss
from ._random_rounds import OneForecasts


class BanditRounds(WithLoss, OneForecasts):
    """The rounds of bandit feedback: one kernel drawn, its function asked, and taught alone.

    A subclass has the parameter `loss` and says who draws, and what looks at rows and asks and
    teaches the kernels' functions for the length of a call::

        _sampler(n_kernels) -> Sampler
        _functions(state) -> functions

    The functions have `n_rows`, how many rows to look at at once, and five verbs: ``look_at(X)``;
    ``ask(arm, row)``, which returns a forecast and the squared length of the function's gradient
    there; ``teach(coefficient)``, which moves the function asked last along that; ``values(arm)``,
    the forecasts for all rows looked at; and ``store(state)``.

    The kernel of the next round is drawn at the end of a round and kept in the state, so that
    forecasts are a function of it.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        What is descended and what the kernels are judged by, see :mod:`sklearn_okl.losses`; a
        subclass that has a parameter `quantile` gives it to ``"pinball"``. Classifiers need a loss
        of labels, such as ``"log_loss"``.

    Attributes
    ----------
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.

    Notes
    -----
    *Draws.* The kernel of a round is drawn at the end of the round before, by one random number per
    row, and kept in the state, so that :meth:`predict` is pure and equals what will be forecast.

    *Sampler.* A subclass says who draws, in ``_sampler(n_kernels)``, which returns a
    :class:`Sampler`. It is asked in every call, so it reads the parameters as they are now. A
    selector goes before a shell in the list of bases, ``class MyRegressor(KernelSelector,
    OnlineRegressor)``, or :class:`OnlineClassifier`; so does one on random features.
    """

    def _validate(self):
        super()._validate()
        self._sampler(len(self._kernel_list()))

    def _start(self, n_features, n_targets=None):
        state = super()._start(n_features, n_targets)
        sampler = self._sampler(len(self._kernel_list()))
        law = state["sampler"] = sampler.start()
        state["arm"] = sampler.draw(law, state["rng"].random_sample())
        return state

    @np.errstate(divide="ignore")  # an infinite loss is refused, by the shell, not warned of
    def _learn(self, state, X, y):
        functions, loss = self._functions(state), self._loss()
        law, arm = state["sampler"], state["arm"]
        sampler = self._sampler(len(law["probabilities"]))
        forecasts = np.empty(len(y))
        uniforms = state["rng"].random_sample(len(y))
        for rows in aligned_slices(state["t"], len(y), functions.n_rows):
            functions.look_at(X[rows])
            rounds = zip(y[rows].tolist(), uniforms[rows].tolist(), strict=True)
            for t, (target, uniform) in enumerate(rounds, rows.start):
                forecast, length_sq = functions.ask(arm, t - rows.start)
                slope = float(loss.slope(target, forecast))
                value, gradient_sq = float(loss.value(target, forecast)), slope * slope * length_sq
                functions.teach(-sampler.credit(law, arm, value, gradient_sq) * slope)
                forecasts[t] = forecast
                arm = sampler.draw(law, uniform)
        functions.store(state)
        state.update(t=state["t"] + len(y), arm=arm)
        return forecasts

    def _forecast(self, state, X):
        functions, forecasts = self._functions(state), np.empty(len(X))
        for rows in gen_batches(len(X), functions.n_rows):
            functions.look_at(X[rows])
            forecasts[rows] = functions.values(state["arm"])
        return forecasts


@inherit_documentation
class KernelSelector(BanditRounds):
    """Base of kernel selection under bandit feedback: per round one kernel, drawn at random.

    A round draws one kernel of a dictionary, forecasts with the function of its RKHS, and teaches
    this alone; the loss of the others stays unknown.

    Parameters
    ----------
    radius : float, default=None
        Radius of the ball of its RKHS that a kernel's function is projected onto after each step.
        None: there is no ball.

    Attributes
    ----------
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.

    See Also
    --------
    Sampler : What `_sampler` returns.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    as much memory over all kernels as the rows themselves: every row is kept, once, by the kernel
    that was drawn. What the sampler costs comes on top.

    *Draws.*

    *Sampler.*

    *Subclasses.*

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.base import KernelSelector, OnlineRegressor, Sampler
    >>> from sklearn_okl.datasets import make_ar4
    >>> class EvenSampler(Sampler):
    ...     def __init__(self, n_arms):
    ...         self.n_arms = n_arms
    ...
    ...     def start(self):
    ...         return {"probabilities": np.full(self.n_arms, 1 / self.n_arms)}
    ...
    ...     def credit(self, state, arm, loss, gradient_sq):
    ...         return 0.1
    >>> class EvenRegressor(KernelSelector, OnlineRegressor):
    ...     def _sampler(self, n_kernels):
    ...         return EvenSampler(n_kernels)
    >>> X, y = make_ar4(300)
    >>> model = EvenRegressor(random_state=0).fit(X / 4, y / 4)
    >>> model.probabilities_.round(2)
    array([0.17, 0.17, 0.17, 0.17, 0.17, 0.17])
    >>> int(model.n_support_.sum())
    300
    """

    _shared_test_parameters = {"random_state": 0}

    _parameter_constraints = {
        **BanditRounds._parameter_constraints,
        "radius": [Interval(Real, 0, None, closed="neither"), None],
    }
    _structural = ("radius",)

    def __init__(
        self,
        kernels: Any = None,
        *,
        loss: Any = "squared_error",
        radius: float | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kernels = kernels
        self.loss = loss
        self.radius = radius
        self.random_state = random_state

    @property
    def n_support_(self) -> Array:
        """How many rows each kernel has learnt, of shape (n_kernels,)."""
        return np.array([len(f["coef"]) for f in self._fitted_state("n_support_")["functions"]])

    def _start_functions(self, n_features, source):
        return start_expansions(len(self._kernel_list()), n_features)

    def _functions(self, state):
        return Expansions(self._kernel_list(), state, self.radius)
