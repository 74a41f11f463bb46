"""What algorithms share whose rounds are drawn: a dictionary, and a generator of their own."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .._documentation import explained_by
from .._types import Any, Array
from ..kernels import kernel_list
from ._estimator import OnlineEstimator
from ._on_fourier_features import OnFourierFeatures

# The experiments' six Gaussians: gamma = 1 / (2 sigma^2) for sigma = 2^-2, ..., 2^3.
BANDIT_KERNELS = {"kernel": ["rbf"], "gamma": [2.0 ** (-2 * j - 1) for j in range(-2, 4)]}


@explained_by(OnFourierFeatures, OnlineEstimator)
class RandomRounds:
    r"""Base of the algorithms that draw in every round whom they ask, or what they keep.

    It stands before a shell in the list of bases. A subclass says what its functions are before the
    first round, as arrays of a state, and may draw for them::

        _start_functions(n_features, source) -> dict

    The generator of the rounds' own draws is made after that, once.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``,
        see :func:`sklearn_okl.kernels.kernel_list`. None is not the grid of 76 kernels that other
        multi-kernel estimators take but that of the paper on bandits: six Gaussians with ``gamma``
        8, 2, 1/2, 1/8, 1/32 and 1/128, which are :math:`1 / (2 \sigma^2)` for :math:`\sigma =
        2^{-2}, ..., 2^3`. Meant for features in [-1, 1].
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    kernels_ : list of dict

    Notes
    -----
    *Subclasses.*
    """

    _poor_score = True  # what a round asks or keeps is random
    _default_kernels = BANDIT_KERNELS
    _in_place_of_a_ridge = "Leave it out."

    _parameter_constraints = {
        "kernels": [None, dict, list, tuple],
        "random_state": ["random_state"],
    }
    _structural = ("kernels", "loss", "quantile")

    @property
    def kernels_(self) -> Any:
        """Parameters of each kernel."""
        self._fitted_state("kernels_")
        return self._as_taught()._kernel_list()

    def _kernel_list(self):
        return kernel_list(self._default_kernels if self.kernels is None else self.kernels)

    def _validate(self):
        super()._validate()
        if any("alpha" in kernel for kernel in self._kernel_list()):
            raise ValueError(
                f"The grid of kernels has the key 'alpha', a ridge, which {type(self).__name__} "
                f"does not have. {self._in_place_of_a_ridge}"
            )

    def _start(self, n_features, n_targets=None):
        source = check_random_state(self.random_state)
        functions = self._start_functions(n_features, source)
        # A generator of our own: the user's may be shared, and is not ours to copy.
        return {"t": 0, **functions, "rng": np.random.RandomState(source.randint(2**31 - 1))}


class OneForecasts(RandomRounds):
    """Rounds in which the function of one kernel forecasts, which was drawn a round ahead.

    The state has it as "arm", and the law that it was drawn by in "sampler", as "probabilities".

    Attributes
    ----------
    probabilities_ : ndarray of shape (n_kernels,)
        The law from which the next round's kernel was drawn.
    kernel_index_ : int
        The kernel that was drawn: it makes the next forecast, and `predict`'s.
    """

    @property
    def probabilities_(self) -> Array:
        """Law from which `kernel_index_` was drawn, of shape (n_kernels,)."""
        return self._fitted_state("probabilities_")["sampler"]["probabilities"].copy()

    @property
    def kernel_index_(self) -> int:
        """Index of the kernel that makes the next forecast."""
        return self._fitted_state("kernel_index_")["arm"]
