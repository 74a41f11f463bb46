"""Power transforms whose exponent is learnt on the way."""

from __future__ import annotations

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils._param_validation import StrOptions

from .._delay import read_late
from .._documentation import explained_by, inherit_documentation
from .._types import Array, ArrayLike
from ..base import OnlineTransformer
from ._moments import moderate, width, within
from ._running import RunningScaler

GRID = np.arange(-20, 21) / 10.0  # exponents
_PLAIN = 30  # place of the exponent 1, which changes nothing
_FIRST = 32  # rows before which the exponent is 1: of few rows any will do
_LARGEST = 345.0  # exponent of e: what is squared stays finite
_MOST = 1e150  # and the image
_ROUNDING = 1e-12  # share of its mean square below which a variance is rounding
_CHUNK = 128  # rows learnt at once


class _PowerRecursion(OneToOneFeatureMixin, OnlineTransformer):
    """Base: the sums of the images of rows under each exponent, and what they say."""

    _column_by_column = True

    def _begin(self, X, y):
        return self._start(self._moderate(X[0]))

    def _flow(self, state, X, y, delay):
        rows, t = self._moderate(X), state["t"]
        known = self._learn(state, rows)
        counts = np.broadcast_to((t + np.arange(len(X)))[:, None, None], (len(X), 1, X.shape[1]))
        known = np.concatenate([known, counts], axis=1)  # (n, 6, d)
        if delay:
            known = read_late(state, known, delay)
        return self._within(state, rows, known[:, :-1], known[:, -1])

    def _ask(self, state, X):
        return self._within(state, self._moderate(X), self._known(state), state["t"])

    def _within(self, state, X, known, counts):
        _, _, deviations, low, high = _columns(known)
        scales = np.where(width(low, high) > 0.0, deviations, 0.0)
        return within(self._forward(state, X, known), X, low, scales, counts)

    def _moderate(self, X):
        if self.method == "box-cox" and (X <= 0.0).any():
            raise ValueError(
                f"method='box-cox' takes positive numbers only, got {X[X <= 0.0][0]:.6g}. Take "
                "method='yeo-johnson'."
            )
        return moderate(X)

    # What is known of a column are five numbers: exponent, mean and deviation of the images, as
    # differences from that of the first row, smallest and largest value.

    def _start(self, row):
        sums = np.zeros((len(row), len(GRID)))
        return {
            "t": 0,
            "first": row.copy(),
            "sums": sums,  # of images, for each exponent
            "squares": sums.copy(),
            "logs": np.zeros(len(row)),  # of the slopes of g, where the exponent is 2
            "low": row.copy(),
            "high": row.copy(),
        }

    def _learn(self, state, X):
        """Learn rows (n, d); return what was known before each (n, 5, d)."""
        known = np.empty((len(X), 5, X.shape[1]))
        for low in range(0, len(X), _CHUNK):
            rows = slice(low, low + _CHUNK)
            known[rows] = self._learn_chunk(state, X[rows])
        return known

    def _learn_chunk(self, state, X):
        images = self._image(state["first"][:, None], X[..., None], GRID)  # (n, d, 41)
        sizes, signs = self._sizes(X)
        terms = {
            "sums": (np.add, images),
            "squares": (np.add, images**2),
            "logs": (np.add, signs * sizes),
            "low": (np.minimum, X),
            "high": (np.maximum, X),
        }
        before = {}
        for name, (ufunc, values) in terms.items():  # in order: cuts do not change the rounding
            running = ufunc.accumulate(np.concatenate([state[name][None], values]))
            before[name], state[name] = running[:-1], running[-1].copy()
        counts = state["t"] + np.arange(len(X))
        state["t"] += len(X)
        return np.stack(_most_likely(counts[:, None], **before), axis=1)

    def _known(self, state):
        sums = {name: state[name] for name in ("sums", "squares", "logs", "low", "high")}
        return np.stack(_most_likely(np.array(state["t"]), **sums))

    def _forward(self, state, X, known):
        exponents, means, deviations, _, _ = _columns(known)
        return (self._image(state["first"], X, exponents) - means) / deviations

    def _backward(self, state, Z, known):
        exponents, means, deviations, low, high = _columns(known)
        least, most = low - (high - low), high + (high - low)
        if self.method == "box-cox":
            least = np.maximum(least, low * (low / high))
        images = np.clip(
            Z * deviations + means,
            self._image(state["first"], least, exponents),
            self._image(state["first"], most, exponents),
        )
        size, sign = self._sizes(state["first"])
        power = _power(sign, exponents)
        whole = images + sign * _grown(power, size)
        same = (sign * whole >= 0.0) | (self.method == "box-cox")
        near = size + _shrunk(power, sign * images * np.exp(-power * size))
        sizes = np.where(same, near, _shrunk(_power(-sign, exponents), np.abs(whole)))
        signs = np.where(same, sign, -sign)
        X = np.exp(sizes) if self.method == "box-cox" else signs * np.expm1(sizes)
        return np.clip(X, least, most)

    def _sizes(self, X):
        """Return logarithms u of numbers, and signs s: images are s (e^(power u) - 1) / power."""
        if self.method == "box-cox":
            return np.log(X), np.ones_like(X)
        return np.log1p(np.abs(X)), np.where(X < 0.0, -1.0, 1.0)

    def _image(self, first, X, exponents):
        """Return the images of numbers, less that of the first row, without cancellation."""
        (size, sign), (first_size, first_sign) = self._sizes(X), self._sizes(first)
        power, first_power = _power(sign, exponents), _power(first_sign, exponents)
        scale = np.exp(np.minimum(first_power * first_size, _LARGEST))
        near = sign * scale * _grown(power, size - first_size)
        far = sign * _grown(power, size) - first_sign * _grown(first_power, first_size)
        return np.clip(np.where(sign == first_sign, near, far), -_MOST, _MOST)


