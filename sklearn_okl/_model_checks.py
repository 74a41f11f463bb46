"""What can be known of a model from what it holds: whether it can forecast, and go on learning."""

import copy
import itertools
import math
import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator

from ._linalg import ROUNDING, may_be_inverse
from ._model_shapes import arrays_of, n_numbers, unlike
from ._model_trials import (
    begun,
    fault_of_map,
    fault_of_others,
    has_quantiles,
    try_adapted,
    try_forecaster,
    try_model,
    try_pipeline,
)
from ._tail import SharedInverse
from ._validation import NAMES
from .aggregators import _class_mixture
from .base import OnlineEstimator, OnlineTransformer, SwapMixin, _same, parameter_values
from .base._intercept import start_lookout
from .base._sums import NO_RECORD, KeepsRecord
from .base._swap import _is_finite
from .conformal import _running_errors
from .dictionaries import _factor
from .features import RunningImputer, RunningOneHotEncoder, RunningQuantileTransformer
from .feedback import _sampler
from .learners._ridge_root import is_root
from .learners._ridge_sums import peaks_of
from .meta._past import Past
from .pipeline import StreamingPipeline
from .series import (
    AdaptedForecaster,
    OnlineForecaster,
    _beyond,
    _delayed_ridge,
    _far_values,
    _fixed_share,
    _intervals,
    _medians,
    _mixture,
    _reached,
    _row_sizes,
    _skew,
    _smoothing,
    _views,
)
from .untuned.experts import _cells, _draws, _effects, _logarithms, _told
from .untuned.rounds import _guard
from .untuned.rows import _gaps, _layout, _steps, _values
from .untuned.rows._columns import widths

_OURS = OnlineEstimator, OnlineTransformer
_LARGEST = 2**53  # numbers that count
_STARTED = (  # what parts of a state are at first, and whether others of their names may be them
    (_factor.start_factor(), _factor.is_sound),
    (_running_errors.start(), _running_errors.is_sound),
    (_running_errors.start(window=1), _running_errors.is_sound),
    (_draws.no_draws(1, 1, 1), _draws.is_sound),
    (_steps.start(1), _steps.is_sound),
    (_values.start(_values.none()), _values.is_sound),
    (_cells.Cells(_told.ErrorsTold(0.5, 0), 0, True).start(1, 0, 1), _cells.is_sound),
    (_effects.Effects(1, 0).start(1, np.ones(1), 0), _effects.is_sound),
    (
        _logarithms.Logarithms(1, 0, True, ()).start(2, np.zeros((1, 2)), np.zeros(1)),
        _logarithms.is_sound,
    ),
    (_layout.plain_layout(np.zeros(1, dtype=int)), _layout.is_sound),
    (_delayed_ridge.start((1, 1, 1), 1, 1, 1.0, 1.0), _delayed_ridge.is_sound),
    (_mixture.start(2, 1, 1), _mixture.is_sound),
    (_mixture.start(2, 1, 1, is_shared=True), _mixture.is_sound),
    (_fixed_share.start(np.ones(1), 1, 1), _fixed_share.is_sound),
    (_views.start(1, 1), _views.is_sound),
    (_beyond.start(1), _beyond.is_sound),
    (_far_values.start(1), _far_values.is_sound),
    (_smoothing.start(1, 1), _smoothing.is_sound),
    (_intervals.start(1, 1), _intervals.is_sound),
    (_reached.start(_intervals.start(1, 1)), _reached.is_sound),
    (_skew.start(1, 1), _skew.is_sound),
    (_medians.start(1), _medians.is_sound),
    (_row_sizes.start(0, 0, 1, 1)["intervals"], _intervals.is_sound),
)
_PARTS = {frozenset(part): is_sound for part, is_sound in _STARTED} | {
    frozenset({"block", "known", "labels", "parameters", "past", "t"}): _class_mixture.is_sound,
    frozenset({"folded", "n", "products", "rows"}): _gaps.is_sound,
}
_TRIED = {  # whose states are made of others' -> what raises, or says, what is wrong with them
    OnlineForecaster: try_forecaster,
    AdaptedForecaster: try_adapted,
    StreamingPipeline: try_pipeline,
}
_MARKED = "columns", "indicators", "labels", "places"  # of leaves, no value, what is not known
_FIRST_SIZE = 4  # at which a fresh state is made before one of full size
_LARGE_SIZE = 1_000  # from which on sizes are doubted one by one
_SPARE = 100_000  # numbers that a fresh state of that size may have more than one that has learnt


