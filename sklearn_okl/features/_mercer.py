"""Eigenfunctions of the Gaussian kernel under a normal law: its Mercer expansion, cut."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from ._taylor import TaylorFeatures, _ExpansionFeatures

_FARTHEST = 1e3  # of the argument of Hermite's functions, beyond which all of them are 0


@inherit_documentation
@explained_by(TaylorFeatures)
class MercerFeatures(_ExpansionFeatures):
    r"""Mercer features of the Gaussian kernel exp(−γ‖x − y‖²), by inputs from a normal law.

    Feature k, a multi-index with k₁ + … + k_d ≤ M, is √λ_k times the eigenfunction of the kernel
    under independent inputs of mean 0 and standard deviation s, a product of Hermite functions: no
    other map into so many dimensions misses less of the kernel on average under that law.

    Parameters
    ----------
    scale : float, default=1.0
        Standard deviation s of the inputs, in the units of X; 1 for standardised ones.

    See Also
    --------
    TaylorFeatures : Cut by the degree around the origin, for inputs that are small.
    SectionFeatures : Sections of any kernel.

    Notes
    -----
    *Cost.* O(d C(M + d, M)) per row.

    With :math:`a = 1 / (4 s^2)`, :math:`c = \sqrt{a^2 + 2 a \gamma}` and :math:`q = \gamma / (a +
    \gamma + c)` the eigenvalues of one input are :math:`\lambda_n = \sqrt{2 a / (a + \gamma + c)}
    \, q^n`; those of d inputs are their products, so that all of a degree are equal and the largest
    ones are those of the lowest degrees. The mean of :math:`k(x, x) - \|z(x)\|^2` is the sum of
    the others, :math:`\sum_{n > M} \binom{n + d - 1}{d - 1} \lambda_0^d q^n`.

    References
    ----------
    C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for Machine Learning", MIT Press, 2006,
    section 4.3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import MercerFeatures
    >>> X = np.array([[0.1, 0.2], [0.3, -0.1]])
    >>> Z = MercerFeatures(gamma=0.5, degree=20).fit_transform(X)
    >>> bool(abs(Z[0] @ Z[1] - np.exp(-0.5 * 0.13)) < 1e-6)
    True
    """

    _test_parameters = ({}, {"gamma": 0.1, "scale": 2.0, "degree": 1})

    _title = "Mercer"
    _parameter_constraints = {
        **_ExpansionFeatures._parameter_constraints,
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "scale": [Interval(Real, 1e-50, 1e50, closed="both")],
    }

    def __init__(
        self,
        gamma: float | None = None,
        scale: float = 1.0,
        degree: int = 2,
        *,
        max_components: int = 10_000,
    ) -> None:
        self.gamma = gamma
        self.scale = scale
        self.degree = degree
        self.max_components = max_components

    def _features(self, rows):
        H = self._of_one_input(rows)  # (n, d, M + 1)
        Z = np.ones((len(rows), len(self.powers_)))
        for i, powers in enumerate(self.powers_.T):
            Z *= H[:, i, powers]
        return Z

    def _of_one_input(self, X):
        """Return the features of each input alone, by degree."""
        a, gamma = 1.0 / (4.0 * self.scale**2), self.gamma_
        c = np.sqrt(a * a + 2.0 * a * gamma)
        whole = a + gamma + c
        q, u = gamma / whole, np.clip(np.sqrt(2.0 * c) * X, -_FARTHEST, _FARTHEST)
        H = np.zeros((*X.shape, self.degree + 1))
        # sqrt(lambda_0) (c / a)^(1/4) exp(-(c - a) x^2), then the recursion of Hermite's functions
        first = (2.0 * a / whole) ** 0.25 * (c / a) ** 0.25
        H[..., 0] = first * np.exp(-(1.0 - a / c) * u * u / 2.0)
        for n in range(self.degree):
            H[..., n + 1] = np.sqrt(2.0 * q / (n + 1.0)) * u * H[..., n]
            if n:
                H[..., n + 1] -= q * np.sqrt(n / (n + 1.0)) * H[..., n - 1]
        return H
