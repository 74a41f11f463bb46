"""The streams of the published tables and the draws of their features."""

import numpy as np
from sklearn.datasets import load_diabetes

from sklearn_okl.datasets import load_dataset, make_ar4, scale_as_published
from sklearn_okl.kernels import kernel_list

TITLES = {
    "ar4": "AR(4)",
    "airfoil": "Airfoil",
    "bias_notebook": "Bias",
    "concrete": "Concrete",
    "naval_notebook": "Naval",
    "diabetes": "Diabetes (scikit-learn)",
}
N_FREQUENCIES = 50


def load_stream(name, n_rows=None):
    """Return the rows and targets of a stream, scaled by the whole file, then cut."""
    if name == "ar4":
        X, y = make_ar4()
    elif name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        X, y = load_dataset(name, return_X_y=True)
    X, y = scale_as_published(X, y)
    return X[:n_rows], y[:n_rows]


def published_frequencies(n_features, seed):
    """Draw frequencies in the order of the published program: (d, m) for each of the 76 kernels."""
    rng = np.random.RandomState(seed)  # the legacy generator, as there
    shape = (n_features, N_FREQUENCIES)
    return [
        kernel["gamma"] * rng.standard_cauchy(shape)
        if kernel["kernel"] == "laplacian"
        else np.sqrt(2 * kernel["gamma"]) * rng.randn(*shape)
        for kernel in kernel_list()
    ]
