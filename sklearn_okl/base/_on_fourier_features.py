"""Estimators on random Fourier features of many kernels: their flat parameters, and the bank."""

from __future__ import annotations

from numbers import Integral

from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Any, Array, Seed
from ..kernels import kernel_list
from ..kernels._fourier import FourierBank


class OnFourierFeatures:
    """A dictionary of kernels on random Fourier features: flat parameters, and the bank they make.

    It stands before a shell in the list of bases. ``self._bank`` is the :class:`FourierBank` of the
    parameters, built once while they stay. A subclass keeps the maps that it draws in its state, as
    "features".

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the papers' grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    n_components : int, default=100
        Number of random features per kernel; the papers' 50 frequencies in paired form.
    form : {"paired", "phase"}, default="paired"
        Sines and cosines of each frequency (the papers), or cosines with random phases, see
        :class:`~sklearn_okl.FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`~sklearn_okl.FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    kernels_ : list of dict
        Parameters of each kernel, in the order of the grid, which is that of the weights.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.

    See Also
    --------
    FullInformationRegressor : An engine on it, where every expert learns from every row.
    FeatureSelector : An engine where one kernel does.
    GraphRounds : An engine where some do.

    Examples
    --------
    The mean of all kernels, by gradient descent on the features of all of them together:

    >>> import numpy as np
    >>> from sklearn.utils import check_random_state
    >>> from sklearn_okl.base import OnFourierFeatures, OnlineRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> class MeanOfKernelsRegressor(OnFourierFeatures, OnlineRegressor):
    ...     def _start(self, n_features, n_targets=None):
    ...         maps = self._bank.start(n_features, check_random_state(self.random_state))
    ...         shape = len(self._bank.kernels), self._bank.n_features_out(maps)
    ...         return {"t": 0, "features": maps, "theta": np.zeros(shape)}
    ...
    ...     def _learn(self, state, X, y):
    ...         Z = self._bank.transform(state["features"], X)  # (K, n, D)
    ...         forecasts = np.empty(len(y))
    ...         for t, target in enumerate(y):
    ...             forecasts[t] = (state["theta"] * Z[:, t]).sum() / len(Z)
    ...             state["theta"] -= (forecasts[t] - target) * Z[:, t]
    ...         state["t"] += len(y)
    ...         return forecasts
    ...
    ...     def _forecast(self, state, X):
    ...         Z = self._bank.transform(state["features"], X)
    ...         return np.einsum("knd,kd->n", Z, state["theta"]) / len(Z)
    >>> X, y = make_ar4(300)
    >>> model = MeanOfKernelsRegressor({"gamma": [0.01, 0.1, 1.0]}, random_state=0).fit(X, y)
    >>> model.frequencies_.shape
    (3, 4, 50)
    """

    _shared_test_parameters = {
        "kernels": [{"kernel": ["rbf", "laplacian"], "gamma": [0.02, 0.2]}],
        "n_components": 40,
        "random_state": 0,
    }

    _parameter_constraints = {
        "kernels": [None, dict, list, tuple],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "form": [StrOptions({"paired", "phase"})],
        "sampling": [StrOptions({"iid", "orthogonal", "qmc"})],
        "frequencies": [None, "array-like"],
        "random_state": ["random_state"],
    }
    _structural = ("kernels", "n_components", "form", "sampling", "frequencies")

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        self.kernels = kernels
        self.n_components = n_components
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    @property
    def kernels_(self) -> Any:
        """Parameters of each kernel."""
        self._fitted_state("kernels_")
        return [dict(kernel) for kernel in self._as_taught()._bank.kernels]

    @property
    def frequencies_(self) -> Array:
        """Frequencies in use, of shape (n_kernels, n_features, m)."""
        return self._fitted_state("frequencies_")["features"]["frequencies"].copy()

    @property
    def _bank(self):
        return self._built(_fourier_bank)


def _fourier_bank(estimator):
    return FourierBank(
        kernel_list(estimator.kernels),
        estimator.n_components,
        form=estimator.form,
        sampling=estimator.sampling,
        frequencies=estimator.frequencies,
    )
