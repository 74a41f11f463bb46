"""Estimators on random Fourier features of many kernels: their flat parameters, and the bank."""

from __future__ import annotations

from numbers import Integral

from sklearn.utils._param_validation import Interval, StrOptions

from .._types import Any, Array
from ..kernels import kernel_list
from ..kernels._fourier import FourierBank


class OnFourierFeatures:
    """A dictionary of kernels on random Fourier features: flat parameters, and what they describe.

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
        Parameters of each kernel, in the order of the grid.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    """

    _parameter_constraints = {
        "kernels": [None, dict, list, tuple],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "form": [StrOptions({"paired", "phase"})],
        "sampling": [StrOptions({"iid", "orthogonal", "qmc"})],
        "frequencies": [None, "array-like"],
        "random_state": ["random_state"],
    }
    _structural = ("kernels", "n_components", "form", "sampling", "frequencies")

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
