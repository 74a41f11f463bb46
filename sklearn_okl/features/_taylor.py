"""Taylor features of the Gaussian kernel."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations_with_replacement
from math import comb
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from .._validation import validated
from ..inspection._parts import Monomials
from ._fourier import FourierFeatures


class _ExpansionFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of maps whose features are products of one function of each input, up to a degree.

    A subclass says in `_features` what those of rows are, and in `_title` what they are called.

    Parameters
    ----------
    gamma : float, default=None
        γ = 1/(2σ²), in the units of X squared, inverted. None is ``1 / n_features``, as in
        :mod:`sklearn.metrics.pairwise`.
    degree : int, default=2
        Degree M at which the series is cut.
    max_components : int, default=10_000
        Largest dimension C(M + d, M) that `fit` accepts. The default is where a second-order
        learner, which keeps a square matrix of that size, passes 0.8 GB; beyond it random
        features are the better choice.

    Attributes
    ----------
    powers_ : ndarray of shape (n_components, n_features) and of integers
        Exponents k, ordered by degree and, within a degree, lexicographically from the first
        input on.
    gamma_ : float
        The γ used.
    """

    learns_from_data = False  # of the rows `fit` reads how many columns they have

    _parameter_constraints = {
        "gamma": [Interval(Real, 0, None, closed="left"), None],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "max_components": [Interval(Integral, 1, None, closed="left")],
    }

    @explained_by(FourierFeatures.fit)
    def fit(self, X: ArrayLike, y: None = None) -> Any:
        """List the products.

        Raises
        ------
        ValueError
            If the dimension C(degree + n_features, degree) is above `max_components`.
        """
        self._validate_params()
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        d = X.shape[1]
        dimension = comb(self.degree + d, self.degree)
        if dimension > self.max_components:
            raise ValueError(
                f"{self._title} features of degree {self.degree} of {d} inputs have dimension "
                f"{dimension}, above max_components={self.max_components}. Lower the degree, "
                "reduce the inputs, or use FourierFeatures."
            )
        self.gamma_ = 1.0 / d if self.gamma is None else float(self.gamma)
        # A monomial is the sorted tuple of its variables: (0, 0, 2) is x₀² x₂.
        monomials = [
            variables
            for degree in range(self.degree + 1)
            for variables in combinations_with_replacement(range(d), degree)
        ]
        self.powers_ = np.zeros((len(monomials), d), dtype=np.intp)
        for variables, powers in zip(monomials, self.powers_, strict=True):
            np.add.at(powers, list(variables), 1)
        self._listed(monomials, d)
        return self

    def _listed(self, monomials, d):
        """Keep what a subclass wants to know of the list."""

    @explained_by(FourierFeatures.transform)
    def transform(self, X: ArrayLike) -> Any:
        check_is_fitted(self)
        X = validated(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        rows = (X.toarray() if issparse(X) else X).astype(np.float64)
        return np.ascontiguousarray(self._features(rows), dtype=X.dtype)

    @property
    def _n_features_out(self):
        return len(self.powers_)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@inherit_documentation
@explained_by(FourierFeatures)
class TaylorFeatures(_ExpansionFeatures):
    """Taylor features of the Gaussian kernel exp(−γ‖x − y‖²).

    Feature k, a multi-index with k₁ + … + k_d ≤ M, is

        φ_k(x) = exp(−γ‖x‖²) ∏ᵢ (√(2γ) xᵢ)^kᵢ / √(kᵢ!),

    so that the inner products are the kernel with the series of exp(2γ x·y) cut after degree M.

    See Also
    --------
    FourierFeatures : Random features, for any number of inputs.

    Notes
    -----
    *Cost.* O(C(M + d, M)) per row: a monomial is a monomial of one degree less times a coordinate.

    The error at (x, y) is exp(−γ‖x‖² − γ‖y‖²) times the remainder of the exponential series, at
    most exp(−γ‖x‖² − γ‖y‖² + s) s^(M+1) / (M + 1)! with s = abs(2γ x·y). It is small where
    γ‖x‖‖y‖ is, that is for wide kernels and inputs near the origin; centre and scale X first. A
    row with γ‖x‖² above 745 has zero features only.

    The authors' program lists all d^j products of j coordinates, where equal ones repeat; here
    each stands once, with the weight that leaves the inner products as they were.

    References
    ----------
    .. [1] Jézéquel et al. 2019, equation (6) and Theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import TaylorFeatures
    >>> X = np.array([[0.1, 0.2], [0.3, -0.1]])
    >>> taylor = TaylorFeatures(gamma=0.5, degree=2).fit(X)
    >>> taylor.powers_.tolist()
    [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    >>> Z = taylor.transform(X)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-0.5 * 0.13)) < 1e-6)
    True
    """

    _test_parameters = ({}, {"gamma": 0.1, "degree": 1})

    _title = "Taylor"

    def __init__(
        self, gamma: float | None = None, degree: int = 2, *, max_components: int = 10_000
    ) -> None:
        self.gamma = gamma
        self.degree = degree
        self.max_components = max_components

    def _listed(self, monomials, d):
        """Keep, for each monomial, its parent, last variable and factor."""
        index = {variables: i for i, variables in enumerate(monomials)}
        # The constant, monomial 0, has neither parent nor variable.
        self._parents = np.array([index[v[:-1]] for v in monomials[1:]], dtype=np.intp)
        self._variables = np.array([v[-1] for v in monomials[1:]], dtype=np.intp)
        last_powers = self.powers_[np.arange(1, len(monomials)), self._variables]
        self._factors = 1 / np.sqrt(last_powers)  # √((k−1)!/k!) for the variable that is added
        self._ends = [comb(degree + d, d) for degree in range(self.degree + 1)]

    def _features(self, rows):
        # Coordinates u (d, n), monomials (D, n): whole rows are multiplied. Beyond the clip the
        # square overflows, and the features have been zero for long.
        with np.errstate(over="ignore"):
            U = np.clip(np.sqrt(2 * self.gamma_) * rows.T, -1e150, 1e150)
        Z = np.empty((len(self.powers_), len(rows)))
        # First the exponential, then the powers, so that nothing overflows.
        np.exp(-0.5 * np.einsum("dn,dn->n", U, U), out=Z[0])
        for start, end in zip(self._ends[:-1], self._ends[1:], strict=True):
            grown = slice(start - 1, end - 1)
            Z[start:end] = Z[self._parents[grown]]
            Z[start:end] *= U[self._variables[grown]]
            Z[start:end] *= self._factors[grown, None]
        return Z.T

    def _unfolded(self, line, X):
        """Return a line of the features as monomials of rows X."""
        X = validated(self, X, dtype=np.float64, reset=False)
        U, owners = np.sqrt(2 * self.gamma_) * X, np.arange(X.shape[1])
        constant = replace(line, inputs=X[:, :0], coef=line.coef[:0], owners=owners[:0])
        return [constant, Monomials(U, self.powers_, line.coef, owners)]
