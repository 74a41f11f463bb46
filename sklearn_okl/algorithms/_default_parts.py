"""What the estimator without tuning is made of: inputs, a dictionary, and a mixture of mixtures."""

from functools import partial

import numpy as np

from ..aggregators import BOARegressor
from ..features._fourier import fourier_map
from ..features._scalers import RunningStandardScaler
from ..kernels import sample_frequencies
from ..learners import VAWRegressor

_SCALER = RunningStandardScaler()
_FAR = 5.0  # standard deviations at which an input is clipped: heavy tails carry no kernel far
N_LAGS = 4  # latest targets that some experts see

# Bandwidths in units that do not hang on the number d of inputs: of standardised rows, two have a
# squared distance of about 2d and an absolute one of about d. Half a decade apart, as a kernel
# ridge forecaster hardly notices less.
_BANDWIDTHS = (
    ("rbf", (0.2, 0.06, 0.6, 0.02, 2.0)),
    ("laplacian", (0.5, 0.15, 1.5, 0.05)),
    ("matern32", (1.0, 0.3, 3.0, 0.1)),
)
_REFINEMENT = 1.8  # about the root of the grid's ratio: between two of its points
STACKS = ((4.0, 0.998), (4.0, 1.0), (0.4, 0.99))  # ridge and forgetting of the second level
_MARGIN = 0.1  # share of the past range by which forecasts may leave it


class LaggedInputs:
    """Standardise rows by the rows before them, and append the latest targets, standardised too.

    The targets are counted from the first one, which is all that is known of their level when
    nothing else is.
    """

    @staticmethod
    def start():
        """Return the state before the first row."""
        return {"rows": None, "targets": None, "lags": np.zeros(N_LAGS)}

    @staticmethod
    def learn(state, X, y):
        """Return inputs (n, d + N_LAGS), and centres and scales (n,) of y known before each row."""
        column = y[:, None]
        if state["rows"] is None:
            state["rows"], state["targets"] = _SCALER._start(X[0]), _SCALER._start(column[0])
        centers, scales = _SCALER._learn(state["rows"], X)
        rows = np.clip((X - centers) / scales, -_FAR, _FAR)
        past = np.concatenate([state["lags"][::-1], y])
        n = len(y)
        # row t holds y_{t-1}, y_{t-2}, ...
        lags = np.column_stack([past[N_LAGS - k : N_LAGS - k + n] for k in range(1, N_LAGS + 1)])
        centers, scales = _SCALER._learn(state["targets"], column)
        state["lags"] = past[-N_LAGS:][::-1].copy()
        lags = np.clip((lags - centers) / scales, -_FAR, _FAR)
        return np.hstack([rows, lags]), centers[:, 0], scales[:, 0]

    @staticmethod
    def look(state, X):
        """Return inputs for rows, each as if the next, and the scale of y known now."""
        center, scale = _SCALER._known(state["rows"])
        rows = np.clip((X - center) / scale, -_FAR, _FAR)
        center, scale = _SCALER._known(state["targets"])
        lags = np.clip((state["lags"] - center) / scale, -_FAR, _FAR)
        return np.hstack([rows, np.broadcast_to(lags, (len(X), N_LAGS))]), float(scale[0])


class MaskedFeatures:
    """Features of a bank: 1, the inputs that an expert sees, and Fourier features of them."""

    @staticmethod
    def _transform(maps, U):
        """Return features (g, n, 1 + u + 2m) of inputs U (n, u)."""
        masks, frequencies = maps["masks"], maps["frequencies"]
        parts = [np.ones((len(masks), len(U), 1)), U * masks[:, None, :]]
        if frequencies.shape[-1]:
            parts.append(fourier_map(U, frequencies, 2 * frequencies.shape[-1]))
        return np.concatenate(parts, axis=2)


def dictionary():
    """Return the kernels (kernel, bandwidth, sees lags, ridge), those of most use first."""
    kernels = [
        (name, bandwidths[i])
        for i in range(5)
        for name, bandwidths in _BANDWIDTHS
        if i < len(bandwidths)
    ]
    return [
        {"kernel": kernel, "bandwidth": bandwidth, "lags": lags, "alpha": alpha}
        for alpha in (0.3, 0.03)
        for kernel, bandwidth in kernels
        for lags in (False, True)
    ]


