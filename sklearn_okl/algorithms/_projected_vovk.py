r"""R. Jézéquel, P. Gaillard, A. Rudi, "Efficient online learning with kernels" (2019): PKAWV.

The Vovk-Azoury-Warmuth forecaster in a subspace of the space of one kernel, eq. (4), Algorithms 1
and 2.
"""

from __future__ import annotations

from math import comb
from numbers import Real

import numpy as np
from sklearn.utils import check_array, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import inherit_documentation
from .._types import Any, Array, ArrayLike, Seed
from ..base import OneAgainstRestClassifier, OnlineRegressor, SampledRows, SumsOfRows, _same
from ..base._sums import refuse_weights
from ..dictionaries import _hindsight as hindsight
from ..dictionaries._nested import coordinates, span_of
from ..features import TaylorFeatures
from ..kernels import kernel_of
from ..learners import VAWRegressor

_ROWS = 512  # rows mapped at once: bounds the memory for features
_MOST_COMPONENTS = 10_000  # Taylor features beyond which the learner's matrices pass 1.6 GB


class _ProjectedVovk(SumsOfRows, SampledRows):
    """Both classes' algorithm: a map into the subspace, and VAW on it.

    Parameters
    ----------
    degree : int, default=2
        With ``projection="taylor"`` the degree M, >= 1, at which the series is cut; 2 to 4 in the
        paper's experiments. Otherwise the degree of ``"poly"``.
    projection : {"nystroem", "taylor", "beforehand"}, default="nystroem"
        The subspace. ``"nystroem"``: the span of rows sampled from the stream by their ridge
        leverage scores (KORS), for any kernel; all rows are kept. ``"taylor"``: monomials up to
        degree M times a Gaussian, fixed and of bounded memory, for few inputs and a wide kernel;
        see :class:`TaylorFeatures`. ``"beforehand"``: the span of the rows of `dictionary`.
    dictionary : array-like of shape (n_atoms, n_features), default=None
        Rows for ``projection="beforehand"``, and only for it. Rows in the span of those before them
        are left out.
    alpha : float, default=1.0
        Ridge penalty, > 0, in the unit of the kernel (the paper's lambda; 1 in its experiments).
    forecaster : {"vaw", "ridge"}, default="vaw"
        ``"vaw"`` is the algorithm with the theorems; ``"ridge"`` is online ridge regression in the
        same subspace.
    kors_mu : float, default=1.0
        Accuracy of the sampled subspace, > 0, in the unit of the kernel (the paper's mu): the
        smaller, the more atoms. As it goes to 0 every row enters, which is Kernel-AWV.
    kors_beta : float, default=1.0
        Factor of the probabilities to enter, > 0. Theory asks for 12 ln(n / delta).
    kors_eps : float, default=0.5
        Accuracy of the estimated leverage scores, >= 0; the theory is for 1/2.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Atoms of the basis, in the order in which they entered; not with Taylor features.

    References
    ----------
    .. [1] Jézéquel et al. 2019, eq. (4), Theorems 3, 4 and 6, Algorithms 1 and 2.
    .. [2] Calandriello et al. 2017b, Algorithm 1 (KORS).
    """

    _parameter_constraints = {
        **SampledRows._parameter_constraints,
        "projection": [StrOptions({"taylor", "nystroem", "beforehand"})],
        "dictionary": ["array-like", None],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "forecaster": [StrOptions({"vaw", "ridge"})],
        "kors_eps": [Interval(Real, 0, None, closed="left")],
    }
    _structural = ("projection", "dictionary", "alpha")

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 2,
        coef0: float = 1.0,
        projection: str = "nystroem",
        dictionary: ArrayLike | None = None,
        alpha: float = 1.0,
        forecaster: str = "vaw",
        kors_mu: float = 1.0,
        kors_beta: float = 1.0,
        kors_eps: float = 0.5,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma,
            degree=degree,
            coef0=coef0,
            kors_mu=kors_mu,
            kors_beta=kors_beta,
            kors_eps=kors_eps,
            random_state=random_state,
        )
        self.projection = projection
        self.dictionary = dictionary
        self.alpha = alpha
        self.forecaster = forecaster

    @property
    def components_(self) -> Array:
        """Atoms of the basis, of shape (n_components, n_features); not with Taylor features."""
        state = self._fitted_state("components_")
        if "basis" not in state:
            raise AttributeError("Taylor features have no atoms: there are no 'components_'.")
        return state["basis"]["atoms"].copy()

    def _validate(self):
        super()._validate()
        kernel = kernel_of(self)
        if self.projection == "taylor" and kernel.exponent != 2:
            raise ValueError(
                "projection='taylor' expands the Gaussian kernel, kernel='rbf'; take "
                f"projection='nystroem' for kernel={self.kernel!r}."
            )
        if (self.projection == "beforehand") != (self.dictionary is not None):
            raise ValueError(
                "'dictionary' and projection='beforehand' go together: give both or neither."
            )

    def _structure(self):
        structure = super()._structure()
        if self.dictionary is not None:
            structure["dictionary"] = np.asarray(self.dictionary)  # frames do not compare as one
        return structure

    def _vovk(self):
        return VAWRegressor(self.alpha, forecaster=self.forecaster)

    def _start(self, n_features, n_targets=None):
        if self.projection == "nystroem":
            return hindsight.start(self._vovk(), self._rule(), n_features, n_targets)
        if self.projection == "taylor":
            state = {"taylor": self._taylor(n_features)}
            dimension = len(state["taylor"].powers_)
        else:
            state = {"basis": self._given_basis(n_features)}
            dimension = len(state["basis"]["atoms"])
        return {"t": 0, **state, "model": self._vovk()._start(dimension, n_targets)}

    def _taylor(self, d):
        dimension = comb(self.degree + d, self.degree)
        if dimension > _MOST_COMPONENTS:
            raise ValueError(
                f"Taylor features of degree M = {self.degree} of d = {d} inputs have dimension "
                f"C(M + d, M) = {dimension}, above the {_MOST_COMPONENTS} that are feasible. "
                "Lower the degree, or take projection='nystroem'."
            )
        return TaylorFeatures(kernel_of(self).gamma, self.degree).fit(np.zeros((1, d)))

    def _given_basis(self, n_features):
        """Return the basis of the rows given, without those that earlier ones span."""
        atoms = check_array(self.dictionary, dtype=np.float64, input_name="dictionary")
        if atoms.shape[1] != n_features:
            raise ValueError(
                f"dictionary has {atoms.shape[1]} features, but X has {n_features}. Give rows like "
                "those of X."
            )
        basis, _ = span_of(kernel_of(self), atoms)
        if len(basis["atoms"]) == 0:
            raise ValueError("The kernel is zero on the whole dictionary; give other rows.")
        return basis

    def _map(self, state, X):
        if "taylor" in state:
            return state["taylor"].transform(X)
        return coordinates(kernel_of(self), state["basis"], X)[0]

    def _order_matters(self, has_age=False):
        if self.projection == "nystroem":
            return (
                "its rows are sampled from the stream, by what came before each of them. Give "
                "projection='taylor' or 'beforehand'."
            )
        return None

    def _unfit(self, other):
        labels = [getattr(model, "classes_", None) for model in (self, other)]
        if not _same(*labels):
            return "The models have learnt other classes. Name all of them in the first calls."
        if not _same(self._state.get("basis"), other._state.get("basis")):
            return "The models have other dictionaries. Give both the same."
        return self._vovk()._unfit_sums(self._state["model"], other._state["model"])

    def _merged(self, state, theirs):
        self._vovk()._merged(state["model"], theirs["model"])
        state["t"] += theirs["t"]

    def _without(self, state, X, y, sample_weight=None):
        vovk = self._vovk()
        refuse_weights(self, sample_weight)
        for rows in gen_batches(len(y), _ROWS):
            vovk._without(state["model"], self._map(state, X[rows]), y[rows])
        state["t"] -= len(y)

    def _learn(self, state, X, y):
        vovk = self._vovk()
        if self.projection == "nystroem":
            return hindsight.learn(vovk, kernel_of(self), self._rule(), state, X, y)
        forecasts = np.empty(y.shape)
        for rows in gen_batches(len(y), _ROWS):
            forecasts[rows] = vovk._learn(state["model"], self._map(state, X[rows]), y[rows])
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        vovk, parts = self._vovk(), []
        for rows in gen_batches(len(X), _ROWS):
            if self.projection == "nystroem":
                part = hindsight.forecast(vovk, kernel_of(self), self._rule(), state, X[rows])
            else:
                part = vovk._forecast(state["model"], self._map(state, X[rows]))
            parts.append(part)
        return np.concatenate(parts)


