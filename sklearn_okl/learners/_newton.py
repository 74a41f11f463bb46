r"""E. Hazan, A. Agarwal, S. Kale, "Logarithmic regret algorithms for online convex optimization".

The online Newton step (2007) for the square loss, clipped as in H. Luo et al. (2016).
"""

from __future__ import annotations

from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dger
from scipy.linalg.lapack import dtrtrs
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._linalg import inverse_spd
from .._tail import TAIL, SharedInverse
from .._types import Array
from ..base import OnlineRegressor
from ..base._intercept import MissesIntercept, WithIntercept
from ._ridge_root import loss
from ._vaw import VAWRegressor

_BLOCK = 32  # rows a block
_REBUILD = 4096  # rounds between two rebuilds of P from A
_LOOK = 64  # rows between two looks at what rounding leaves of P
_LOST = 1e12  # diagonals of A times P: beyond, fewer than four digits of it are left
_LOST_FIRST = 1e15  # and of first rows, where columns need not be told apart yet
_NOT_KNOWN = (
    "Columns as large as these are so nearly collinear that the start of A, {:g} times the "
    "identity, is lost in the rounding of A; the model is as it was before the call. Scale X to "
    "moderate size."
)
_GAIN_LIMIT = 1e5  # a row that shrinks P more than this costs five digits: start anew after it


class BlockNewton(WithIntercept):
    r"""Newton steps A^-1 g along rows, in blocks and row by row, beside a shell.

    Each is non-linear, but all that a row asks of A and w are inner products: in a block of 32 rows
    Z it runs on the 32 x 32 matrix :math:`Z A^{-1} Z^T` and on :math:`Z w`, and A and w follow by
    matrix products. That is exact: the numbers are those of the one-row recursion up to rounding.

    A subclass says `_ridge()`, the multiple of the identity that A starts from, and what a round
    does, ``_round(y)``; see `newton_steps`.
    """

    @property
    def coef_(self) -> Array:
        """Current weights, of shape (n_features,)."""
        return self._as_taught()._slopes(self._coefficients(self._fitted_state("coef_")))

    def _coefficients(self, state):
        return state["theta"]

    def _not_explained(self):
        return "clipping"

    def _start(self, n_features, n_targets=None):
        n_features = self._width(n_features)
        return {
            "t": 0,
            "A": self._ridge() * np.eye(n_features),  # the exact sum
            "P": np.eye(n_features) / self._ridge(),  # its inverse
            "theta": np.zeros(n_features),  # not yet projected
            "trace": self._ridge() * n_features,  # of A
        }

    def _learn(self, state, X, y):
        X, forecasts = self._design(X), np.empty(len(y))
        learn = self._learn_few
        if len(y) > TAIL:
            self._open(state)
            learn = self._learn_block
        low = 0
        while low < len(y):
            # Blocks end where the stream's own count is a multiple of their length, so that most
            # ways of cutting a stream lead through the very same blocks.
            rows = slice(low, low + _BLOCK - state["t"] % _BLOCK)
            learnt = learn(state, X[rows], y[rows])
            forecasts[low : low + len(learnt)] = learnt
            low += len(learnt)
        return forecasts

    def _open(self, state):
        """Let P and A be arrays of this state's own, with all rows in them, to be written."""
        if "inverse" in state:
            state["A"], state["P"] = state.pop("inverse").opened()

    def _close(self, state, grows=False):
        """Commit P and A: they are shared from now on, and rows go into a tail."""
        if "inverse" not in state:
            A, P = state.pop("A"), state.pop("P")
            state["inverse"] = SharedInverse(A, P, self._ridge(), grows=grows)

    def _learn_few(self, state, Z, y):
        """Learn the first rows Z (n, D), as many as there is room for in a block that grows.

        It grows from call to call: P is read, not written. Return the forecasts, one at least.
        """
        self._close(state, grows=True)
        inverse, theta = state["inverse"], state["theta"]
        Z, y = Z[: inverse.tail.room], y[: inverse.tail.room]
        ZP = np.empty(Z.shape, order="F")  # columns contiguous as LAPACK wants them
        inverse.times_rows(Z, ZP)
        steps = self._steps(state, Z, ZP @ Z.T, Z @ theta, y)
        n = len(steps.forecasts)
        V = steps.solve(ZP[:n])  # row t is A_{t-1}^-1 z_t
        theta += V.T @ steps.moves
        V *= np.sqrt(steps.shrinks)[:, None]
        state["inverse"] = inverse = inverse.and_rows(steps.weights[:, None] * Z[:n], V)
        state["t"] += n
        if steps.extreme or not inverse.tail.room or state["t"] % _LOOK == 0:
            self._open(state)
            self._keep_healthy(state, steps.extreme)
            self._close(state, grows=True)
        return steps.forecasts

    def _learn_block(self, state, Z, y):
        """Learn rows up to the first of extreme gain, return their forecasts, one at least."""
        P, theta = state["P"], state["theta"]
        ZP = (P @ Z.T).T  # (n, D), columns contiguous as LAPACK wants them
        steps = self._steps(state, Z, ZP @ Z.T, Z @ theta, y)
        n = len(steps.forecasts)
        Z = Z[:n]
        V = steps.solve(ZP[:n])  # row t is A_{t-1}^-1 z_t
        theta += V.T @ steps.moves
        V *= np.sqrt(steps.shrinks)[:, None]
        P -= V.T @ V
        Z = Z * steps.weights[:, None]  # sqrt(kappa) g_t each
        state["A"] += Z.T @ Z
        state["t"] += n
        self._keep_healthy(state, steps.extreme)
        return steps.forecasts

    def _steps(self, state, Z, gram, before, y):
        """Return the steps of rows Z (n, D), and add what they do to the trace of A."""
        norms = np.einsum("ij,ij->i", Z, Z)
        largest = self._ridge() + state["trace"]
        steps = newton_steps(gram, before, self._round(y), norms, largest)
        state["trace"] += float(steps.weights**2 @ norms[: len(steps.weights)])
        return steps

    def _keep_healthy(self, state, extreme):
        """Rebuild P where the stream's count or the last row asks, and refuse what is rounding."""
        t = state["t"]
        if extreme or t % _REBUILD == 0:
            state["P"] = inverse_spd(state["A"], self._ridge())
        if (extreme or t % _LOOK == 0) and (
            loss(state["A"], state["P"]) > (_LOST_FIRST if t < _LOOK else _LOST)
        ):
            raise ValueError(_NOT_KNOWN.format(float(self._ridge())))


