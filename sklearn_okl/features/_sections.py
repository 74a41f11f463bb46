"""Sections of a kernel at fixed points, made orthonormal."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.sparse import issparse
from scipy.stats import qmc
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from .._validation import validated
from ..base import OneKernel
from ..dictionaries._nested import coordinates, span_of
from ..kernels import kernel_of
from ._fourier import FourierFeatures


@inherit_documentation
@explained_by(FourierFeatures)
class SectionFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneKernel, BaseEstimator):
    r"""Sections k(c, ·) of any kernel at fixed points c, made orthonormal one after the other.

    Feature j is coordinate j of :math:`L^{-1} (k(c_1, x), \ldots, k(c_J, x))`, with L the Cholesky
    factor of the points' kernel matrix: inner products are the kernel of the projections onto the
    span of the sections. The first features are those of the first points.

    Parameters
    ----------
    n_components : int, default=50
        Number J of points.
    bounds : tuple of (float, float), default=(-1.0, 1.0)
        Ends of the box, the same for each input, which Halton's points fill evenly, the first ones
        of them as well. What lies outside is missed more.
    centers : array-like of shape (n_components, n_features), default=None
        Points to use in place of them; `n_components` and `bounds` are then ignored.

    Attributes
    ----------
    components_ : ndarray of shape (n_points, n_features)
        The points, without those whose sections are sums of the ones before.

    See Also
    --------
    OnlineNystroem : Points sampled from the stream.
    TaylorFeatures, MercerFeatures : Expansions of the Gaussian kernel.

    Notes
    -----
    *Cost.* O(J (d + J)) per row.

    *What is missed* of k(x, x) is the squared distance of k(x, ·) to the span. For Matérn's kernel
    of smoothness ν and points that fill the box to a distance h it is of order
    :math:`h^{2 \nu}`, with h of order :math:`J^{-1/d}` (Theorem 11.14 of [1]_).

    References
    ----------
    .. [1] H. Wendland, "Scattered Data Approximation", Cambridge University Press, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import SectionFeatures
    >>> X = np.array([[0.1, 0.2], [0.3, -0.1]])
    >>> Z = SectionFeatures("matern52", 1.0, n_components=80).fit_transform(X)
    >>> bool(abs(1 - Z[0] @ Z[0]) < 0.01)
    True
    """

    _test_parameters = ({"n_components": 8}, {"kernel": "matern32", "bounds": (-3.0, 3.0)})

    learns_from_data = False  # of the rows `fit` reads how many columns they have

    _parameter_constraints = {
        **OneKernel._parameter_constraints,
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "bounds": [tuple],
        "centers": ["array-like", None],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        n_components: int = 50,
        bounds: tuple[float, float] = (-1.0, 1.0),
        centers: ArrayLike | None = None,
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.n_components = n_components
        self.bounds = bounds
        self.centers = centers

    @explained_by(FourierFeatures.fit)
    def fit(self, X: ArrayLike, y: None = None) -> Any:
        """Lay out the points."""
        self._validate_params()
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        points = self._points(X.shape[1])
        self._basis, _ = span_of(kernel_of(self), points)
        if len(self._basis["atoms"]) == 0:
            raise ValueError("The kernel is zero at all points; give others.")
        self.components_ = self._basis["atoms"]
        return self

    def _points(self, d):
        if self.centers is not None:
            points = check_array(self.centers, dtype=np.float64, input_name="centers")
            if points.shape[1] != d:
                raise ValueError(
                    f"centers have {points.shape[1]} features, but X has {d}. Give rows like "
                    "those of X."
                )
            return points
        try:
            low, high = (float(end) for end in self.bounds)
        except (TypeError, ValueError):
            low, high = 1.0, 0.0
        if not (np.isfinite([low, high]).all() and low < high):
            raise ValueError(f"bounds={self.bounds!r} must be two rising numbers, low and high.")
        halton = qmc.Halton(d, scramble=False)
        halton.fast_forward(1)  # the first point is a corner
        return low + (high - low) * halton.random(self.n_components)

    @explained_by(FourierFeatures.transform)
    def transform(self, X: ArrayLike) -> Any:
        """Give rows their coordinates."""
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        rows = (X.toarray() if issparse(X) else X).astype(np.float64)
        Z, _ = coordinates(kernel_of(self), self._basis, rows)
        return np.ascontiguousarray(Z, dtype=X.dtype)

    @property
    def _n_features_out(self):
        return len(self.components_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
