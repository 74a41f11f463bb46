"""Kernels of the difference of two rows: the base of those that have frequencies, and Cauchy's."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike, Seed
from ._kernel import Kernel, checked_gamma
from ._sampling import normal_points, two_sided_tails


@inherit_documentation
class ShiftInvariantKernel(Kernel):
    r"""Base of kernels k(x, y) = κ(x − y) with κ(0) = 1, which have frequencies.

    By Bochner's theorem such a kernel is the mean of a cosine, :math:`k(x, y) = E \cos(\omega
    \cdot (x - y))`, over the law of its frequencies ω. So it serves wherever a named kernel does:
    Fourier features, grids of kernels, exact kernel methods.

    A subclass writes ``__call__``, :meth:`frequencies_at` and :meth:`width`. If it depends on a
    distance between the rows alone, :class:`DistanceKernel` is the shorter way.

    Parameters
    ----------
    gamma : float, default=None
        Bandwidth: the inverse of a length in the units of X, or what else the kernel says. None is
        ``1 / n_features``, as in :mod:`sklearn.metrics.pairwise`.

    Attributes
    ----------
    metric : str or None
        The distance of which a :class:`DistanceKernel` is a function; None for all others.

    Raises
    ------
    ValueError
        For a `gamma` that is negative, not finite or no number.

    See Also
    --------
    DistanceKernel : Base of kernels that are functions of a distance.
    sample_frequencies : Frequencies of a kernel given by its name or as an object.

    References
    ----------
    .. [1] Rasmussen & Williams 2006, Theorem 4.1 (Bochner).

    Examples
    --------
    The mean of cosines of one frequency, with either sign, is a cosine:

    >>> import numpy as np
    >>> from sklearn_okl.kernels import ShiftInvariantKernel, kernel_matrix
    >>> class Cosine(ShiftInvariantKernel):  # of sums of the inputs
    ...     def __call__(self, X, Y):
    ...         sums = np.subtract.outer(X.sum(axis=1), Y.sum(axis=1))
    ...         return np.cos(self.gamma_for(X.shape[1]) * sums)
    ...
    ...     def frequencies_at(self, points, gamma, rng):
    ...         return gamma * np.sign(points[:, :1]) * np.ones_like(points)
    ...
    ...     def width(self, n_features):
    ...         return np.sqrt(n_features)
    >>> Cosine(0.5).sample_frequencies(2, 3, random_state=0)
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5]])
    >>> kernel_matrix([[np.pi, np.pi]], [[0.0, 0.0]], kernel=Cosine(0.5))
    array([[-1.]])
    """

    metric = None

    def __init__(self, gamma: float | None = None) -> None:
        self.gamma = checked_gamma(gamma)

    def gamma_for(self, n_features: int) -> float:
        """Return gamma, or ``1 / n_features`` where it is None.

        Parameters
        ----------
        n_features : int
            Input dimension d.

        Returns
        -------
        float
        """
        return 1.0 / n_features if self.gamma is None else self.gamma

    @abstractmethod
    def frequencies_at(self, points: Any, gamma: float, rng: Seed) -> Any:
        """Turn standard normal points into frequencies, each alone.

        Parameters
        ----------
        points : ndarray of shape (m, d)
            N(0, I) each. They may be coupled, which is what `sampling` is about; as every point is
            turned alone, the law of each frequency is that of the kernel whatever the coupling.
        gamma : float
            The bandwidth, for the number of features at hand: never None.
        rng : RandomState
            Source of whatever else is random.

        Returns
        -------
        ndarray of shape (m, d)
            One frequency per row.
        """

    @abstractmethod
    @explained_by(gamma_for)
    def width(self, n_features: int) -> float:
        """Return how the kernel's bandwidth scales with the dimension.

        Rows of d standardised features are the farther from each other the larger d. A bandwidth
        that means the same in any dimension is therefore to be divided by this number to be gamma.

        Returns
        -------
        float
            d where gamma multiplies sums over the features, such as squared distances; the root of
            d where it multiplies the root of such sums.
        """

    @explained_by(gamma_for)
    def sample_frequencies(
        self,
        n_features: int,
        n_frequencies: int,
        *,
        sampling: str = "iid",
        random_state: Seed = None,
    ) -> Any:
        """Draw frequencies from the kernel's spectral measure.

        Parameters
        ----------
        n_frequencies : int
            Number m of frequencies.
        sampling : {"iid", "orthogonal", "qmc"}, default="iid"
            How they are coupled, see :func:`sklearn_okl.kernels.sample_frequencies`.
        random_state : int, RandomState instance or None, default=None
            Source of the draw.

        Returns
        -------
        ndarray of shape (n_features, n_frequencies)
            One frequency per column.

        Raises
        ------
        ValueError
            For an unknown sampling, a size below 1, too many features for a Sobol sequence, or a
            kernel whose :meth:`frequencies_at` returns another shape than that of the points.
        """
        for name, size in (("n_features", n_features), ("n_frequencies", n_frequencies)):
            if not isinstance(size, Integral) or size < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {size!r}.")
        rng = check_random_state(random_state)
        points = normal_points(n_frequencies, n_features, sampling, rng)
        frequencies = self.frequencies_at(points, self.gamma_for(n_features), rng)
        if np.shape(frequencies) != (n_frequencies, n_features):
            raise ValueError(
                f"{type(self).__name__}.frequencies_at returned shape {np.shape(frequencies)}; "
                f"expected {(n_frequencies, n_features)}, one frequency for each point."
            )
        return np.ascontiguousarray(frequencies.T)

    def diagonal(self, X: ArrayLike) -> Any:
        """Compute the values of rows with themselves, which are 1."""
        return np.ones(len(X))

    def unit(self) -> Any:
        """Return the kernel whose frequencies, times a number, are those of this one.

        Kernels that differ in gamma alone may have it in common, and hence one draw of
        frequencies.

        Returns
        -------
        ShiftInvariantKernel
            The kernel itself, if the subclass knows of no other.
        """
        return self

    @explained_by(frequencies_at)
    def frequency_scale(self, gamma: float) -> float:
        """Return the number by which frequencies of :meth:`unit` are multiplied.

        Returns
        -------
        float
            What makes them frequencies of this kernel at that bandwidth; 1 where :meth:`unit` is
            the kernel itself.
        """
        return 1.0


@inherit_documentation
class Cauchy(ShiftInvariantKernel):
    r"""Cauchy kernel, ∏ⱼ 1 / (1 + γ² (xⱼ − yⱼ)²): the string ``"cauchy"``.

    See Also
    --------
    Laplacian : The same with values and law of the frequencies exchanged.

    Notes
    -----
    The coordinates of a frequency are i.i.d. Laplace of scale γ [1]_. They are made from normal
    points coordinate by coordinate, through the distribution functions.

    For a small γ the logarithm of the kernel is −γ² ‖x − y‖₂², so that gamma goes with the root of
    the dimension. :func:`kernel_matrix` makes sparse rows dense.

    References
    ----------
    .. [1] Rahimi & Recht 2007, Figure 1.

    Examples
    --------
    >>> from sklearn_okl.kernels import Cauchy, kernel_matrix
    >>> kernel_matrix([[1.0, 2.0]], [[0.0, 0.0]], kernel=Cauchy(1.0))
    array([[0.1]])
    """

    name = "cauchy"

    def __call__(self, X, Y):
        gamma = self.gamma_for(X.shape[1])
        X, Y = gamma * X, gamma * Y
        K = np.ones((len(X), len(Y)))
        for x, y in zip(X.T, Y.T, strict=True):
            K /= 1 + np.subtract.outer(x, y) ** 2
        return K

    def frequencies_at(self, points: Any, gamma: Any, rng: Any) -> Any:
        """Return −γ s log(u), Laplace, of coordinates of sign s and two-sided tail u."""
        return -gamma * np.sign(points) * np.log(two_sided_tails(points))

    def width(self, n_features: Any) -> Any:
        """Return the root of the dimension: see :class:`ShiftInvariantKernel`."""
        return np.sqrt(n_features)

    def unit(self) -> Any:
        """Return the kernel of gamma 1, whose frequencies, times γ, are those of this one."""
        return self.with_gamma(1.0)

    def frequency_scale(self, gamma: Any) -> Any:
        """Return γ, by which the frequencies of :meth:`unit` are multiplied."""
        return gamma
