"""Grids of kernels, as scikit-learn spells grids."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from numbers import Real

from sklearn.model_selection import ParameterGrid

from .._types import Any
from ._kernel import checked_gamma
from ._named import shift_invariant_kernel


def paper_kernel_grid() -> Any:
    """Return the grid of 76 kernels of the multi-kernel papers.

    Gaussian kernels with σ² = 10^(2i/25 − 2), i = 0..50, that is ``gamma = 1 / (2 σ²)``, and
    Laplacian kernels with σ = 10^(i/6 − 2), i = 0..24, that is ``gamma = 1 / σ``.

    Returns
    -------
    list of dict
        As :class:`sklearn.model_selection.ParameterGrid` and `GridSearchCV` read it.

    References
    ----------
    .. [1] P. M. Ghari and Y. Shen, "Graph-Aided Online Multi-Kernel Learning", JMLR 24, 2023,
       section 5.
    .. [2] D. B. Rokhlin and O. V. Gurtovaya, "Random feature-based double Vovk-Azoury-Warmuth
       algorithm for online multi-kernel learning", Siberian Electronic Mathematical Reports
       20(2), 2023, section on computer experiments.

    Examples
    --------
    >>> from sklearn.model_selection import ParameterGrid
    >>> from sklearn_okl.kernels import paper_kernel_grid
    >>> len(ParameterGrid(paper_kernel_grid()))
    76
    """
    rbf = [0.5 / 10 ** (2 * i / 25 - 2) for i in range(51)]
    laplacian = [1 / 10 ** (i / 6 - 2) for i in range(25)]
    return [
        {"kernel": ["rbf"], "gamma": rbf},
        {"kernel": ["laplacian"], "gamma": laplacian},
    ]


def kernel_list(kernels: Any = None) -> Any:
    """Spell a grid of kernels out, one dictionary per kernel.

    Parameters
    ----------
    kernels : dict or list of dict, default=None
        A parameter grid over "kernel", "gamma" and "alpha", each key with its list of values,
        as :class:`sklearn.model_selection.ParameterGrid` reads it and in its order. A kernel is a
        name or a :class:`ShiftInvariantKernel`; where the grid has gammas, the objects have none
        of their own. None is :func:`paper_kernel_grid`.

    Returns
    -------
    list of dict
        Each with "kernel" (``"rbf"`` where the grid is silent; an object comes with its gamma),
        "gamma" (a float, or None for ``1 / n_features``) and, if the grid has it, the ridge
        "alpha".

    Raises
    ------
    ValueError
        For an empty grid, an unknown key or kernel, a kernel that is not shift-invariant, a
        negative "gamma" or one beside an object's own, or an "alpha" that is not positive.
    TypeError
        If `kernels` is no grid, such as a list of numbers, a value is not wrapped in a list, or a
        class stands in place of a kernel.

    Examples
    --------
    >>> from sklearn_okl.kernels import Matern, kernel_list
    >>> kernel_list({"kernel": ["laplacian"], "gamma": [0.5, 1.0]})
    [{'kernel': 'laplacian', 'gamma': 0.5}, {'kernel': 'laplacian', 'gamma': 1.0}]
    >>> kernel_list({"kernel": [Matern(2.0)]})
    [{'kernel': Matern(gamma=2.0, nu=1.5), 'gamma': 2.0}]
    """
    kernels = paper_kernel_grid() if kernels is None else kernels
    parts = [kernels] if isinstance(kernels, Mapping) else kernels
    if not isinstance(parts, (list, tuple)) or not all(isinstance(p, Mapping) for p in parts):
        raise TypeError(
            f"kernels={kernels!r} is no grid of kernels: give a dict of lists, such as "
            "{'kernel': ['rbf'], 'gamma': [0.1, 1.0]}, or a list of such dicts."
        )
    grid = list(ParameterGrid(parts))
    if not grid:
        raise ValueError("The grid of kernels is empty; give at least one kernel.")
    return [_check_grid_point(point) for point in grid]


def _check_grid_point(point):
    unknown = sorted(set(point) - {"kernel", "gamma", "alpha"}, key=str)
    if unknown:
        raise ValueError(
            f"A grid of kernels has the keys 'kernel', 'gamma' and 'alpha'; got {unknown}."
        )
    kernel = point.get("kernel", "rbf")
    if isinstance(kernel, str):
        shift_invariant_kernel(kernel)
        checked = {"kernel": str(kernel), "gamma": checked_gamma(point.get("gamma"))}
    else:
        found = shift_invariant_kernel(kernel, point.get("gamma"))
        checked = {"kernel": found, "gamma": found.gamma}
    if "alpha" in point:
        alpha = point["alpha"]
        if not isinstance(alpha, Real) or not 0 < alpha < inf:
            raise ValueError(f"alpha must be a positive finite number, got {alpha!r}.")
        checked["alpha"] = float(alpha)
    return checked
