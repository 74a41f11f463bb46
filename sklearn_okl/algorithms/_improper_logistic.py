r"""R. Jézéquel, P. Gaillard, A. Rudi, "Efficient improper learning for online logistic regression".

AIOLI (2020): logistic regression on quadratic surrogates of the past, with the losses of both
labels of the row that is forecast; on features, and in the space of one kernel.

Why the bound holds, with its constants. Let A be the Hessian of the surrogates of rounds up to t
and of the penalty, p the probability that the forecast v_t gives to the wrong label, q = 1 - p, and
m the least sum of the surrogates so far and the penalty. At theta_t the gradient of that sum
without round t is that of minus both losses, (p - q) y z, so that with the surrogate of round t it
is -q y z: m grows by the loss of the forecast, plus (p - q)^2 / 2 z' A_{t-1}^-1 z less q^2 / 2
z' A_t^-1 z. So the loss is at most the growth of m plus (q^2 - (q - p)^2) / 2 <= p q times
z' A_t^-1 z. The curvature is c = p q / (1 + C), and c z' A_t^-1 z <= ln det A_t - ln det A_{t-1}.
In the end m is at most what the surrogates, hence the losses, and the penalty are for any rival.
"""

from __future__ import annotations

from math import copysign, exp, sqrt, tanh
from numbers import Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import inherit_documentation
from .._types import Any
from ..base import OnlineClassifier
from ..base._intercept import WithIntercept
from ..dictionaries._factor import PANEL
from ..kernels import kernel_of
from ..learners._newton import BlockNewton
from ._dual_newton import DualNewton

_MOST_STEPS = 100  # of Newton's method: it gains 1 a step at least, until it doubles the digits
_PRECISION = 1e-16


class _ImproperSteps:
    r"""What a round of AIOLI does, whatever its features: beside a recursion and a shell.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge penalty :math:`\lambda` > 0, in squared units of the features, or in the unit of the
        kernel.
    radius : float, default=5.0
        The bound C > 0 of the decision values of the rivals in the theorem, the paper's B R for
        rows of norm at most R. Decision values are log-odds: 5 is for rivals that are never surer
        than 99.3 %. It does not bound the forecasts. The larger, the flatter the surrogates.

    References
    ----------
    .. [1] Jézéquel et al. 2020, Algorithm 1, Theorem 1.
    .. [2] E. Hazan, T. Koren, K. Y. Levy, "Logistic regression: tight bounds for stochastic and
       online optimization", Conference on Learning Theory (COLT), 2014.
    """

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 0, None, closed="neither")],
    }
    _structural = ("alpha",)
    loss = "log_loss"  # decision values are log-odds, no parameter says so

    def _ridge(self):
        return 2.0 * self.alpha  # the Hessian of the penalty

    def _round(self, y, keep=None):
        labels, share = y.tolist(), 1.0 / (1.0 + self.radius)

        def round_of(t, raw, size):
            value = with_both_losses(raw, size)
            margin = labels[t] * value
            small = exp(-abs(margin))
            wrong, right = (small, 1.0) if margin > 0.0 else (1.0, small)
            wrong, right = wrong / (1.0 + small), right / (1.0 + small)
            weight = share * wrong * right
            # the surrogate's slope at what the past alone says of the row
            slope = weight * (raw - value) - labels[t] * wrong
            return value, weight, sqrt(weight), slope, 0.0

        return round_of


def with_both_losses(raw, size):
    """Return the decision value v of a row: v + size tanh(v / 2) = raw.

    The left side is concave where v > 0, so that Newton's method rises to the root from below.

    Parameters
    ----------
    raw : float
        What the surrogates of the past say of the row.
    size : float
        The square of the row's norm by the inverse of their Hessian.

    Returns
    -------
    value : float
    """
    target = abs(raw)
    value = max(target / (1.0 + 0.5 * size), target - size)
    for _ in range(_MOST_STEPS):
        slope = tanh(0.5 * value)
        step = (target - value - size * slope) / (1.0 + 0.5 * size * (1.0 - slope * slope))
        value += step
        if step <= _PRECISION * value:
            break
    return copysign(value, raw)


