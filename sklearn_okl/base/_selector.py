"""The engine of kernel selection on exact kernels: rounds of one kernel drawn at random."""

from math import sqrt
from numbers import Real

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval

from ..feedback._bandits import draw_arm
from ..kernels import kernel_list, shift_invariant_kernel
from ..losses import get_loss

# The experiments' six Gaussians: gamma = 1 / (2 sigma^2) for sigma = 2^-2, ..., 2^3.
BANDIT_KERNELS = {"kernel": ["rbf"], "gamma": [2.0 ** (-2 * j - 1) for j in range(-2, 4)]}

_TILE = 256  # rows to forecast for that meet the stored ones at once
_FEWEST = 64  # rows that there is room for from the start


class KernelDraws:
    """What selectors of kernels share, exact or on features: the dictionary, the loss, the draws.

    A subclass has the parameters `kernels`, `loss` and `random_state`, and says in
    ``_sampler(n_kernels)`` who draws.
    """

    _poor_score = True  # the kernel is random

    @property
    def probabilities_(self):
        """Law from which `kernel_index_` was drawn, of shape (n_kernels,)."""
        return self._fitted_state("probabilities_")["sampler"]["probabilities"].copy()

    @property
    def kernel_index_(self):
        """Int : index of the kernel that makes the next forecast."""
        return self._fitted_state("kernel_index_")["arm"]

    @property
    def kernels_(self):
        """Parameters of each kernel."""
        self._fitted_state("kernels_")
        return self._as_taught()._kernel_list()

    def _kernel_list(self):
        return kernel_list(BANDIT_KERNELS if self.kernels is None else self.kernels)

    def _loss(self):
        return get_loss(self.loss, getattr(self, "quantile", 0.5))

    def _validate(self):
        super()._validate()
        kernels = self._kernel_list()
        if any("alpha" in kernel for kernel in kernels):
            raise ValueError(
                f"The grid of kernels has the key 'alpha', a ridge, which {type(self).__name__} "
                "does not have. Leave it out."
            )
        self._sampler(len(kernels))

    def _start_draws(self, source):
        """Return the part of a first state that says who draws, from a RandomState."""
        # A generator of our own: the user's may be shared, and is not ours to copy.
        rng = np.random.RandomState(source.randint(2**31 - 1))
        law = self._sampler(len(self._kernel_list())).start()
        return {
            "t": 0,
            "rng": rng,
            "sampler": law,
            "arm": draw_arm(law, rng.random_sample()),
        }