@inherit_documentation
class PKAWVRegressor(_ProjectedVovk, OnlineRegressor):
    r"""PKAWV: the Vovk-Azoury-Warmuth forecaster in a small subspace of a kernel's space.

    Round t forecasts :math:`\hat y_t = \hat f_t(x_t)` with (eq. (4) of [1]_)

    .. math:: \hat f_t = \arg\min_{f \in \tilde H_t} \sum_{s<t} (y_s - f(x_s))^2
              + \alpha \|f\|^2 + f(x_t)^2 ,

    where :math:`\tilde H_t` is fixed, or grows with atoms sampled from the stream.

    See Also
    --------
    KernelVAWRegressor : The same in the whole space, at :math:`O(t^2)` per round.
    PKAWVClassifier : The sign of the same, for two classes.
    VAWRegressor : The learner on the coordinates.
    TaylorFeatures : The map of ``projection="taylor"``.

    Notes
    -----
    *Cost.* :math:`O(J^2)` per round in a subspace of J dimensions, in blocks of 32 rows by matrix
    products, which is exact; J is :math:`\binom{M + d}{M}` for Taylor features of d inputs.
    ``"nystroem"`` tests up to 128 rows at once for the first to enter, and pays
    :math:`O(t (J + d))` for each atom in round t: its coordinate of all past rows. Memory is
    :math:`O(J^2)`, with ``"nystroem"`` :math:`O(t (J + d))` more, 8 (J + d) bytes for each row that
    ever came. For streams without end take a fixed subspace.

    *Sampling.* A row is decided on when it comes, before its forecast: if it enters, it is
    forecast in the grown subspace. ``predict`` decides in the same way, with the uniform number
    that waits for the next row. The first row enters.

    *Numerics.* Coordinates are those of the nested Cholesky basis of the atoms: a new atom is a
    new coordinate, and borders :math:`A = \alpha I + \Phi^T \Phi`, whose condition is at most
    :math:`1 + \|K\| / \alpha` however near the atoms lie to each other. The paper's recursion
    lives on :math:`K_{nm}^T K_{nm} + \alpha K_{mm}`, the same seen through :math:`K_{mm}`, which
    nearly equal atoms make singular. A sampled row within 1e-5 of the span, as a share of its norm,
    adds no coordinate: the subspace has it. The factor of the atoms' kernel matrix is that of the
    matrix with 1e-13 k(x, x) added to its diagonal, which moves the kernel of the subspace by about
    as much; without it, hundreds of atoms of a wide kernel have no usable factor.

    *Theorem.* For a fixed subspace, :math:`|y_t| \le B`, and
    :math:`\mu = \|K - \Phi \Phi^T\|`, against every f of the whole space (Theorem 3 of [1]_)

    .. math:: \sum_t (y_t - \hat y_t)^2 - \sum_t (y_t - f(x_t))^2 \le \alpha \|f\|^2
              + B^2 \ln \det(I + K / \alpha) + (\mu + \alpha) n \mu B^2 / \alpha^2 ;

    :math:`n \mu B^2 / \alpha` does for the last term. With Taylor features of degree
    :math:`M \ge \max(8 R^2 / \sigma^2, 2 \ln(n / \min(\alpha, 1)))` on :math:`\|x_t\| \le R`
    it is at most half the one before it (Theorem 4). With sampled atoms see Theorem 6.

    *Departures.* The authors' program stores 1/p of an atom where the leverage scores need
    :math:`1 / \sqrt p`, and lists equal monomials repeatedly, which changes no forecast.

    Examples
    --------
    >>> from sklearn_okl import PKAWVRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(1000)
    >>> model = PKAWVRegressor("rbf", 0.05, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    >>> len(model.components_) < 100
    True

    A fixed map, whose memory does not grow:

    >>> model = PKAWVRegressor("rbf", 0.05, projection="taylor", degree=3).fit(X, y)
    >>> model.predict(X[-2:]).shape
    (2,)
    """

    _test_parameters = (
        {"random_state": 0},
        {"projection": "taylor"},
        {"gamma": 1.0, "kors_mu": 0.01, "forecaster": "ridge", "random_state": 0},
    )

    _multi_output = True


