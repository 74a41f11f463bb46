r"""J. Lu, S. C. H. Hoi, J. Wang, P. Zhao, Z.-Y. Liu, "Large scale online kernel learning" (2016).

FOGD: kernel gradient descent at a cost that does not grow, on random Fourier features.
"""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state, gen_batches

from .._documentation import explained_by, inherit_documentation
from .._linalg import aligned_slices
from .._types import Any, Array, ArrayLike, Seed
from ..base import OneAgainstRestClassifier, OnFourierFeatures, OnlineRegressor
from ..base._descent import GradientSteps
from ..base._explainable import Explainable
from ..base._loss import LABEL_LOSSES, TARGET_LOSSES, LossOfLabels, LossOfTargets
from ..features._fourier import FourierBank, FourierFeatures
from ..inspection._parts import waves_of_bank
from ..inspection._steps import Sums
from ..kernels import SHIFT_INVARIANT_CONSTRAINTS

_FEATURES = OnFourierFeatures._parameter_constraints
_BLOCK = 64  # rows learnt at once
_TILE = 512  # rows whose random features are held at once, a multiple of the block


@explained_by(FourierFeatures)
class _FourierDescent(Explainable, GradientSteps):
    r"""FOGD: what its regressor and its classifier share.

    Parameters
    ----------
    n_components : int, default=100
        Number D of random features; the papers' D frequencies in paired form are 2D.
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`. The papers' constant
        :math:`c / \sqrt T` is ``eta0=c / sqrt(T), power_t=0``; the default needs no T.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives. The draw is that of
        :class:`FourierFeatures`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_components,) or (n_classes, n_components)
        Current w; one for each class where there are more than two.
    frequencies_ : ndarray of shape (n_features, m)
        Frequencies in use.

    References
    ----------
    .. [1] Lu et al. 2016, Algorithm 1.
    .. [2] Li & Liao 2023, appendix B.
    """

    _shared_test_parameters = {"gamma": 0.02, "n_components": 40, "random_state": 0}

    _parameter_constraints = {
        **{name: kinds for name, kinds in _FEATURES.items() if name != "kernels"},
        **SHIFT_INVARIANT_CONSTRAINTS,
        **GradientSteps._parameter_constraints,
    }
    _structural = ("kernel", "gamma", "n_components", "form", "sampling", "frequencies")
    _has_nameless_weights = True  # of random features

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        n_components: int = 100,
        loss: Any = "log_loss",
        eta0: float = 0.1,
        power_t: float = 0.5,
        radius: float | None = None,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.n_components = n_components
        self.loss = loss
        self.eta0 = eta0
        self.power_t = power_t
        self.radius = radius
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    @property
    def coef_(self) -> Array:
        """Current coefficients of the random features; a row for each of more than two classes."""
        return self._fitted_state("coef_")["theta"].copy()

    @property
    def frequencies_(self) -> Array:
        """Frequencies in use, of shape (n_features, m)."""
        return self._fitted_state("frequencies_")["frequencies"][0].copy()

    def _bank(self):
        return FourierBank(
            [{"kernel": self.kernel, "gamma": self.gamma}],
            self.n_components,
            self.form,
            self.sampling,
            None if self.frequencies is None else [self.frequencies],
        )

    def _start(self, n_features, n_targets=None):
        bank = self._bank()
        maps = bank.start(n_features, check_random_state(self.random_state))
        targets = () if n_targets is None else (n_targets,)
        return {**maps, "t": 0, "theta": np.zeros((*targets, bank.n_features_out(maps)))}

    def _learn(self, state, X, y):
        bank, forecasts = self._bank(), np.empty(y.shape)
        for tile in aligned_slices(state["t"], len(y), _TILE):
            Z = bank.transform(state, X[tile])[0]  # (n, D)
            for rows in aligned_slices(state["t"], len(Z), _BLOCK):
                targets = y[tile][rows]
                forecasts[tile][rows] = self._learn_features(state, Z[rows], targets)
        return forecasts

    def _explained(self, X):
        state, X = self._asked(X)
        theta = np.atleast_2d(state["theta"]).T[None]  # (1, D, q)
        known = state["frequencies"], theta, np.arange(X.shape[1]), state.get("phases")
        return Sums([waves_of_bank(X, *known)])

    def _forecast(self, state, X):
        bank, theta = self._bank(), state["theta"]
        forecasts = np.empty((len(X), *theta.shape[:-1]))
        for rows in gen_batches(len(X), _TILE):
            forecasts[rows] = bank.transform(state, X[rows])[0] @ theta.T
        return forecasts


