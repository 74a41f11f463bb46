"""Kernels: exact values, frequencies and grids.

Names and bandwidths are those of :mod:`sklearn.metrics.pairwise`. With δ = x − y:

===============  ===============  ===============================  ================================
string           class            k(x, y)                          law of a frequency ω
===============  ===============  ===============================  ================================
``"rbf"``        `RBF`            exp(−γ ‖δ‖₂²)                    N(0, 2γ I)
``"laplacian"``  `Laplacian`      exp(−γ ‖δ‖₁)                     coordinates Cauchy, scale γ
``"matern12"``   `Matern`, ν 1/2  exp(−r), r = γ ‖δ‖₂              γ times Student t, 1 degree
``"matern32"``   `Matern`, ν 3/2  (1 + √3 r) exp(−√3 r)            γ times Student t, 3 degrees
``"matern52"``   `Matern`, ν 5/2  (1 + √5 r + 5r²/3) exp(−√5 r)    γ times Student t, 5 degrees
``"cauchy"``     `Cauchy`         ∏ⱼ 1 / (1 + γ² δⱼ²)              coordinates Laplace, scale γ
``"poly"``       `Polynomial`     (γ x·y + coef0)^degree           none
===============  ===============  ===============================  ================================

By Bochner's theorem k(x, y) = E cos(ω·δ) for every row that has a frequency, whose coordinates are
i.i.d. for the two products; Student t is the multivariate one. Estimators and grids take the string
or an object of the class. Kernels of anybody's own derive from :class:`DistanceKernel`,
:class:`ShiftInvariantKernel` or :class:`Kernel`.
"""

from ._distance import RBF, DistanceKernel, Laplacian, Matern
from ._grid import kernel_list, paper_kernel_grid
from ._kernel import Kernel, Polynomial
from ._named import (  # noqa: F401  for the rest of the package
    KERNEL_CONSTRAINTS,
    KERNEL_STRUCTURE,
    KERNELS,
    NAMED,
    SHIFT_INVARIANT_CONSTRAINTS,
    exact_kernel,
    kernel_matrix,
    kernel_of,
    sample_frequencies,
    shift_invariant_kernel,
)
from ._sampling import SAMPLINGS  # noqa: F401
from ._shift_invariant import Cauchy, ShiftInvariantKernel

__all__ = [
    "RBF",
    "Cauchy",
    "DistanceKernel",
    "Kernel",
    "Laplacian",
    "Matern",
    "Polynomial",
    "ShiftInvariantKernel",
    "kernel_list",
    "kernel_matrix",
    "paper_kernel_grid",
    "sample_frequencies",
]

for class_ in (Kernel, ShiftInvariantKernel, DistanceKernel, *map(type, NAMED)):
    class_.__module__ = __name__  # where it is public: pickles and files name no private module
del class_