def unsound_parameters(parts):
    """Return what is wrong with the parameters of a fitted estimator of ours, in words, or None.

    One that is not fitted looks at them when it is.
    """
    for part in parts:
        if _is_of_this_package(part):
            try:
                parameter_values(part)
            except AttributeError as error:
                return f"a {type(part).__name__} that lacks a parameter: {error}"
        if isinstance(part, _OURS) and part.__sklearn_is_fitted__():
            try:
                part._validate()
            except (AttributeError, TypeError, ValueError) as error:
                return f"a {type(part).__name__} with parameters that it does not take: {error}"
    return None


def _is_of_this_package(part):
    """Tell whether an estimator is one of ours, or derives from one."""
    kinds = type(part).__mro__ if isinstance(part, BaseEstimator) else ()
    return any(kind.__module__.partition(".")[0] == "sklearn_okl" for kind in kinds)


def _is_map(part):
    """Tell whether something of ours learns the width of rows, or nothing, and turns them."""
    known = getattr(part, "learns_from_data", None)
    return _is_of_this_package(part) and known is False and not isinstance(part, SwapMixin)


def _is_learnt(name):
    return name.endswith("_") and not name.endswith("__")


def unsound_numbers(parts):
    """Return what is wrong with the numbers of a state, as far as no trial tells it, or None.

    So a writer refuses what readers would: a file that nobody can read is found when it is needed.
    """
    for part in parts:
        if isinstance(part, (*_OURS, *_TRIED)) and part.__sklearn_is_fitted__():
            fault = _fault_of_numbers(part._state, _n_series(part))
            if fault is not None:
                return f"a {type(part).__name__} whose state {fault}"
    return None


def _n_series(part):
    return part._layout["n_series"] if isinstance(part, OnlineForecaster) else 1


def unsound_state(parts):
    """Return what is wrong with the state of an estimator of ours, in words, or None.

    A state is held against a fresh one; a twin of the model forecasts, and learns some rows.
    """
    for part in parts:
        name, fault = type(part).__name__, None
        try:
            if _is_map(part):
                fault = fault_of_map(part) if any(map(_is_learnt, vars(part))) else None
            elif isinstance(part, SwapMixin):
                if part.__sklearn_is_fitted__():
                    fault = _fault_of_columns(part) or _fault_of_record(part)
                    fault = fault or _fault_of_kind(part)
                elif "_built_with" in vars(part):
                    fault = "has gone, while it says by what it was built"
            elif hasattr(part, "_look_over") and _is_of_this_package(part):
                fault = part._look_over()
            elif isinstance(part, BaseEstimator):
                fault = fault_of_others(part)
        except Exception as error:  # what does not fit together fails anywhere
            fault = f"cannot be used ({type(error).__name__}: {error})"
        if fault is not None:
            return f"a {name} whose state {fault}"
    return None


def _fault_of_kind(part):
    """Return what is wrong with what learns on the way, of which all are swapped, or None."""
    if isinstance(part, _OURS):
        return _fault(part)
    for kind, try_out in _TRIED.items():
        if isinstance(part, kind):
            fault = _fault_of_numbers(part._state, _n_series(part))
            if kind is StreamingPipeline:
                fault = fault or unlike(part._started(), part._state)
            with warnings.catch_warnings():
                warnings.simplefilter("error", RuntimeWarning)  # of numbers that are none
                return fault or try_out(part)
    return part._look_over() if hasattr(part, "_look_over") else None


def _fault_of_columns(part):
    """Return what is wrong with the number and names of columns that have been seen, or None."""
    known = vars(part)
    if "n_features_in_" in known and not (_is_count(d := known["n_features_in_"]) and d >= 1):
        return f"is of {d!r} features"
    for attribute, kind in zip(NAMES, (np.ndarray, list), strict=True):
        names = known.get(attribute)
        if names is not None and not (
            isinstance(names, kind)
            and getattr(names, "ndim", 1) == 1
            and len(names) == known.get("n_features_in_")
            and all(isinstance(name, str) for name in names)
        ):
            return "has seen columns whose names are none"
    names = known.get("_target_names", [])
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        return "has seen targets whose names are none"
    return None


def _fault_of_record(part):
    """Return what is wrong with the record of the parameters that a state is of, or None."""
    known = vars(part).get("_built_with")
    if not isinstance(known, dict) or known.keys() != {"checked", "structure"}:
        return "is of no call that is known"
    if known["structure"].keys() != part._structure().keys():
        return "is of other parameters"
    if len(known["checked"]) != len(part._values()):
        return "is of no call that is known"
    taught = part._as_taught() if hasattr(part, "_as_taught") else part
    if taught._is_as_taught() and not _same(taught._structure(), known["structure"]):
        return "is of other parameters"
    return None