def _values(raw, sizes):
    return np.array(
        [with_both_losses(*row) for row in zip(raw.tolist(), sizes.tolist(), strict=True)]
    )


@inherit_documentation
class AIOLIClassifier(_ImproperSteps, BlockNewton, OnlineClassifier):
    r"""AIOLI: online logistic regression of logarithmic regret without exponential constants.

    With labels :math:`y_t = \pm 1` and :math:`\ell(v, y) = \ln(1 + e^{-y v})`, round t has the
    decision value :math:`v_t = \theta_t^T z_t`, the log-odds of the second label, where [1]_

    .. math:: \theta_t = \arg\min_\theta \sum_{s<t} \hat\ell_s(\theta) + \lambda \|\theta\|^2
              + \ell(\theta^T z_t, 1) + \ell(\theta^T z_t, -1) .

    The surrogate of a loss is a quadratic that touches it at :math:`v_s` and lies below it wherever
    :math:`|\theta^T z_s| \le C`: its value and slope :math:`\ell'(v_s, y_s)` are those of the loss,
    and its curvature is :math:`\sigma(v_s) \sigma(-v_s) / (1 + C)`, that of the loss over 1 + C.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        The minimiser without the losses of the next row, which draw its forecast towards 0.

    See Also
    --------
    KernelAIOLIClassifier : The same in the space of one kernel.
    FOGDClassifier : First order on random features, O(D) per round.
    ONSRegressor : The online Newton step, for the square loss.

    Notes
    -----
    *Cost.* :math:`O(D^2)` per round for D features: :math:`v + k \tanh(v / 2) = u` in one unknown,
    for u and k what the surrogates of the past and the inverse of their Hessian A say of the row,
    and a rank-one update of that inverse. Rows are learnt in blocks of 32 by matrix products, which
    is exact: the numbers are those of the one-row recursion up to rounding.

    *Theorem.* Against any :math:`\theta` with :math:`|\theta^T z_t| \le C` in all rounds (in the
    manner of Theorem 1 of [1]_; the constants are those of the proof at the top of the source)

    .. math:: \sum_t \ell(v_t, y_t) - \sum_t \ell(\theta^T z_t, y_t)
              \le \lambda \|\theta\|^2 + (1 + C) \ln \det (A_T / (2 \lambda)) ,

    where the last term is at most :math:`D (1 + C) \ln(1 + R^2 T / (8 \lambda D (1 + C)))`
    for rows of norm at most R. An algorithm whose :math:`\theta_t` does not know the row, such as
    the online Newton step, has a factor of the order of :math:`e^C` before any logarithm of T [2]_.

    *Departures.* None in the recursion. In [1]_ the curvature is :math:`e^{y_s v_s} / (1 + B R)`
    times the square of the slope, which is the same. [1]_ has two classes: for more there is
    :class:`ImproperLogisticClassifier`.

    *Numerics.* The inverse of A is rebuilt by Cholesky from the exact sum every 4096 rounds, and
    after a row that shrinks it by more than 1e5.

    *Features.* They are taken as they come: scale them to moderate size. Without ``fit_intercept``
    a row of zeros has even odds, whatever the shares of the classes. Random features in a pipeline
    make the classifier one of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import AIOLIClassifier, FourierFeatures, StreamingPipeline
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(1000, 2))
    >>> y = np.where((X**2).sum(axis=1) < 0.6, "inside", "outside")
    >>> features = FourierFeatures(n_components=50, gamma=2.0, random_state=0)
    >>> model = StreamingPipeline([("map", features), ("aioli", AIOLIClassifier(alpha=0.01))])
    >>> labels = model.prequential_predict(X, y)  # each made before its own was seen
    >>> bool((labels == y).mean() > 0.9)
    True
    >>> model.predict_proba([[0.0, 0.0]]).shape
    (1, 2)
    """

    _test_parameters = ({}, {"alpha": 0.01, "radius": 2.0})

    _parameter_constraints = {
        **_ImproperSteps._parameter_constraints,
        **WithIntercept._parameter_constraints,
    }

    def __init__(
        self, alpha: float = 1.0, *, radius: float = 5.0, fit_intercept: bool = False
    ) -> None:
        self.alpha = alpha
        self.radius = radius
        self.fit_intercept = fit_intercept

    def _forecast(self, state, X):
        X = self._design(X)
        if "inverse" in state:
            sizes = state["inverse"].sizes(X)
        else:
            sizes = np.maximum(np.einsum("nd,nd->n", X @ state["P"], X), 0.0)
        return _values(X @ state["theta"], sizes)

    def _not_explained(self):
        return "shrinkage"


