"""Nyström maps that grow with the stream (Jézéquel et al. 2019; Engel et al. 2004).

All three wear the shell of the online estimators and keep a dictionary of rows; they differ in
which rows become atoms.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by, inherit_documentation
from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike, Self
from .._validation import validated
from ..base import NovelRows, OneKernel, OnlineEstimator, OnlineTransformer, SampledRows
from ..dictionaries._growth import growth
from ..dictionaries._nested import coordinates, start_basis
from ..dictionaries._novelty import FirstRows
from ..kernels import kernel_of


@inherit_documentation
class _GrowingNystroem(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, OneKernel, OnlineEstimator
):
    """Shell and basis of the maps; a subclass says by a rule which rows become atoms.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)

    Notes
    -----
    *A map that grows.* `transform` gives the coordinates L⁻¹ k_S(x) with L the Cholesky factor of
    K_S, whose diagonal is raised by 1e-13 of itself for stability. The number of columns is that
    of the atoms so far. The basis is nested: what `partial_fit` adds is columns on the right, and
    the old ones keep their meaning and, up to rounding, their values: a linear model that follows
    may be padded with zeros. In a :class:`StreamingPipeline` only a fitted one that is frozen, or
    one that is full, has a place: the steps after it keep their width.
    """

    @explained_by(OnlineTransformer.fit)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        self._advance(X, None, restart=True)
        return self

    @explained_by(OnlineTransformer.partial_fit)
    def partial_fit(self, X: ArrayLike, y: None = None) -> Self:
        """Learn the next rows; the first call starts the dictionary.

        Any way of cutting a stream into calls gives the same dictionary. A call that fails or is
        interrupted leaves the map as it was.
        """
        self._advance(X, None, restart=False)
        return self

    @explained_by(OnlineTransformer.transform)
    def transform(self, X: ArrayLike) -> Any:
        """Compute the coordinates of rows in the dictionary as it stands; changes nothing.

        Returns
        -------
        ndarray of shape (n_samples, n_atoms)
            Coordinates, a column for each atom so far; float32 for float32 rows and else float64.
        """
        check_is_fitted(self)
        self._check_structure()
        state = self._state  # read once: another thread may install a new one
        X = validated(self, X, reset=False, dtype=[np.float64, np.float32])
        rows = np.ascontiguousarray(X, dtype=np.float64)
        with one_blas_thread:
            Phi, _ = coordinates(kernel_of(self), state["basis"], rows)
        return Phi.astype(X.dtype, copy=False)

    @property
    def components_(self) -> Array:
        """The atoms, in the order of their entry."""
        return self._fitted_state("components_")["basis"]["atoms"].copy()

    @property
    def _n_features_out(self):
        return len(self._fitted_state("_n_features_out")["basis"]["atoms"])

    def _validated_rows(self, X, y, restart):
        X = validated(self, X, reset=restart, dtype=np.float64, order="C")
        return X, np.zeros(len(X))  # a map has no targets; the shell wants their shape

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "basis": start_basis(n_features),
            "sampler": self._rule().start(n_features),
        }

    def _learn(self, state, X, y):
        kernel, t = kernel_of(self), state["t"]
        for _ in growth(kernel, self._rule(), state["sampler"], state["basis"], X, t):
            pass  # a map does not learn on the coordinates of rows
        state["t"] += len(X)
        return kernel.diagonal(X)  # refused by the shell where it overflows

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@inherit_documentation
class ALDNystroem(NovelRows, _GrowingNystroem):
    """Nyström map whose dictionary takes the rows that its atoms do not nearly span.

    A row x becomes an atom when approximate linear dependence (ALD) fails,

        min_β ‖Σⱼ βⱼ k(sⱼ, ·) − k(x, ·)‖² = k(x, x) − k_S(x)ᵀ K_S⁻¹ k_S(x) > novelty.

    See Also
    --------
    OnlineNystroem : Atoms sampled by their leverage.
    BudgetNystroem : The first rows as atoms.
    sklearn.kernel_approximation.Nystroem : A fixed number of atoms, drawn from a whole sample.

    Notes
    -----
    *Cost.* O(J (d + J)) per row with J atoms, in products over blocks of rows; O(J²) memory.

    *A map that grows.*

    *Theorem.* The rows' distances to the span are at most `novelty`, so that over T rows
    ‖K − K̃‖₂ ≤ T `novelty` for the last map (Lemma 4.5 of [1]_ says it for the rows between two
    growths, and T √`novelty` for coordinates as they were when their row was met). The
    determinant of K_S is above α^J with α = `novelty`, hence so is the product of the J largest
    eigenvalues λᵢ of K: J < 2 ln(R₀/α) / ln(1/r) when λᵢ ≤ R₀ rⁱ, which is Lemma 3.1 of [1]_ (its
    exponent is misprinted) with a constant.

    *Departures.* The first row enters if k(x, x) exceeds the threshold. A row whose distance is
    below 1e-10 k(x, x) never enters, however small `novelty`: it differs from dependent rows by
    rounding only. With a zero gradient the paper's learners skip a row; a map sees no gradients.

    References
    ----------
    .. [1] Li & Liao 2023, equations (4) and (5), Lemmas 3.1 and 4.5.
    .. [2] Y. Engel, S. Mannor and R. Meir, "The Kernel Recursive Least-Squares Algorithm", IEEE
       Transactions on Signal Processing 52(8), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import ALDNystroem
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> ald = ALDNystroem(gamma=1.0, novelty=1e-3).fit(X)
    >>> ald.transform(X).shape
    (200, 6)
    >>> ald.partial_fit(X + 1).transform(X).shape
    (200, 9)
    """

    _test_parameters = ({}, {"kernel": "poly", "horizon": 100})

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        novelty: float | None = None,
        horizon: int | None = None,
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.novelty = novelty
        self.horizon = horizon


@inherit_documentation
class BudgetNystroem(_GrowingNystroem):
    """Nyström map on the first rows that are linearly independent, up to a budget.

    Parameters
    ----------
    budget : int, default=400
        Most atoms B, as many as the experiments of [3]_ keep. Raised in mid-stream, it lets the
        next rows in; lowered, it removes nothing.

    See Also
    --------
    ALDNystroem : Atoms that the others do not nearly span.
    OnlineNystroem : Atoms sampled by their leverage.

    Notes
    -----
    *Cost.* O(J (d + J)) per row with J atoms until the budget is full, nothing after, when nothing
    changes any more; O(J²) memory.

    *A map that grows.*

    *Departures.* A row at a distance below 1e-10 k(x, x) from the span of the atoms, such as a
    repeated one, adds no coordinate and does not use up the budget either: a stream that starts
    with repeats still fills it. Where the first B rows are independent, they are the atoms, and
    the features differ from K_S^(-1/2) k_S(x) of [1]_ by a rotation.

    References
    ----------
    .. [1] C. K. I. Williams and M. Seeger, "Using the Nyström Method to Speed Up Kernel
       Machines", NIPS 2000, section 2.
    .. [2] J. Lu, S. C. H. Hoi, J. Wang, P. Zhao and Z.-Y. Liu, "Large Scale Online Kernel
       Learning", JMLR 17(47), 2016 (NOGD).
    .. [3] Li & Liao 2023, Appendix A.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import BudgetNystroem
    >>> X = np.array([[0.0], [0.0], [1.0], [2.0]])
    >>> BudgetNystroem(gamma=1.0, budget=2).fit(X).components_
    array([[0.],
           [1.]])
    """

    _test_parameters = ({}, {"budget": 20})

    _parameter_constraints = {
        **OneKernel._parameter_constraints,
        "budget": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        budget: int = 400,
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.budget = budget

    def _rule(self):
        return FirstRows(self.budget)


@inherit_documentation
@explained_by(ALDNystroem)
class OnlineNystroem(SampledRows, _GrowingNystroem):
    """Nyström map whose atoms are sampled by their ridge leverage scores (KORS).

    A row enters with probability p = min(β τ, 1), where its leverage is estimated from the rows
    that entered before it, each weighted by its 1/p: with S = diag(1/√p),

        τ = (1 + ε) r / (r + μ),   r = k(x, x) − k_S(x)ᵀ S (S K_S S + μ I)⁻¹ S k_S(x).

    Parameters
    ----------
    kors_mu : float, default=1.0
        Ridge μ, in the units of k(x, x): directions in which all rows together have less than
        this weight are given up. The default, and those of the next two, are the experiments' of
        [1]_.
    kors_beta : float, default=1.0
        Factor β of the probabilities; the theorem asks for 12 ln(T/δ). A change in mid-stream
        holds for the next rows, as does one of `kors_eps`.
    kors_eps : float, default=0.5
        Accuracy ε of the estimated scores, in (0, 1); only (1 + ε) β matters.

    See Also
    --------
    ALDNystroem : A deterministic dictionary, of rows that the others do not nearly span.
    BudgetNystroem : The first rows as atoms.

    Notes
    -----
    *Cost.* O(J (d + J)) per row with J sampled rows, in products over blocks of rows; O(J²) memory.

    *A map that grows.*

    *Theorem.* With β = 12 ln(T/δ) and ε = 1/2, with probability 1 − δ and at every t ≤ T,
    ‖K_t − K̃_t‖₂ ≤ μ, and at most 9 d_eff(μ) ln(2T/δ)² rows were sampled (Proposition 5 of [1]_).
    The default β = 1 has no such guarantee, and samples far fewer rows.

    *Departures.* Weights are S = diag(1/√p), as the theorem needs; the printed Python program has
    1/p. A row that comes first enters for sure. A sampled row at a distance below 1e-10 k(x, x)
    from the span of the atoms, such as a repeated one, counts in the scores as any other and adds
    no coordinate: the map's span is the same without it.

    References
    ----------
    .. [1] Jézéquel et al. 2019, section 3.2, Proposition 5, Appendix H.
    .. [2] D. Calandriello, A. Lazaric and M. Valko, "Second-Order Kernel Online Convex
       Optimization with Adaptive Sketching", ICML 2017 (KORS).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import OnlineNystroem
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> kors = OnlineNystroem(gamma=1.0, kors_mu=0.1, random_state=0).fit(X)
    >>> bool(len(kors.components_) < 20)
    True
    >>> Z = kors.transform(X)
    >>> bool(abs(Z[0] @ Z[99] - np.exp(-((X[0, 0] - X[99, 0]) ** 2))) < 0.1)
    True
    """

    _test_parameters = (
        {"random_state": 0},
        {"kernel": "laplacian", "kors_mu": 0.1, "random_state": 0},
    )
