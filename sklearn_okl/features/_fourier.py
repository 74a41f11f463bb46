"""Random Fourier features of one kernel, as a transformer."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by
from .._types import Any, ArrayLike, Seed
from .._validation import validated
from ..base import OnFourierFeatures, OnlineTransformer
from ..inspection._parts import waves_of
from ..kernels import SAMPLINGS, SHIFT_INVARIANT_CONSTRAINTS
from ..kernels._fourier import FourierBank, fourier_map
from ._calendar import CalendarFeatures


@explained_by(OnFourierFeatures, OnlineTransformer)
class FourierFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random Fourier features of a shift-invariant kernel.

    Maps a row x to features z(x) with z(x)·z(y) ≈ k(x, y), from m frequencies ω drawn from the
    kernel's spectral measure.

    Parameters
    ----------
    kernel : str or ShiftInvariantKernel, default="rbf"
        The kernel, by its name or as an object, see :mod:`sklearn_okl.kernels`.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``. None is ``1 / n_features``, or
        the gamma of an object that has one.
    n_components : int, default=100
        Output dimension D.
    form : {"paired", "phase"}, default="paired"
        ``"paired"``: (1/√m) [sin Ωᵀx, cos Ωᵀx] with m = ⌈D/2⌉ frequencies, all sines first; an
        odd D drops the last cosine. ``"phase"``: √(2/D) cos(Ωᵀx + b) with m = D frequencies
        and b uniform on [0, 2π).
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies depend on each other; see
        :func:`~sklearn_okl.kernels.sample_frequencies`.
    frequencies : array-like of shape (n_features, m), default=None
        Frequencies to use in place of a draw. They set the output dimension, 2m (paired) or m
        (phase); `kernel`, `gamma`, `n_components` and `sampling` are then not used.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features, m)
        Frequencies Ω, one a column.
    phases_ : ndarray of shape (m,)
        Phases b; only with ``form="phase"``.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    TaylorFeatures : Deterministic features of the Gaussian kernel, for few inputs.
    sklearn.kernel_approximation.RBFSampler : The phase form for the Gaussian kernel.

    Notes
    -----
    *Cost.* O(d m) per row, and one tangent a frequency.

    z(x)·z(y) is an unbiased estimate of k(x, y), in the paired form with z(x)·z(x) = 1. With
    an odd D the paired form misses one cosine, and its mean is
    ((m − 1) k(x, y) + (k(x, y) − k(x, −y)) / 2) / m: prefer an even D or the phase form when m
    is small. The paired form has the smaller variance for the Gaussian kernel [2]_.

    float32 input gives float32 features, computed in float64. Should an angle ω·x overflow, it
    is read as 0.

    References
    ----------
    .. [1] Rahimi & Recht 2007, Algorithm 1.
    .. [2] D. J. Sutherland and J. Schneider, "On the Error of Random Fourier Features",
       UAI 2015, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import FourierFeatures
    >>> X = np.array([[0.0, 0.0], [1.0, 0.5]])
    >>> Z = FourierFeatures(gamma=0.5, n_components=2000, random_state=0).fit_transform(X)
    >>> Z.shape
    (2, 2000)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-0.5 * 1.25)) < 0.05)
    True
    """

    _test_parameters = (
        {"random_state": 0},
        {"random_state": 0, "form": "phase", "kernel": "laplacian", "sampling": "qmc"},
        {"kernel": "matern32", "sampling": "orthogonal", "n_components": 5, "random_state": 0},
    )

    learns_from_data = False  # of the rows `fit` reads how many columns they have

    _parameter_constraints = {
        **SHIFT_INVARIANT_CONSTRAINTS,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "form": [StrOptions({"paired", "phase"})],
        "sampling": [StrOptions(set(SAMPLINGS))],
        "frequencies": ["array-like", None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        n_components: int = 100,
        *,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    @explained_by(CalendarFeatures.fit)
    def fit(self, X: ArrayLike, y: None = None) -> Any:
        """Draw the frequencies.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows; only their number of features is used.
        """
        self._validate_params()
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        bank = FourierBank(
            [{"kernel": self.kernel, "gamma": self.gamma}],
            self.n_components,
            self.form,
            self.sampling,
            None if self.frequencies is None else [self.frequencies],
        )
        state = bank.start(X.shape[1], check_random_state(self.random_state))
        self.frequencies_ = state["frequencies"][0]
        if self.form == "phase":
            self.phases_ = state["phases"][0]
        elif hasattr(self, "phases_"):
            del self.phases_
        self._n_features_out = bank.n_features_out(state)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Compute the features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Features, dense, float32 for float32 rows and else float64.
        """
        if "frequencies_" not in vars(self):
            check_is_fitted(self)  # which looks at all tags first
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        Z = fourier_map(
            X.astype(np.float64, copy=False),
            self.frequencies_,
            self._n_features_out,
            getattr(self, "phases_", None),
        )
        return Z.astype(X.dtype, copy=False)

    def _unfolded(self, line, X):
        """Return a line of the features as waves of the rows X that they are made of."""
        X = validated(self, X, dtype=np.float64, reset=False)
        phases = getattr(self, "phases_", None)
        owners = np.arange(X.shape[1])
        constant = replace(line, inputs=X[:, :0], coef=line.coef[:0], owners=owners[:0])
        return [constant, waves_of(X, self.frequencies_, line.coef, owners, phases)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