@inherit_documentation
class KernelAIOLIClassifier(_ImproperSteps, DualNewton, OnlineClassifier):
    r"""AIOLI in the space of one kernel, exact: improper logistic regression on all rows.

    With labels :math:`y_t = \pm 1` and :math:`\ell(v, y) = \ln(1 + e^{-y v})`, round t has the
    decision value :math:`v_t = f_t(x_t)`, the log-odds of the second label, where [1]_

    .. math:: f_t = \arg\min_{f \in H} \sum_{s<t} \hat\ell_s(f) + \lambda \|f\|^2
              + \ell(f(x_t), 1) + \ell(f(x_t), -1) ,

    with the surrogates of :class:`AIOLIClassifier`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples_seen,)
        Coefficient of each row learnt, in the minimiser without the losses of the next row, which
        draw its forecast towards 0.

    See Also
    --------
    AIOLIClassifier : The same on features, at a cost that does not grow.
    KernelVAWRegressor : Its counterpart for the square loss.

    Notes
    -----
    *Cost.* :math:`O(d t + t^2)` in round t for d inputs: one forward substitution with the growing
    Cholesky factor of :math:`2 \lambda I + D K D`, D the diagonal of the roots of the curvatures;
    :math:`t^2 / 2` numbers of memory. 64 rows meet the past at once, and go one by one only through
    the 64 x 64 matrix of their inner products by the inverse of A.

    *Theorem.* Against any f with :math:`|f(x_t)| \le C` in all rounds

    .. math:: \sum_t \ell(v_t, y_t) - \sum_t \ell(f(x_t), y_t)
              \le \lambda \|f\|^2 + (1 + C) \ln \det \Bigl( I
              + \frac{K}{8 \lambda (1 + C)} \Bigr) .

    The proof for :class:`AIOLIClassifier` does not need the dimension, and no curvature is above
    1 / (4 (1 + C)).

    *Departures.* None in the recursion, which [1]_ states on features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import KernelAIOLIClassifier
    >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
    >>> y = np.where((X**2).sum(axis=1) < 0.6, "inside", "outside")
    >>> model = KernelAIOLIClassifier("rbf", 2.0, alpha=0.01)
    >>> P = model.prequential_predict_proba(X, y)  # each made before its label was seen
    >>> P[0]
    array([0.5, 0.5])
    >>> bool((model.classes_[P.argmax(axis=1)] == y).mean() > 0.9)
    True
    """

    _test_parameters = ({}, {"kernel": "laplacian", "alpha": 0.1, "radius": 2.0})

    _parameter_constraints = {
        **DualNewton._parameter_constraints,
        **_ImproperSteps._parameter_constraints,
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        alpha: float = 1.0,
        radius: float = 5.0,
    ) -> None:
        DualNewton.__init__(self, kernel, gamma, degree=degree, coef0=coef0)
        self.alpha = alpha
        self.radius = radius

    def _forecast(self, state, X):
        kernel, values = kernel_of(self), np.empty(len(X))
        for block in gen_batches(len(X), PANEL):
            raw, V = self._meet(kernel, state, X[block])
            rest = kernel.diagonal(X[block]) - np.einsum("ij,ij->j", V, V)
            values[block] = _values(raw, np.maximum(rest, 0.0) / self._ridge())
        return values