class _ClippedNewton(BlockNewton, MissesIntercept):
    r"""The online Newton step for the square loss, clipped, of parameters mu, radius, curvature.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Current weights :math:`\tilde w`, before the projection that the next row will ask for.
    """

    def _ridge(self):
        return self.mu

    def _round(self, y):
        curvature = curvature_or_default(self.curvature, self.radius)
        return clipped_round(y, np.full(len(y), curvature), self.radius)

    def _forecast(self, state, X):
        return np.clip(self._design(X) @ state["theta"], -self.radius, self.radius)

    # For algorithms whose features grow in number.

    def _project(self, state, z):
        """Project the weights onto those that forecast within the radius for the row z (D,)."""
        raw = float(z @ state["theta"])
        excess = raw - min(max(raw, -self.radius), self.radius)
        if excess != 0.0:
            Pz = state["inverse"].times(z) if "inverse" in state else state["P"] @ z
            state["theta"] -= excess / (z @ Pz) * Pz

    def _grow(self, state):
        """Add one feature that was 0 in all rows so far."""
        self._close(state, grows=True)  # rows that enter come one by one
        state["inverse"] = state["inverse"].grown()
        state["trace"] += self._ridge()
        state["theta"] = np.append(state["theta"], 0.0)


@inherit_documentation
@explained_by(VAWRegressor)
class ONSRegressor(_ClippedNewton, OnlineRegressor):
    r"""Online Newton step for the square loss: steps scaled by the gradients' own second moment.

    Round t forecasts :math:`\hat y_t = w_t^T z_t`, sees the target and steps against the gradient
    :math:`g_t = 2 (\hat y_t - y_t) z_t` [1]_; before the next forecast, whose row is known by then,
    it projects onto the weights that forecast within C [2]_:

    .. math:: A_t = A_{t-1} + \kappa g_t g_t^T , \qquad \tilde w_{t+1} = w_t - A_t^{-1} g_t ,
              \qquad w_{t+1} = \tilde w_{t+1}
              - \mathrm{sign}(f) \frac{\max(|f| - C, 0)}{z_{t+1}^T A_t^{-1} z_{t+1}}
              A_t^{-1} z_{t+1}

    with :math:`f = \tilde w_{t+1}^T z_{t+1}` and :math:`A_0 = \mu I`.

    Parameters
    ----------
    mu : float, default=1.0
        Start of A, > 0, in squared units of the features (the papers' mu or alpha).
    radius : float, default=1.0
        C > 0, the bound of the forecasts, in units of the targets. The theorem wants it to bound
        the targets too.
    curvature : float, default=None
        :math:`\kappa > 0`, share of each gradient's outer product that enters A, in inverse squared
        units of the targets. None is :math:`1 / (16 C^2)`, as KONS takes it; NONS-ALD takes
        :math:`1 / (4 (U^2 + Y^2))`.

    See Also
    --------
    VAWRegressor : Second order too, without clipping or a bound on the targets.
    OGDRegressor : First order, O(D) per round.

    Notes
    -----
    *Cost.*

    *Theorem.* Let :math:`|y_t| \le C` and :math:`\kappa \le 1 / (8 C^2)`. Then against any u with
    :math:`|u^T z_t| \le C` in all rounds

    .. math:: \sum_t (\hat y_t - y_t)^2 - \sum_t (u^T z_t - y_t)^2
              \le \frac{\mu}{2} \|u\|^2 + \frac{1}{2 \kappa} \ln \det (A_T / \mu) .

    The last determinant is at most :math:`\det(I + Z^T Z / \nu)`, with
    :math:`\nu = \mu / (16 \kappa C^2)`, and its logarithm at most
    :math:`d_\mathrm{eff}(\nu) (1 + \ln(1 + \lambda / \nu))`, with :math:`d_\mathrm{eff}(\nu)` the
    effective dimension of all rows Z and :math:`\lambda` the largest eigenvalue of :math:`Z^T Z`.
    This is Theorem 2 of [1]_ with the constants of the square loss, which equals its second-order
    expansion.

    *Departures.* The projection of the last update is put off until the next row is known;
    `predict` clips, which gives the same number.

    *Numerics.* :math:`A^{-1}` is updated block by block, and rebuilt by Cholesky from the exact sum
    A every 4096 rounds and after a row that shrinks it by more than 1e5. Targets far beyond the
    radius make A large: where :math:`\kappa (2 y)^2 \|z\|^2 / \mu` comes near 1e15, or columns that
    are nearly collinear let it be above 1e12 for long, digits run out, and rows are refused.

    *Features* are taken as they come: scale them to moderate size. Without ``fit_intercept`` a mean
    of the errors that outweighs all else, within the first 1024 rows, is warned of, once; where
    targets are beyond the radius, both are to be set.

    References
    ----------
    .. [1] E. Hazan, A. Agarwal, S. Kale, "Logarithmic regret algorithms for online convex
       optimization", Machine Learning 69, 2007, section 3.
    .. [2] H. Luo, A. Agarwal, N. Cesa-Bianchi, J. Langford, "Efficient second order online learning
       by sketching", Advances in Neural Information Processing Systems 29, 2016, section 2.
    .. [3] Li & Liao 2023, eq. (8), Theorem 4.9.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import ONSRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(500, 3))
    >>> y = X @ [0.3, -0.5, 0.1]
    >>> model = ONSRegressor()
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.coef_.round(1)
    array([ 0.3, -0.5,  0.1])
    """

    # the papers' step of 0.1 is too short for the 200 rows of scikit-learn's checks
    _test_parameters = ({"mu": 10.0, "radius": 2.0}, {"mu": 0.5, "radius": 4.0, "curvature": 0.05})

    _parameter_constraints = {
        "mu": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 1e-100, None, closed="left")],  # its square is a number
        "curvature": [Interval(Real, 0, None, closed="neither"), None],
        **WithIntercept._parameter_constraints,
    }
    _structural = ("mu",)

    def __init__(
        self,
        mu: float = 1.0,
        *,
        radius: float = 1.0,
        curvature: float | None = None,
        fit_intercept: bool = False,
    ) -> None:
        self.mu = mu
        self.radius = radius
        self.curvature = curvature
        self.fit_intercept = fit_intercept