class KernelSelector(KernelDraws):
    """Base of kernel selection under bandit feedback: per round one kernel, drawn at random.

    A round draws one kernel of a dictionary, forecasts with the function of its RKHS, and teaches
    this alone; the loss of the others stays unknown. A subclass says who draws::

        _sampler(n_kernels) -> Sampler

    It is asked in every call, so it reads the parameters as they are now. A selector goes before a
    shell in the list of bases, ``class MyRegressor(KernelSelector, OnlineRegressor)``, or
    :class:`OnlineClassifier`.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, see :func:`sklearn_okl.kernels.kernel_list`. None is six
        Gaussians with ``gamma`` 8, 2, 1/2, 1/8, 1/32 and 1/128.
    loss : str, default="squared_error"
        What is descended and what the kernels are judged by, see
        :func:`sklearn_okl.losses.get_loss`; a subclass that has a parameter `quantile` gives it to
        the pinball loss. Classifiers need a loss of theirs, such as ``"log_loss"``.
    radius : float, default=None
        Radius of the ball of its RKHS that a kernel's function is projected onto after each step.
        None: there is no ball.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `probabilities_`.
    n_support_ : ndarray of int of shape (n_kernels,)
        How many rows each kernel's function has learnt.

    See Also
    --------
    Sampler : What `_sampler` returns.

    Notes
    -----
    *Cost.* O(d n_i) in a round that draws kernel i, which has learnt n_i rows, for d features, and
    what the sampler costs. The model grows: every row is kept, once, by the kernel that was drawn.

    The kernel of a round is drawn at the end of the round before, by one random number per row, and
    kept in the state, so that `predict` is pure and equals what will be forecast.

    A subclass with parameters of its own names those it takes in its ``__init__`` and hands them to
    this one; those that it does not name keep their defaults.

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

    _parameter_constraints = {
        "kernels": [None, dict, list, tuple],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }
    _structural = ("kernels", "loss", "radius")

    def __init__(self, kernels=None, *, loss="squared_error", radius=None, random_state=None):
        self.kernels = kernels
        self.loss = loss
        self.radius = radius
        self.random_state = random_state

    @property
    def n_support_(self):
        """How many rows each kernel has learnt, of shape (n_kernels,)."""
        return np.array([len(f["coef"]) for f in self._fitted_state("n_support_")["functions"]])

    def _start(self, n_features, n_targets=None):
        return {
            **self._start_draws(check_random_state(self.random_state)),
            "origin": np.empty((0, n_features)),  # the first row, once it is there
            "functions": [
                {"rows": np.empty((0, n_features + 2)), "coef": np.empty(0), "norm_sq": 0.0}
                for _ in self._kernel_list()
            ],
        }

    def _learn(self, state, X, y):
        kernels, loss = self._kernel_list(), self._loss()
        sampler = self._sampler(len(kernels))
        radius = getattr(self, "radius", None)  # not every named class has one
        law, arm = state["sampler"], state["arm"]
        if len(state["origin"]) == 0:
            state["origin"] = X[:1].copy()
        rows = _augmented(X, state["origin"])
        asking = -2.0 * rows
        functions = {}  # of the kernels drawn
        forecasts = np.empty(len(y))
        uniforms = state["rng"].random_sample(len(y)).tolist()
        for t, target in enumerate(y.tolist()):
            f = functions.get(arm)
            if f is None:
                kernel = shift_invariant_kernel(**kernels[arm])
                f = functions[arm] = _Expansion(kernel, state["functions"][arm])
            forecast = f.values(asking[t]).item()
            slope = float(loss.slope(target, forecast))
            # k(x, x) = 1 for all kernels of a grid: the gradient slope * k(x, .) is as long.
            step = sampler.credit(law, arm, float(loss.value(target, forecast)), slope * slope)
            f.add(rows[t], -step * slope, forecast, radius)
            forecasts[t] = forecast
            arm = draw_arm(law, uniforms[t])
        for i, f in functions.items():
            state["functions"][i] = f.stored()
        state.update(t=state["t"] + len(y), arm=arm)
        return forecasts

    def _forecast(self, state, X):
        arm = state["arm"]
        kernel = shift_invariant_kernel(**self._kernel_list()[arm])
        f = _Expansion(kernel, state["functions"][arm])
        forecasts = np.empty(len(X))
        for tile in gen_batches(len(X), _TILE):
            forecasts[tile] = f.values(-2.0 * _augmented(X[tile], state["origin"]))
        return forecasts


def _augmented(X, origin):
    """Return rows [x, 1, -|x|^2 / 2], x relative to the origin, of shape (n, d + 2).

    Their product with [x', -|x'|^2 / 2, 1] is -|x - x'|^2 / 2, and that of the rows times -2, which
    is exact, the squared distance. Kernels of a grid see differences only, and near the origin
    these lose nothing to an offset that the features share.
    """
    n, d = X.shape
    rows = np.ones((n, d + 2))
    np.subtract(X, origin, out=rows[:, :d])
    np.einsum("ij,ij->i", rows[:, :d], rows[:, :d], out=rows[:, -1])
    rows[:, -1] /= -2.0
    return rows


class _Expansion:
    """A function sum_s coef_s k(x_s, .), with room to grow while a call lasts.

    Its rows are kept as [x_s, -|x_s|^2 / 2, 1], see `_augmented`.
    """

    def __init__(self, kernel, stored):
        self.kernel, self.norm_sq = kernel, stored["norm_sq"]
        self.n, width = stored["rows"].shape
        room = max(2 * self.n, _FEWEST)
        self.rows, self.coef = np.empty((room, width)), np.empty(room)
        self.rows[: self.n], self.coef[: self.n] = stored["rows"], stored["coef"]
        self.gamma = kernel.gamma_for(width - 2)
        # whether it is a function of squared distances, which one product gives
        self.of_squares = kernel.metric == "sqeuclidean"

    def values(self, rows):
        """Return f at one augmented row times -2, (d + 2,), or at several (m, d + 2)."""
        stored = self.rows[: self.n]
        if self.of_squares:
            D = rows.dot(stored.T)
            np.maximum(D, 0.0, out=D)  # rounding of a distance
            K = self.kernel.values_at(D, self.gamma, out=D)
        else:
            K = self.kernel(np.atleast_2d(rows)[:, :-2] * -0.5, stored[:, :-2])
        return K.dot(self.coef[: self.n])  # the method: half the overhead of @ for one row

    def add(self, row, coefficient, forecast, radius):
        """Add a term at a row where f is `forecast`; with a radius, project onto the ball."""
        n = self.n
        if n == len(self.coef):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
            self.coef = np.concatenate([self.coef, np.empty_like(self.coef)])
        self.rows[n] = row
        self.rows[n, -2] = row[-1]
        self.rows[n, -1] = 1.0
        self.coef[n] = coefficient
        self.n = n + 1
        # |f + c k(x, .)|^2 = |f|^2 + 2 c f(x) + c^2
        self.norm_sq = max(self.norm_sq + coefficient * (2.0 * forecast + coefficient), 0.0)
        if radius is not None and self.norm_sq > radius * radius:  # eq. (2)
            self.coef[: n + 1] *= radius / sqrt(self.norm_sq)
            self.norm_sq = radius * radius

    def stored(self):
        """Return what a state keeps."""
        n = self.n
        return {"rows": self.rows[:n].copy(), "coef": self.coef[:n].copy(), "norm_sq": self.norm_sq}