def _fault(part):
    state, d = part._state, vars(part).get("n_features_in_")
    if not (isinstance(state, dict) and _is_count(state.get("t"))):
        return "counts no rounds"
    if d is None:
        return "is of no features"
    if (vars(part).get("_n_targets") or 0) > n_numbers(state):
        return f"is of {part._n_targets!r} targets"
    if "_by_place" in vars(part) and not _has_places(part):
        return "holds classes in places that they do not have"
    fault = _fault_of_numbers(state)
    if fault is not None or type(part).__module__.partition(".")[0] != "sklearn_okl":
        return fault
    if d > n_numbers(state) + _SPARE:
        return "is of other sizes than its parameters"
    if isinstance(part, OnlineTransformer):
        if isinstance(part, RunningImputer) and not _is_finite(state):
            return "holds numbers that are none"  # with which it would fill gaps
        if isinstance(part, RunningQuantileTransformer) and not has_quantiles(part):
            return "holds quantiles that do not rise"
        return _unlike_begun(part) or try_model(part)
    model = part._as_taught()
    if not _is_of_size(model):
        return "is of other sizes than its parameters"
    fresh = _fresh(model)
    if "lookout" in state and "lookout" not in fresh:
        fresh["lookout"] = start_lookout(d, model._n_targets or 1)
    if "unlearnt" in state and isinstance(model, KeepsRecord):
        fresh["unlearnt"] = dict(NO_RECORD)
        names = [name for name in ("learner", "model", "experts") if name in fresh]
        of_rows = fresh[names[0]] if names else fresh
        of_rows["peaks"] = peaks_of(of_rows)
    if "gone" in state:
        fresh["gone"] = 0
    return unlike(fresh, state) or try_model(model)


def _has_places(part):
    """Tell whether each class of a classifier has one of its places."""
    labels, n_places = part._by_place, part._n_places
    if labels is None:
        return n_places == len(part.classes_)
    return (
        isinstance(labels, np.ndarray)
        and np.array_equal(np.sort(labels), part.classes_)
        and 0 <= part._n_met <= len(labels) <= n_places == part.max_classes
    )


def _unlike_begun(part):
    """Return in what the state of a transformer is of another shape than a fresh one, or None."""
    if isinstance(part, RunningOneHotEncoder):  # who knows as many categories as have come
        return None
    # a number in a small file makes nothing large
    most = n_numbers(part._state) + _SPARE
    small = _of_size(part, lambda size: min(size, most))
    return unlike(begun(small), part._state)


def _is_count(value):
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _fault_of_numbers(state, n_series=1):
    """Return what is wrong with the numbers and the inverses of a state, or None.

    A part may have seen rows of so many series in each row.
    """
    # weights of a mixture that unlearns have seen the rows whose sums are gone
    n_unlearnt = state.get("unlearnt", NO_RECORD)["n_rows"]
    ahead, most = [state], state.get("t", _LARGEST) * n_series + n_unlearnt
    while ahead:
        part = ahead.pop()
        if isinstance(part, dict):
            ahead += [one for name, one in part.items() if not _is_marked(name, one)]
            if np.max(part.get("t", 0)) > most:
                return f"holds a part that has seen {part['t']} rows, of {most}"
            if np.min(part.get("counts", 0), initial=0) < 0:
                return "holds counts below 0, which cannot be used"
            is_sound = _PARTS.get(frozenset(part))
            if "probabilities" in part:  # of draws
                is_sound = _sampler.is_sound
            if "dispute" in part:  # of a target
                is_sound = _guard.is_sound
            if is_sound is not None and not is_sound(part):
                return f"holds parts that do not go together: {sorted(part)}"
            if "root" in part and not is_root(part["root"], part.get("b")):
                return "holds a root of sums that is none"
            inverses = [part["P"]] if {"A", "P"} <= part.keys() else []
        elif isinstance(part, list):  # tuples describe, as those of an expert's making do
            ahead += [one for one in part if not isinstance(one, Real)]  # or names categories
            continue
        elif isinstance(part, SharedInverse):
            inverses = [P.array for _, _, P in part.groups]
            ahead += arrays_of(part)
        elif isinstance(part, Past):
            if not _are_rows(part):
                return "holds rows that are none"
            continue
        elif isinstance(part, np.ndarray):
            if part.dtype.kind == "c":
                return "holds complex numbers"
            if part.dtype.kind == "i" and not (part >= 0).all():
                return "holds a count, or a place, below 0"
            continue
        elif isinstance(part, Real) and not isinstance(part, float) and not 0 <= part < _LARGEST:
            return f"holds the number {part}"
        else:
            if isinstance(part, float) and math.isnan(part):
                return "holds a number that is none"
            continue
        if not all(map(may_be_inverse, inverses)):
            return "holds an inverse that is none: it is not symmetric with a positive diagonal"
        if isinstance(part, SharedInverse) and not _leaves_inverses(part):
            return "holds an inverse that is none after the rows that wait"
    return None