class NewtonSteps(NamedTuple):
    """What n rounds of the online Newton step do; see `newton_steps`.

    Attributes
    ----------
    forecasts : ndarray of shape (n,)
        Clipped forecasts.
    weights : ndarray of shape (n,)
        A grows by their squares times z z'; the clipped step's are sqrt(kappa_t) times the slope.
    shrinks : ndarray of shape (n,)
        a with P_t = P_{t-1} - a_t p_t p_t', p_t = P_{t-1} z_t.
    moves : ndarray of shape (n,)
        b with theta_t = theta_{t-1} + b_t p_t, the late projection of the round before included.
    gram : ndarray of shape (n, n)
        Its upper triangle holds z_s' p_t in row t, column s >= t.
    extreme : bool
        Whether the last round shrank P so much that what follows should not be updated but made
        anew.
    """

    forecasts: np.ndarray
    weights: np.ndarray
    shrinks: np.ndarray
    moves: np.ndarray
    gram: np.ndarray
    extreme: bool

    def solve(self, B, transposed=False):
        """Return T^-1 B, T unit lower triangular; T^-1 Z P_0 has the rows p_t."""
        if B.size == 0:
            return B
        # p_t = P_0 z_t - sum_{s<t} a_s (p_s' z_t) p_s
        T = (self.gram * self.shrinks[:, None]).T
        return dtrtrs(T, B, lower=1, trans=int(transposed), unitdiag=1)[0]


