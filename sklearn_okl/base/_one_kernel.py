"""Flat parameters of algorithms that compute one kernel exactly, explained and checked once."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval

from .._types import Any, Array, Seed
from ..dictionaries._kors import KORS
from ..dictionaries._novelty import ALD
from ..kernels import KERNEL_CONSTRAINTS, KERNEL_STRUCTURE, kernel_of


class OneKernel:
    r"""One exact kernel: its flat parameters, for a shell that follows in the list of bases.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="rbf"
        The kernel, by its name, as an object or as a callable, which gets two arrays of rows and
        returns their matrix, see :mod:`sklearn_okl.kernels`.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``; for ``"poly"`` the factor of the
        inner product. None is ``1 / n_features``, or the gamma of an object that has one. A
        callable takes none.
    degree : int, default=3
        Degree of ``"poly"``, >= 1. Other kernels do not read it.
    coef0 : float, default=1.0
        Constant of ``"poly"``, >= 0. Other kernels do not read it.
    """

    _parameter_constraints = KERNEL_CONSTRAINTS
    _structural = KERNEL_STRUCTURE

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def _validate(self):
        super()._validate()
        kernel_of(self)


class AllRows(OneKernel):
    """One exact kernel, and every row is kept: the state has them as "rows".

    Attributes
    ----------
    X_fit_ : ndarray of shape (n_samples_seen, n_features)
        The rows learnt, in order.
    """

    @property
    def X_fit_(self) -> Array:
        """The rows learnt, of shape (n_samples_seen, n_features)."""
        return self._fitted_state("X_fit_")["rows"].copy()


class NovelRows(OneKernel):
    r"""One exact kernel, and rows that are not approximately linearly dependent (ALD).

    Parameters
    ----------
    novelty : float, default=None
        Threshold :math:`\alpha` > 0 of the squared distance to the span, in units of k(x, x), which
        is 1 for all kernels but ``"poly"`` and callables. None takes 25 / `horizon`, the paper's
        setting, and 0.01 without a horizon. A change in mid-stream holds for the next rows.
    horizon : int, default=None
        Number T of rows to come, read only where `novelty` is None. Below 50 rows the threshold
        stays at 1/2, so that a first row of size 1 enters.
    """

    _parameter_constraints = {
        **OneKernel._parameter_constraints,
        "novelty": [Interval(Real, 0, None, closed="neither"), None],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
    }

    def _rule(self):
        if self.novelty is not None:
            return ALD(self.novelty)
        return ALD(0.01 if self.horizon is None else min(25.0 / self.horizon, 0.5))


class SampledRows(OneKernel):
    """One exact kernel, and rows sampled from the stream by their ridge leverage scores (KORS).

    Parameters
    ----------
    kors_mu : float, default=1.0
        Ridge > 0 of the leverage scores, in units of the kernel; a larger one keeps fewer rows.
    kors_beta : float, default=1.0
        Factor > 0 from scores to probabilities.
    kors_eps : float, default=0.5
        Accuracy in (0, 1) for which the scores are corrected, by the factor 1 + eps.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.
    """

    _parameter_constraints = {
        **OneKernel._parameter_constraints,
        "kors_mu": [Interval(Real, 0, None, closed="neither")],
        "kors_beta": [Interval(Real, 0, None, closed="neither")],
        "kors_eps": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }
    _structural = ("kors_mu",)

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        kors_mu: float = 1.0,
        kors_beta: float = 1.0,
        kors_eps: float = 0.5,
        random_state: Seed = None,
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.kors_mu = kors_mu
        self.kors_beta = kors_beta
        self.kors_eps = kors_eps
        self.random_state = random_state

    def _rule(self):
        return KORS(self.kors_mu, self.kors_beta, self.kors_eps, self.random_state)