@inherit_documentation
class RunningPowerTransformer(_PowerRecursion):
    r"""Make columns more Gaussian by a power, learnt on the way, and standardise them.

    Row t becomes :math:`(g_\lambda(x_t) - m) / s` with the exponent :math:`\lambda` that is most
    likely for the rows before it, and mean and standard deviation of their images, a column at a
    time. Yeo and Johnson's :math:`g_\lambda(x)` is :math:`((1 + x)^\lambda - 1) / \lambda` for
    :math:`x \ge 0` and :math:`-((1 - x)^{2 - \lambda} - 1) / (2 - \lambda)` below; Box and Cox's is
    :math:`(x^\lambda - 1) / \lambda`. Logarithms stand where a denominator is 0.

    Parameters
    ----------
    method : {"yeo-johnson", "box-cox"}, default="yeo-johnson"
        ``"yeo-johnson"`` takes all numbers, ``"box-cox"`` positive ones only and any unit.

    Attributes
    ----------
    lambdas_ : ndarray of shape (n_features,)
        Exponents in use.

    See Also
    --------
    StreamingTransformedTargetRegressor : For targets.
    RunningQuantileTransformer : Any shape becomes Gaussian, by ranks.
    sklearn.preprocessing.PowerTransformer : The same, but a whole batch at once.

    Notes
    -----
    *Cost.* O(41 d) per row, in whole blocks, and O(41 d) memory: two sums for each exponent from -2
    to 2 in steps of 0.1. The likelihood of one is
    :math:`-\frac{n}{2} \ln s_\lambda^2 + \sum_t \ln g_\lambda'(x_t)`, with :math:`s_\lambda` the
    standard deviation of the images. It is exact for all rows so far; among 32 rows the exponent is
    1. Images are summed as differences from that of the first row, so that large levels do no harm.

    `inverse_transform` stays within the range of the values seen, widened by as much on each side,
    since powers run away; below positive ones by as much in their logarithm.

    Faulty values weigh as much as others, and change the exponent.

    References
    ----------
    .. [1] G. E. P. Box, D. R. Cox, "An analysis of transformations", Journal of the Royal
       Statistical Society B 26(2), 1964.
    .. [2] I.-K. Yeo, R. A. Johnson, "A new family of power transformations to improve normality or
       symmetry", Biometrika 87(4), 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import RunningPowerTransformer
    >>> X = np.random.default_rng(0).lognormal(3.0, size=(500, 1))
    >>> model = RunningPowerTransformer("box-cox").fit(X)
    >>> bool(abs(model.lambdas_[0]) <= 0.1)  # nearly the logarithm
    True
    >>> bool(np.allclose(model.inverse_transform(model.transform(X)), X))
    True
    """

    _parameter_constraints = {"method": [StrOptions({"yeo-johnson", "box-cox"})]}
    _structural = ("method",)

    def __init__(self, method: str = "yeo-johnson") -> None:
        self.method = method

    @property
    def lambdas_(self) -> Array:
        """Exponents in use, of shape (n_features,)."""
        return self._known(self._fitted_state("lambdas_"))[0]

    @explained_by(RunningScaler.inverse_transform)
    def inverse_transform(self, X: ArrayLike) -> Array:
        """Undo the transform of rows by what is known now; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Transformed rows.
        """
        X, dtype = self._asked(X)
        state = self._state
        return self._backward(state, X, self._known(state)).astype(dtype, copy=False)


def _columns(known):
    """Return the five numbers of columns, (d,) or (n, d) each."""
    return np.moveaxis(known, -2, 0)


def _most_likely(count, sums, squares, logs, low, high):
    """Return what is known of columns by the sums of `count` rows: five arrays (..., d)."""
    n = np.maximum(count, 1)[..., None]
    means = sums / n
    variances = squares / n - means**2
    sound = (variances > _ROUNDING * squares / n) & (width(low, high) > 0.0)[..., None]
    likelihoods = np.full(sums.shape, -np.inf)
    np.log(variances, out=likelihoods, where=sound)
    likelihoods *= -0.5 * n
    likelihoods += (GRID - 1.0) * logs[..., None]
    likelihoods[~sound] = -np.inf
    place = likelihoods.argmax(axis=-1)
    place = np.where((count < _FIRST) | ~sound.any(axis=-1), _PLAIN, place)[..., None]
    mean, variance, known = (
        np.take_along_axis(part, place, axis=-1)[..., 0] for part in (means, variances, sound)
    )
    return GRID[place[..., 0]], mean, np.sqrt(np.where(known, variance, 1.0)), low, high


def _power(signs, exponents):
    return np.where(signs > 0.0, exponents, 2.0 - exponents)


def _grown(power, size):
    """Return (e^(power size) - 1) / power, and the size where the power is 0."""
    by = np.where(power == 0.0, 1.0, power)
    return np.where(power == 0.0, size, np.expm1(np.minimum(power * size, _LARGEST)) / by)


def _shrunk(power, image):
    """Return the size of which `_grown` makes an image."""
    by = np.where(power == 0.0, 1.0, power)
    inside = np.maximum(power * image, -1.0 + _ROUNDING)  # rounding may lead out
    return np.where(power == 0.0, image, np.log1p(inside) / by)
