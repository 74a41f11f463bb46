"""The bank of random features that multi-kernel estimators share: parameters and construction."""

from numbers import Integral

from sklearn.utils._param_validation import Interval, StrOptions

from ..features._fourier import FourierBank
from ..kernels import kernel_list

BANK_CONSTRAINTS = {
    "kernels": [None, dict, list, tuple],
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "form": [StrOptions({"paired", "phase"})],
    "sampling": [StrOptions({"iid", "orthogonal", "qmc"})],
    "frequencies": [None, "array-like"],
    "random_state": ["random_state"],
}
BANK_STRUCTURE = ("kernels", "n_components", "form", "sampling", "frequencies")


def fourier_bank(estimator):
    """Return the bank that a multi-kernel estimator's flat parameters describe."""
    return estimator._built(_fourier_bank)


def _fourier_bank(estimator):
    return FourierBank(
        kernel_list(estimator.kernels),
        estimator.n_components,
        form=estimator.form,
        sampling=estimator.sampling,
        frequencies=estimator.frequencies,
    )