def clipped_round(y, curvatures, radius):
    """Return the round of the online Newton step for the square loss, clipped to a radius.

    Parameters
    ----------
    y : ndarray of shape (n,)
    curvatures : ndarray of shape (n,)
        What share of each gradient's outer product enters A, >= 0.
    radius : float

    Returns
    -------
    callable
        As `newton_steps` wants it.
    """
    targets, kappas, roots = y.tolist(), curvatures.tolist(), np.sqrt(curvatures).tolist()

    def round_of(t, raw, size):
        forecast = min(max(raw, -radius), radius)
        slope = 2.0 * (forecast - targets[t])
        back = 0.0
        if raw != forecast:
            if not size > 0.0:
                raise np.linalg.LinAlgError("Overflow in the online Newton step.")
            back = (raw - forecast) / size
        return forecast, kappas[t] * slope * slope, roots[t] * slope, slope, back

    return round_of


def newton_steps(gram, before, round_of, norms, largest):
    """Run online Newton steps on nothing but inner products.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Z P Z', with P the inverse of A before the block.
    before : ndarray of shape (n,)
        Z theta, with theta before the block, not yet projected for its first row.
    round_of : callable
        What a round does: of t, z' theta and z' P z it returns the forecast; how much of z z'
        enters A, and a root of that; the slope s of a step -s P z by the new P; and the multiple of
        the old P z by which theta moves back before it.
    norms : ndarray of shape (n,)
        Squared norms of the rows.
    largest : float
        A bound of the largest eigenvalue of A before the block. It tells for which rows rounding
        has left nothing true in `gram`; they count as extreme.

    Returns
    -------
    NewtonSteps
        Of the rows up to the first that is extreme.

    Raises
    ------
    numpy.linalg.LinAlgError
        If numbers overflow.
    """
    n = len(before)
    # Row t turns into (z_s' p_t for all s, forecast of t) in time for round t, by one rank-one
    # update of the rows below it per round.
    table = np.empty((n, n + 1))
    table[:, :n] = gram
    table[:, n] = before
    results = np.empty((n, 4))
    extreme, t = False, -1
    for t, norm in enumerate(norms.tolist()):
        row = table[t]
        size, raw = row.item(t), row.item(n)  # z' P z, z' theta
        least = 0.5 * norm / largest  # twice as much, if arithmetic were exact
        ruined = size < least
        if ruined:
            size = least
        forecast, weight, root, slope, back = round_of(t, raw, size)
        gain = 1.0 + weight * size
        largest += weight * norm
        shrink = weight / gain
        move = -slope / gain - back
        results[t] = forecast, root, shrink, move
        if ruined or gain > _GAIN_LIMIT:
            extreme = True
            break
        if t + 1 < n:
            change = row * -shrink
            change[n] = move
            dger(1.0, change, row[t + 1 : n], a=table[t + 1 :].T, overwrite_a=1)
    done = t + 1
    forecasts, roots, shrinks, moves = results[:done].T
    return NewtonSteps(forecasts, roots, shrinks, moves, table[:done, :done], extreme)


def curvature_or_default(curvature, radius):
    """Return the share of gradients' outer products in A; by default half of KONS's sigma."""
    return 1.0 / (16.0 * radius**2) if curvature is None else curvature