@inherit_documentation
class FOGDRegressor(LossOfTargets, _FourierDescent, OnlineRegressor):
    r"""Fourier online gradient descent: gradient descent on the random features of one kernel.

    Round t forecasts :math:`\hat y_t = w_t^T z(x_t)`, with z random Fourier features of the
    kernel, sees the target and steps against the slope of the loss [1]_:

    .. math:: w_{t+1} = w_t - \eta_t \ell'(\hat y_t) z(x_t) .

    See Also
    --------
    FOGDClassifier : The same for labels.
    NOGDRegressor : Features from the first rows of the stream in place of random ones.
    RakerRegressor : The same for a dictionary of kernels.
    OGDRegressor : The learner on any features.

    Notes
    -----
    *Cost.* O(d D) per round for d inputs and D features, and as much memory. It is
    :class:`FourierFeatures` and then :class:`OGDRegressor`, both a block of rows at a time: the
    square loss without a ball takes one triangular solve a block, anything else goes row by row
    on the rows' inner products.

    *Theorem.* For the constant step :math:`\eta`, convex losses, and any u of the feature space,
    as :math:`\|z\| = 1` in the paired form with an even D,

    .. math:: \sum_t \ell_t(\hat y_t) - \sum_t \ell_t(u^T z_t)
              \le \frac{\|u\|^2}{2 \eta} + \frac{\eta}{2} \sum_t \ell_t'(\hat y_t)^2 .

    A function :math:`f = \sum_t a_t k(x_t, \cdot)` of the RKHS has a rival
    :math:`u = \sum_t a_t z(x_t)` there, which forecasts as f does up to
    :math:`\epsilon \sum_t |a_t|` once :math:`|z^T z' - k| \le \epsilon` on the stream, as it is
    with high probability for D of the order of :math:`d / \epsilon^2` (Theorem 1 of [1]_).

    *Departures.* The default step decays, for streams whose length is not known; without a
    `radius` the theorem is for the constant one.

    *First step.* That of the default is short for one pass over standardised rows: on the 200 of
    scikit-learn's check 0.9 raises R² from 0.18 to 0.63, on 2000 of
    :func:`sklearn_okl.datasets.make_friedman_stream`, forecast one by one, from 0.31 to 0.63 (means
    over five draws).

    The square loss diverges while :math:`\eta_t` stays above 1.

    Examples
    --------
    >>> from sklearn_okl import FOGDRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(2000)
    >>> model = FOGDRegressor("rbf", 0.1, eta0=0.5, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.coef_.shape
    (100,)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    """

    _test_parameters = (
        {"eta0": 0.9},
        {"n_components": 100, "eta0": 5.0, "form": "phase", "loss": "pinball", "radius": 20},
    )

    _parameter_constraints = {
        **_FourierDescent._parameter_constraints,
        **TARGET_LOSSES,
    }
    _poor_score = True  # the default step is short for one pass over a few hundred rows

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        n_components: int = 100,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        eta0: float = 0.1,
        power_t: float = 0.5,
        radius: float | None = None,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: ArrayLike | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernel,
            gamma,
            n_components=n_components,
            loss=loss,
            eta0=eta0,
            power_t=power_t,
            radius=radius,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.quantile = quantile


@inherit_documentation
class FOGDClassifier(LossOfLabels, _FourierDescent, OneAgainstRestClassifier):
    r"""Fourier online gradient descent for classes, on the random features of one kernel.

    Round t has the decision value :math:`f_t = w_t^T z(x_t)`, with z random Fourier features of
    the kernel, and forecasts by its sign; then it sees the label :math:`y_t = \pm 1` and steps
    against the slope of the loss [1]_:

    .. math:: w_{t+1} = w_t - \eta_t \ell'(f_t) z(x_t) .

    Each of C > 2 classes has a w of its own, and is +1 against all others, which are -1; the
    features are the same, and the label forecast is that of the largest decision value.

    See Also
    --------
    FOGDRegressor : The same for numbers.
    NOGDClassifier : Features from the first rows of the stream in place of random ones.

    Notes
    -----
    *Cost.* O(d D + C D) per round for d inputs, D features and C classes, and as much memory: the
    features of a block of rows at once, the steps row by row on their inner products.

    *Theorem.* That of :class:`FOGDRegressor`, for each class; the slope of ``"log_loss"`` and
    ``"hinge"`` is at most 1. The hinge loss is at least 1 where the label is wrong, and the sum of
    those of more than two classes at least 2, so that with it the theorem bounds the number of
    mistakes. Where a margin :math:`y_t f_t` is 1 or more, the hinge losses take no step.

    *Departures.* [1]_ has two classes and the hinge loss. The default step decays, for streams
    whose length is not known; without a `radius` the theorem is for the constant one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import FOGDClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 0.6, "inside", "outside")
    >>> model = FOGDClassifier("rbf", 2.0, eta0=2.0, random_state=0)
    >>> labels = model.prequential_predict(X, y)  # each made before its own was seen
    >>> bool((labels == y).mean() > 0.9)
    True
    >>> model.predict_proba([[0.0, 0.0]]).shape
    (1, 2)
    """

    _test_parameters = (
        {"eta0": 0.9},
        {"eta0": 0.9, "loss": "hinge"},
        {"eta0": 0.9, "loss": "squared_hinge", "radius": 20.0},
    )

    _parameter_constraints = {
        **_FourierDescent._parameter_constraints,
        **LABEL_LOSSES,
    }