@inherit_documentation
class PKAWVClassifier(_ProjectedVovk, OneAgainstRestClassifier):
    r"""PKAWV for classes: the sign of the regression on targets -1 and +1.

    The decision value of a row is the forecast of :class:`PKAWVRegressor`, fed -1 for the first of
    the sorted classes and +1 for the second. Each of C > 2 classes has a column of targets, +1 for
    its own rows and -1 for all others; they share the subspace and its inverse, and the label
    forecast is that of the largest decision value.

    See Also
    --------
    PKAWVRegressor : The regression, with the formulas.

    Notes
    -----
    *Cost.* That of :class:`PKAWVRegressor`: :math:`O(J^2)` per round in a subspace of J dimensions,
    and :math:`O(t (J + d))` for each atom that enters in round t. C > 2 classes add O(J C) per
    round, and O(t C) for each atom.

    *Theorem.* The square loss of a sign is at most that of the decision value: a label forecast
    wrongly costs a squared error of at least 1, and of more than two classes squared errors of at
    least 2 together. The regret bounds of the regression, with B = 1 and for each class, therefore
    bound the number of mistakes by the square loss of any function of the kernel's space plus the
    regret.

    *Departures.* More than two classes are not in [1]_; its subspace does not depend on targets.

    *Ties.* Where targets cancel out, as those of rows that are all alike may, the decision value is
    0 but for its rounding, 1e-16 or so. That says the label then, and is another one where rows are
    cut into calls in another way.

    There is no `predict_proba`: decision values are not log-odds.

    Examples
    --------
    >>> from sklearn_okl import PKAWVClassifier
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(1000)
    >>> labels = (y > 0).astype(int)
    >>> model = PKAWVClassifier("rbf", 0.05, random_state=0)
    >>> forecasts = model.prequential_predict(X, labels)
    >>> bool((forecasts == labels).mean() > 0.6)
    True
    """

    _test_parameters = ({"random_state": 0}, {"projection": "taylor"})
