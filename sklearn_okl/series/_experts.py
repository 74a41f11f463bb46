r"""The experts: which there are, and what they see.

What the latest rows say of the next ones is another thing in the morning than at night. So some of
the ridge regressions see means of the latest rows times the sines and cosines of where the first
season is: their coefficients are smooth functions of the phase, as in periodic autoregressions
(E. M. Gladyshev, "Periodically correlated random sequences", Soviet Mathematics Doklady 2, 1961).
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from . import _again, _delayed_ridge, _seasons, _views
from ._smoothing_rates import N_BANKS

RAW, RESIDUAL = 0, 1  # views: the series, what the columns known ahead leave of it; trees' is last
_MOST_LAGS = 240  # of all series together, beyond which fewer lags of each are taken
_N_FREQUENCIES = 128
_SPANS = np.array([1.0, 3.0, 9.0, 27.0])  # parts of a window whose means count by the phase
N_BY_PHASE = 2 * _seasons.N_HARMONICS * len(_SPANS)  # features of these
_FORGETTING = 0.999  # of the experts that forget: about the latest thousand origins
_ALPHA = 1.0  # ridge: windows are divided by the root of their length, so whole ones are about 1


class Ridge(NamedTuple):
    """A direct ridge regression on windows of the latest values.

    Attributes
    ----------
    view : int
        What it forecasts: `RAW`, `RESIDUAL`, or what trees leave.
    window : int
        Latest rows that it sees.
    sharing : {"own", "pooled", "all"}
        Whether each series has a model of its own lags, all share one model of these, or each has a
        model of the lags of all.
    forgetting : float
        Factor by which the past fades per row.
    is_kernel : bool
        Whether it sees random Fourier features of the window.
    by_phase : bool
        Whether it also sees means of the latest rows times where the first season is.
    """

    view: int
    window: int
    sharing: str
    forgetting: float = 1.0
    is_kernel: bool = False
    by_phase: bool = False


def ridges(n_series, windows, pooled, leaving):
    """Return the ridge regressions for some series; windows are the short, middle and long one.

    `leaving` are the views of what is left of a series by what explains it.
    """
    short, middle, long = windows
    alone = "pooled" if pooled else "own"
    experts = [Ridge(RAW, long, alone), Ridge(RAW, middle, alone, _FORGETTING, by_phase=True)]
    if n_series == 1 or pooled:
        experts.append(Ridge(RAW, short, alone))
    else:
        experts.append(Ridge(RAW, long, "pooled", by_phase=True))
        seen = min(short, _MOST_LAGS // n_series)
        if seen > 1:
            experts.append(Ridge(RAW, seen, "all", _FORGETTING))
    experts.append(Ridge(RAW, middle, "pooled", is_kernel=True))
    for view in leaving:
        experts += [
            Ridge(view, long, alone),
            Ridge(view, middle, alone, _FORGETTING),
            Ridge(view, short, alone),
        ]
    return experts


def views_of(experts, leaving, n_seasons):
    """Return the view of each expert (E,), those that learn nothing last."""
    simple = [RAW] * (_again.n_experts(n_seasons) + N_BANKS + 1) + leaving
    return np.array([expert.view for expert in experts] + simple)


def names(experts, seasons, echoes, explaining):
    """Return what each expert is (E,), those that learn nothing last.

    `explaining` says by the number of a view what leaves it, "columns" or "trees".
    """
    found = []
    for expert in experts:
        name = f"{'kernel ridge' if expert.is_kernel else 'ridge'} on {expert.window} rows"
        name += {"own": "", "pooled": ", one model", "all": " of all series"}[expert.sharing]
        name += f" of what {explaining[expert.view]} leave" if expert.view else ""
        found.append(name + (", forgetting" if expert.forgetting < 1.0 else ""))
    again = [
        f"the season of {season} rows again"
        if season
        else f"the mean of {_again.MEANS[k % 3]} rows"
        for k, season in enumerate(seasons)
    ]
    found += ["the latest value", *again, f"{again[0]}, at its distance"]
    of_echoes = "the median of three seasons of {} rows", "the {} rows before again, seen seldom"
    found += [
        name.format(length) if length else "silent"
        for name, length in zip(of_echoes, echoes, strict=True)
    ]
    banks = "", " with slopes", " of logarithms", " without the longest season"
    alone = [f"{what} alone" for what in explaining.values()]
    found += [f"smoothing{bank}" for bank in banks]
    return [*found, "all others, drawn to earlier seasons", *alone]


def draw_waves(experts, rng):
    """Return the frequencies (window, k) of the kernel of each ridge regression, None without."""
    waves = [None] * len(experts)
    for k, expert in enumerate(experts):
        if expert.is_kernel:
            scale = 1.0 / np.sqrt(expert.window)  # so that usual windows are about a radian apart
            waves[k] = scale * rng.standard_normal((expert.window, _N_FREQUENCIES))
    return waves


def start(experts, n_series, n_common, horizon, waves):
    """Return the states of ridge regressions that have seen no origin."""
    states = []
    for (shape, width), expert, frequencies in zip(
        shapes(experts, n_series, n_common), experts, waves, strict=True
    ):
        ridge = _delayed_ridge.start(shape, width, horizon, _ALPHA, expert.forgetting)
        states.append({"ridge": ridge} | ({"frequencies": frequencies} if expert.is_kernel else {}))
    return states


def shapes(experts, n_series, n_common):
    """Return the groups, rows and targets (G, R, q) of each ridge regression, and its width."""
    found = []
    for expert in experts:
        shape = {"own": (n_series, 1, 1), "pooled": (1, n_series, 1), "all": (1, 1, n_series)}
        lags = expert.window * (n_series if expert.sharing == "all" else 1)
        lags = 2 * _N_FREQUENCIES if expert.is_kernel else lags
        width = lags + N_BY_PHASE * expert.by_phase + 1 + n_common
        found.append((shape[expert.sharing], width))
    return found


def forget_first_season(experts, states, n_common):
    """Forget what experts know by where the first season is, which is another one from now on."""
    for expert, own in zip(experts, states, strict=True):
        if expert.by_phase:
            n_last = N_BY_PHASE + 1 + n_common
            _delayed_ridge.forget(own["ridge"], n_last, slice(0, N_BY_PHASE))


def features(experts, states, views, common, phases):
    """Return the features (G, R, D) of an origin for each ridge regression.

    Of `common` features (c,), such as the phases of the seasons, series that have begun know all.
    `phases` (2 N_HARMONICS,) are those of the first season.
    """
    longest = max(expert.window for expert in experts)
    made = [_views.windows(view, longest) for view in views]
    begun = _views.started(views[RAW])
    common = np.concatenate([[1.0], common])
    return [
        _features(expert, state, made[expert.view][:, : expert.window], common, phases, begun)
        for expert, state in zip(experts, states, strict=True)
    ]


def _features(expert, state, window, common, phases, begun):
    if expert.sharing == "all":
        window, begun = window.reshape(1, -1), begun.any(keepdims=True)
    elif expert.is_kernel:
        angles = window @ state["frequencies"]
        window = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
    length, n_last = window.shape[1], len(common)
    Z = np.empty((len(window), length + N_BY_PHASE * expert.by_phase + n_last))
    np.divide(window, np.sqrt(length), out=Z[:, :length])
    Z[:, -n_last:] = common
    if expert.by_phase:
        Z[:, length:-n_last] = _by_phase(window, phases)
    if not begun.all():
        Z[~begun] = 0.0
    return Z[:, None] if expert.sharing == "own" else Z[None]


def _by_phase(window, phases):
    """Return means of parts of a window (m, length) times phases, over the root of their number."""
    means = window @ _averaging(window.shape[1])
    crossed = means[:, :, None] * (phases / np.sqrt(N_BY_PHASE / 2.0))
    return crossed.reshape(len(window), -1)


@cache
def _averaging(length):
    """Return weights (length, parts) of a window's features, whose sums are the means of rows.

    They are less the latest row; its level, the first of the features, is left out.
    """
    spans = np.maximum(np.rint(length / _SPANS), 2.0)
    places = np.arange(length)[:, None]
    return ((places > 0) & (places < spans)) / spans