def _are_rows(past):
    """Tell whether rows that are kept, and targets and weights beside them, are numbers.

    Only rows have gaps.
    """
    (X, y), weights = past.rows, past.weights
    weights = np.ones(1) if weights is None else weights
    return (
        all(part.dtype.kind == "f" for part in (X, y, weights))
        and not np.isinf(X).any()
        and bool(np.isfinite(y).all() and np.isfinite(weights).all() and (weights >= 0.0).all())
    )


def _is_marked(name, part):
    """Tell whether a part of a state holds places that may be none, as -1 or -2 say."""
    return name in _MARKED and isinstance(part, np.ndarray) and (part >= -2).all()


def _leaves_inverses(inverse):
    """Tell whether what waits takes no more from the diagonals of inverses than they have."""
    for k, (place, _, P) in enumerate(inverse.groups):
        before = np.diagonal(P.array, axis1=-2, axis2=-1)
        tails = [inverse.tail]
        if inverse.former is not None and k >= inverse.n_replaced:
            tails.append(inverse.former)
        taken = sum(
            tail.signed(np.square(tail.filled()[1][place]), -2).sum(axis=-2) for tail in tails
        )
        if (taken[..., : before.shape[-1]] > (1.0 + ROUNDING) * before).any():
            return False
    return True


def _fresh(model, cap=lambda number: number):
    """Return the state that a model would start with; no generator of the model's is drawn from.

    What `cap` returns takes the places of whole numbers among its parameters, and of the number of
    features.
    """
    fresh, known = _of_size(model, cap), vars(model).get("_columns")
    d = fresh.n_features_in_ if known is None else cap(sum(widths(known)))
    state = fresh._start(d, fresh._n_targets)
    if "layout" in state.get("columns", {}):  # what columns are shown as is learnt
        state |= fresh._start_from(model._state["columns"]["layout"], d, seed=0)
    return state


def _of_size(value, cap):
    """Return a parameter whose whole numbers, at any depth, are what `cap` makes of them."""
    if isinstance(value, (np.random.RandomState, np.random.Generator)):
        return 0
    if isinstance(value, Integral) and not isinstance(value, bool):
        return cap(value)
    if isinstance(value, (list, tuple)):
        parts = [_of_size(part, cap) for part in value]
        return parts if isinstance(value, list) else tuple(parts)
    if isinstance(value, _OURS):
        other = copy.copy(value)
        for name, part in _sized(other).items():
            setattr(other, name, _of_size(part, cap))
        return other
    return value


def _sized(model):
    """Return what may say how large a state is: parameters, and how much of what there is."""
    numbers = {name: one for name, one in vars(model).items() if isinstance(one, Integral)}
    return numbers | model.get_params(deep=False)


def _is_of_size(model):
    """Tell whether a state has the numbers that a fresh one has, without making one far larger.

    Sizes grow to the full ones by factors of two, large ones each alone before all together. So
    nothing is made of a number in a small file that would ask for more memory than the file does.
    """
    sizes, n_most = [], n_numbers(model._state) + _SPARE
    _of_size(model, lambda number: sizes.append(number) or number)
    large = [place for place, size in enumerate(sizes) if size > _LARGE_SIZE]
    for place in large * (len(large) > 1) + [None]:  # of None all
        most = _FIRST_SIZE
        while most < (max(sizes) if place is None else sizes[place]):
            places = itertools.count()

            def cap(size, place=place, most=most, places=places):
                return min(size, most if next(places) == place or place is None else _FIRST_SIZE)

            try:
                n_fresh = n_numbers(_fresh(model, cap))
            except (IndexError, TypeError, ValueError):  # something of the full size is given
                n_fresh = 0
            if n_fresh > n_most:
                return False
            most *= 2
    return True
