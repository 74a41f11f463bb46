"""Nyström maps that grow with the stream (Jézéquel et al. 2019; Engel et al. 2004).

All three wear the shell of the online estimators and keep a dictionary of rows; they differ in
which rows become atoms.
"""

from itertools import islice
from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._linalg import one_blas_thread
from .._validation import validated
from ..base import OnlineEstimator
from ..dictionaries._nested import (
    coordinates,
    entry_probabilities,
    first_entry,
    first_novel,
    grow_basis,
    grow_sampler,
    start_basis,
    start_sampler,
    uniforms,
)
from ..kernels import KERNEL_CONSTRAINTS, KERNEL_STRUCTURE, kernel_of

_BLOCK = 256  # most rows that are tested together


def _entering(n, first):
    """Yield the rows, of n, that enter a dictionary; who is given one lets it in, then goes on.

    ``first(rows)`` tells at which place of a slice the first row enters, or the slice's length, as
    things stand. Blocks are as long as the gaps: they double where nothing enters, and start again
    from the length of a gap where something did, so that little is tested in vain.
    """
    start, length = 0, 1
    while start < n:
        stop = min(start + length, n)
        entry = start + first(slice(start, stop))
        if entry < stop:
            length = min(entry - start + 1, _BLOCK)
            yield entry
            start = entry + 1
        else:
            length = min(2 * length, _BLOCK)
            start = stop


