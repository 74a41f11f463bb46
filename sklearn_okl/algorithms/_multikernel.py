"""Multi-kernel regression with parts of one's own choice."""

from numbers import Integral

import numpy as np

from ..aggregators._range import Clip, check_y_range
from ..base import OnlineRegressor
from ..learners import VAWRegressor
from ._banks import BANK_CONSTRAINTS, BANK_STRUCTURE, fourier_bank
from ._engines import FullInformationRegressor


class MultiKernelRegressor(FullInformationRegressor):
    """One expert per kernel on random Fourier features, and an aggregator of their forecasts.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid; the key ``"alpha"`` varies the experts' parameter of
        that name too. None is the grid of 76 kernels of the VAW² paper,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    expert : online regressor or None, default=None
        The learner that every kernel gets, one that learns banks. None is ``VAWRegressor()``.
    aggregator : online regressor or None, default=None
        What combines the forecasts. None is ``VAWRegressor()``, which makes this VAW².
    n_components : int, default=100
        Number of random features per kernel.
    clip_experts : bool, default=False
        Whether to clip the experts' forecasts to `y_range` before they are combined.
    y_range : tuple of (float, float), default=None
        Range (lo, hi) of the targets, for clipping. None: the range of the targets seen before
        the round.
    form : {"paired", "phase"}, default="paired"
        Form of the features, see :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.
    n_jobs : int or None, default=None
        Number of threads over the experts. They pay in calls of some hundred rows or more.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Current weights of the experts in the aggregator.
    expert_losses_ : ndarray of shape (n_kernels,)
        Sum of squared errors of each expert's own progressive forecasts (unclipped).
    kernels_ : list of dict
        Parameters of each expert, in the order of `weights_`.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    Raises
    ------
    TypeError
        If a part is no online regressor of this package, or an expert cannot learn a bank.

    See Also
    --------
    VAW2Regressor : VAW for both parts, with flat parameters.

    Notes
    -----
    *Cost.* That of K experts on D features, plus the aggregator's on K forecasts.

    *Nested parameters* are set as in scikit-learn, e.g. ``expert__alpha``, once the part was
    given.

    References
    ----------
    .. [1] D. B. Rokhlin, O. V. Gurtovaya, "Random feature-based double Vovk-Azoury-Warmuth
       algorithm for online multi-kernel learning", 2025, section 3.

    Examples
    --------
    >>> from sklearn_okl import MultiKernelRegressor, VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf", "laplacian"], "gamma": [0.01, 0.1], "alpha": [0.1, 10.0]}
    >>> model = MultiKernelRegressor(grid, expert=VAWRegressor(), n_components=20, random_state=0)
    >>> forecasts = model.prequential_predict(X, y)
    >>> model.weights_.shape, model.expert_losses_.shape
    ((8,), (8,))
    """

    _parameter_constraints = {
        **BANK_CONSTRAINTS,
        "expert": [OnlineRegressor, None],
        "aggregator": [OnlineRegressor, None],
        "clip_experts": ["boolean"],
        "y_range": [None, list, tuple, np.ndarray],
        "n_jobs": [None, Integral],
    }
    _structural = (*BANK_STRUCTURE, "expert", "aggregator", "clip_experts", "y_range")

    def __init__(
        self,
        kernels=None,
        expert=None,
        aggregator=None,
        *,
        n_components=100,
        clip_experts=False,
        y_range=None,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
        n_jobs=None,
    ):
        self.kernels = kernels
        self.expert = expert
        self.aggregator = aggregator
        self.n_components = n_components
        self.clip_experts = clip_experts
        self.y_range = y_range
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _parts(self):
        expert = VAWRegressor() if self.expert is None else self.expert
        aggregator = VAWRegressor() if self.aggregator is None else self.aggregator
        clip = [Clip(self.y_range)] if self.clip_experts else []
        return fourier_bank(self), expert, *clip, aggregator

    def _validate(self):
        super()._validate()
        check_y_range(self.y_range)
        if self.expert is not None:
            if not self.expert._learns_banks:
                raise TypeError(
                    f"{type(self.expert).__name__} cannot be an expert of {type(self).__name__}: "
                    "it does not learn one model per kernel side by side. Use VAWRegressor."
                )
            self.expert._validate()
        if self.aggregator is not None:
            if not hasattr(self.aggregator, "_weights"):
                raise TypeError(
                    f"{type(self.aggregator).__name__} cannot be the aggregator of "
                    f"{type(self).__name__}: it has no weights over forecasts. Use VAWRegressor."
                )
            self.aggregator._validate()