def linear_members(forgetting):
    """Return the linear experts of one forgetting rate."""
    alphas = (0.1, 10.0) if forgetting == 1.0 else (1.0,)
    return [
        {"kernel": "linear", "bandwidth": np.nan, "lags": lags, "alpha": alpha}
        for alpha in alphas
        for lags in (False, True)
    ]


def refined(members, losses, size):
    """Return new members between the best ones and their neighbours on the grid."""
    best = [members[k] for k in np.argsort(losses, kind="stable")]
    return [
        parent | {"bandwidth": parent["bandwidth"] * factor}
        for parent in best[: -(-size // 2)]
        for factor in (_REFINEMENT, 1.0 / _REFINEMENT)
    ][:size]


def start_bank(members, n_inputs, n_frequencies, forgetting, rng):
    """Return the state of a bank of experts."""
    size, m = len(members), n_frequencies
    masks = np.zeros((size, n_inputs))
    frequencies = np.zeros((size, n_inputs, m))
    for k, member in enumerate(members):
        seen = n_inputs if member["lags"] else n_inputs - N_LAGS
        masks[k, :seen] = 1.0 / np.sqrt(seen)
        if m:
            gamma = member["bandwidth"] / (
                np.sqrt(seen) if member["kernel"] == "matern32" else seen
            )
            frequencies[k, :seen] = sample_frequencies(
                seen, m, kernel=member["kernel"], gamma=gamma, random_state=rng
            )
    return {
        "members": members,
        "forgetting": forgetting,
        "features": {"masks": masks, "frequencies": frequencies},
        "experts": learner(forgetting)._start(1 + n_inputs + 2 * m, bank=members),
    }


def learner(forgetting):
    """Return the forecaster of a bank."""
    return VAWRegressor(forecaster="ridge", forgetting=forgetting)


class Mixture:
    """An aggregation of aggregations: never much worse than the best expert, often better.

    BOA over the experts; ridge regression of its errors on the experts' deviations from it, for
    several ridges and memories; and BOA over all of these. What forecasts is clipped to the range
    of the past targets, widened a little.
    """

    def __init__(self, n_stacks):
        self._stacks = [
            VAWRegressor(alpha, forgetting=forgetting) for alpha, forgetting in STACKS[:n_stacks]
        ]

    def start(self, n_experts):
        """Return the state before the first row."""
        return {
            "low": 0.0,
            "high": 0.0,
            "experts": BOARegressor()._start(n_experts),
            "stacks": [stack._start(n_experts) for stack in self._stacks],
            "last": BOARegressor()._start(1 + len(self._stacks)),
        }

    def learn(self, state, F, y, scales):
        """Return forecasts (n,) from those of experts F (n, K), NaN where one is not born yet."""
        lows = np.minimum.accumulate(np.append(state["low"], y))
        highs = np.maximum.accumulate(np.append(state["high"], y))
        sane = partial(_clipped, low=lows[:-1], high=highs[:-1])
        F = sane(F)
        mixed = BOARegressor()._learn(state["experts"], F, y)
        D = _deviations(F, mixed, scales)
        errors = (y - mixed) / scales
        columns = [mixed]
        for stack, stack_state in zip(self._stacks, state["stacks"], strict=True):
            columns.append(sane(mixed + scales * stack._learn(stack_state, D, errors)))
        state["low"], state["high"] = float(lows[-1]), float(highs[-1])
        return BOARegressor()._learn(state["last"], np.column_stack(columns), y)

    def forecast(self, state, F, scale):
        """Return forecasts (n,), each as if the next, from those of experts F (n, K)."""
        sane = partial(_clipped, low=state["low"], high=state["high"])
        F = sane(F)
        mixed = BOARegressor()._forecast(state["experts"], F)
        D = _deviations(F, mixed, scale)
        columns = [mixed]
        for stack, stack_state in zip(self._stacks, state["stacks"], strict=True):
            columns.append(sane(mixed + scale * stack._forecast(stack_state, D)))
        return BOARegressor()._forecast(state["last"], np.column_stack(columns))


def _clipped(F, low, high):
    """Clip forecasts (n,) or (n, K) to the range of the past and a margin."""
    margin = _MARGIN * (high - low)
    low, high = low - margin, high + margin
    if np.ndim(low) and F.ndim == 2:
        low, high = low[:, None], high[:, None]
    return np.clip(F, low, high)


def _deviations(F, mixed, scales):
    D = (F - mixed[:, None]) / np.reshape(scales, (-1, 1))
    return np.where(np.isnan(D), 0.0, D)