class _GrowingNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnlineEstimator):
    """Shell and basis of the maps; a subclass lists the rows that become atoms."""

    _parameter_constraints = KERNEL_CONSTRAINTS
    _structural = KERNEL_STRUCTURE

    def fit(self, X, y=None):
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order in which they arrived.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._advance(X, None, restart=True)
        return self

    def partial_fit(self, X, y=None):
        """Learn the next rows; the first call starts the dictionary.

        Any way of cutting a stream into calls gives the same dictionary. A call that fails or is
        interrupted leaves the map as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted transformer.
        """
        self._advance(X, None, restart=False)
        return self

    def transform(self, X):
        """Compute the coordinates of rows in the dictionary as it stands; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

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
    def components_(self):
        """Ndarray of shape (n_atoms, n_features) : the atoms, in the order of their entry."""
        return self._fitted_state("components_")["basis"]["atoms"].copy()

    @property
    def _n_features_out(self):
        return len(self._fitted_state("_n_features_out")["basis"]["atoms"])

    def _validate(self):
        super()._validate()
        kernel_of(self)

    def _validated_rows(self, X, y, restart):
        X = validated(self, X, reset=restart, dtype=np.float64, order="C")
        return X, np.zeros(len(X))  # a map has no targets; the shell wants their shape

    def _start(self, n_features, n_targets=None):
        return {"t": 0, "basis": start_basis(n_features)}

    def _learn(self, state, X, y):
        kernel = kernel_of(self)
        for i in self._atoms(kernel, state, X):
            grow_basis(kernel, state["basis"], X[i])
        state["t"] += len(X)
        return kernel.diagonal(X)  # refused by the shell where it overflows

    def _atoms(self, kernel, state, X):
        """Yield, one after the other, the rows to be added to the basis."""
        raise NotImplementedError

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _novel_rows(kernel, basis, X, novelty):
    """Yield the rows farther than `novelty` from the span of the atoms before them."""

    def first(rows):
        _, distances = coordinates(kernel, basis, X[rows])
        return first_novel(kernel, basis, X[rows], distances, novelty)

    return _entering(len(X), first)


class ALDNystroem(_GrowingNystroem):
    """Nyström map whose dictionary takes the rows that its atoms do not nearly span.

    A row x becomes an atom when approximate linear dependence (ALD) fails,

        min_β ‖Σⱼ βⱼ k(sⱼ, ·) − k(x, ·)‖² = k(x, x) − k_S(x)ᵀ K_S⁻¹ k_S(x) > novelty.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy", "poly"}, Kernel \
            or callable, default="rbf"
        The kernel; formulas are in :mod:`sklearn_okl.kernels`, ``"poly"`` is
        (γ x·y + coef0)^degree. A callable gets two arrays of rows and returns their matrix.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``; for ``"poly"`` the factor of the
        inner product. None is ``1 / n_features``, or the gamma of an object that has one. A
        callable takes none.
    degree : int, default=3
        Degree of ``"poly"``, >= 1. Other kernels do not read it.
    coef0 : float, default=1.0
        Constant of ``"poly"``, >= 0. Other kernels do not read it.
    novelty : float, default=None
        Threshold α of the squared distance, in the units of k(x, x), which is 1 for all kernels
        but ``"poly"`` and callables. None takes 25 / `horizon`, the setting of [1]_, and 0.01
        without a horizon. A change in mid-stream holds for the next rows.
    horizon : int, default=None
        Number T of rows to come, read only where `novelty` is None. Below 50 rows the
        threshold stays at 1/2, so that a first row of size 1 enters.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms, in the order of their entry.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OnlineNystroem : Atoms sampled by their leverage.
    BudgetNystroem : The first rows as atoms.
    sklearn.kernel_approximation.Nystroem : A fixed number of atoms, drawn from a whole sample.

    Notes
    -----
    *Cost.* O(J (d + J)) per row with J atoms, in products over blocks of rows; O(J²) memory.

    *A map that grows.* `transform` gives the coordinates L⁻¹ k_S(x) with L the Cholesky factor of
    K_S, whose diagonal is raised by 1e-12 of itself for stability. The number of columns is that
    of the atoms so far. The basis is nested: what `partial_fit` adds is columns on the right, and
    the old ones keep their meaning and, up to rounding, their values: a linear model that follows
    may be padded with zeros.

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
    .. [1] J. Li and S. Liao, "Nearly Optimal Algorithms with Sublinear Computational Complexity
       for Online Kernel Regression", ICML 2023, equations (4) and (5), Lemmas 3.1 and 4.5.
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

    _parameter_constraints = {
        **KERNEL_CONSTRAINTS,
        "novelty": [Interval(Real, 0, None, closed="neither"), None],
        "horizon": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self, kernel="rbf", gamma=None, *, degree=3, coef0=1.0, novelty=None, horizon=None
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.novelty = novelty
        self.horizon = horizon

    def _atoms(self, kernel, state, X):
        return _novel_rows(kernel, state["basis"], X, self._threshold())

    def _threshold(self):
        if self.novelty is not None:
            return self.novelty
        return 0.01 if self.horizon is None else min(25.0 / self.horizon, 0.5)


class BudgetNystroem(_GrowingNystroem):
    """Nyström map on the first rows that are linearly independent, up to a budget.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy", "poly"}, Kernel \
            or callable, default="rbf"
        The kernel; formulas are in :mod:`sklearn_okl.kernels`, ``"poly"`` is
        (γ x·y + coef0)^degree. A callable gets two arrays of rows and returns their matrix.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``; for ``"poly"`` the factor of the
        inner product. None is ``1 / n_features``, or the gamma of an object that has one. A
        callable takes none.
    degree : int, default=3
        Degree of ``"poly"``, >= 1. Other kernels do not read it.
    coef0 : float, default=1.0
        Constant of ``"poly"``, >= 0. Other kernels do not read it.
    budget : int, default=400
        Most atoms B, as many as the experiments of [3]_ keep. Raised in mid-stream, it lets the
        next rows in; lowered, it removes nothing.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms, in the order of their entry.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    ALDNystroem : Atoms that the others do not nearly span.
    OnlineNystroem : Atoms sampled by their leverage.

    Notes
    -----
    *Cost.* O(J (d + J)) per row with J atoms until the budget is full, nothing after; O(J²) memory.

    *A map that grows.* `transform` gives the coordinates L⁻¹ k_S(x) with L the Cholesky factor of
    K_S, whose diagonal is raised by 1e-12 of itself for stability. The number of columns is that
    of the atoms so far. The basis is nested: what `partial_fit` adds is columns on the right, and
    the old ones keep their meaning and, up to rounding, their values. Once the budget is full
    nothing changes any more.

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
    .. [3] J. Li and S. Liao, "Nearly Optimal Algorithms with Sublinear Computational Complexity
       for Online Kernel Regression", ICML 2023, Appendix A.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.features import BudgetNystroem
    >>> X = np.array([[0.0], [0.0], [1.0], [2.0]])
    >>> BudgetNystroem(gamma=1.0, budget=2).fit(X).components_
    array([[0.],
           [1.]])
    """

    _parameter_constraints = {
        **KERNEL_CONSTRAINTS,
        "budget": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, kernel="rbf", gamma=None, *, degree=3, coef0=1.0, budget=400):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.budget = budget

    def _atoms(self, kernel, state, X):
        basis = state["basis"]
        room = max(self.budget - len(basis["atoms"]), 0)
        return islice(_novel_rows(kernel, basis, X, 0.0), room)


class OnlineNystroem(_GrowingNystroem):
    """Nyström map whose atoms are sampled by their ridge leverage scores (KORS).

    A row enters with probability p = min(β τ, 1), where its leverage is estimated from the rows
    that entered before it, each weighted by its 1/p: with S = diag(1/√p),

        τ = (1 + ε) r / (r + μ),   r = k(x, x) − k_S(x)ᵀ S (S K_S S + μ I)⁻¹ S k_S(x).

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "matern12", "matern32", "matern52", "cauchy", "poly"}, Kernel \
            or callable, default="rbf"
        The kernel; formulas are in :mod:`sklearn_okl.kernels`, ``"poly"`` is
        (γ x·y + coef0)^degree. A callable gets two arrays of rows and returns their matrix.
    gamma : float, default=None
        Inverse length scale of the kernel, squared for ``"rbf"``; for ``"poly"`` the factor of the
        inner product. None is ``1 / n_features``, or the gamma of an object that has one. A
        callable takes none.
    degree : int, default=3
        Degree of ``"poly"``, >= 1. Other kernels do not read it.
    coef0 : float, default=1.0
        Constant of ``"poly"``, >= 0. Other kernels do not read it.
    kors_mu : float, default=1.0
        Ridge μ, in the units of k(x, x): directions in which all rows together have less than
        this weight are given up. The default, and those of the next two, are the experiments' of
        [1]_.
    kors_beta : float, default=1.0
        Factor β of the probabilities; the theorem asks for 12 ln(T/δ). A change in mid-stream
        holds for the next rows, as does one of `kors_eps`.
    kors_eps : float, default=0.5
        Accuracy ε of the estimated scores, in (0, 1); only (1 + ε) β matters.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features)
        The atoms, in the order of their entry.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    ALDNystroem : A deterministic dictionary, of rows that the others do not nearly span.
    BudgetNystroem : The first rows as atoms.

    Notes
    -----
    *Cost.* O(J (d + J)) per row with J sampled rows, in products over blocks of rows; O(J²) memory.

    *A map that grows.* `transform` gives the coordinates L⁻¹ k_S(x) with L the Cholesky factor of
    K_S, whose diagonal is raised by 1e-12 of itself for stability. The number of columns is that
    of the atoms so far. The basis is nested: what `partial_fit` adds is columns on the right, and
    the old ones keep their meaning and, up to rounding, their values: a linear model that follows
    may be padded with zeros.

    *Theorem.* With β = 12 ln(T/δ) and ε = 1/2, with probability 1 − δ and at every t ≤ T,
    ‖K_t − K̃_t‖₂ ≤ μ, and at most 9 d_eff(μ) ln(2T/δ)² rows were sampled (Proposition 5 of [1]_).
    The default β = 1 has no such guarantee, and samples far fewer rows.

    *Departures.* Weights are S = diag(1/√p), as the theorem needs; the printed Python program has
    1/p. A row that comes first enters for sure. A sampled row at a distance below 1e-10 k(x, x)
    from the span of the atoms, such as a repeated one, counts in the scores as any other and adds
    no coordinate: the map's span is the same without it.

    References
    ----------
    .. [1] R. Jézéquel, P. Gaillard and A. Rudi, "Efficient online learning with Kernels for
       adversarial large scale problems", NeurIPS 2019, section 3.2, Proposition 5, Appendix H.
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

    _structural = (*KERNEL_STRUCTURE, "kors_mu")
    _parameter_constraints = {
        **KERNEL_CONSTRAINTS,
        "kors_mu": [Interval(Real, 0, None, closed="neither")],
        "kors_beta": [Interval(Real, 0, None, closed="neither")],
        "kors_eps": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernel="rbf",
        gamma=None,
        *,
        degree=3,
        coef0=1.0,
        kors_mu=1.0,
        kors_beta=1.0,
        kors_eps=0.5,
        random_state=None,
    ):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kors_mu = kors_mu
        self.kors_beta = kors_beta
        self.kors_eps = kors_eps
        self.random_state = random_state

    def _start(self, n_features, n_targets=None):
        source = check_random_state(self.random_state)
        rng = np.random.RandomState(source.randint(2**31 - 1))
        return {**super()._start(n_features), "sampler": start_sampler(n_features, rng)}

    def _atoms(self, kernel, state, X):
        basis, sampler = state["basis"], state["sampler"]
        settings = self.kors_mu, self.kors_beta, self.kors_eps
        drawn = uniforms(sampler, len(X))

        def first(rows):
            probabilities = entry_probabilities(kernel, sampler, X[rows], *settings)
            return first_entry(kernel, sampler, X[rows], probabilities, drawn[rows], *settings)

        for i in _entering(len(X), first):
            grow_sampler(kernel, sampler, X[i], *settings)
            x = X[i : i + 1]
            _, distances = coordinates(kernel, basis, x)
            if first_novel(kernel, basis, x, distances, 0.0) == 0:
                yield i
