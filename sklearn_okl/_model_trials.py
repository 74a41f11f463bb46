"""Models from files are tried: a twin of each answers, and learns some rows."""

import warnings
from datetime import datetime, timedelta
from operator import add

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import get_tags

from ._flow import joined
from ._model_shapes import n_numbers, unlike
from .base import OnlineEstimator, OnlineTransformer, _same, twin
from .dictionaries._nested import DEPENDENT
from .features import (
    CalendarFeatures,
    FourierFeatures,
    LagFeatures,
    RunningOneHotEncoder,
    SectionFeatures,
    TaylorFeatures,
)
from .kernels import kernel_of
from .meta import RefitClassifier, RefitRegressor
from .series import _correction, _sound
from .series._delayed_ridge import BLOCK

_OF_NUMBERS = OnlineEstimator, OnlineTransformer, FourierFeatures, TaylorFeatures
_REFIT = RefitClassifier, RefitRegressor  # who may fit somebody else's model for a row
_CLOSE = 1e-4  # of k(x, x), as numbers may be of float32: how far products of factors may be off
_NEVER = 2**53  # a round that does not come
_N_ROWS = 66  # that a model is asked, and taught, the first one alone: blocks have up to 64
_N_SCALED = 64  # and a transformer: some look at their rows again after so many
_WIDE = 1000  # columns of which fewer rows will do
_MOST_FEATURES = 10**6  # of a pipeline, or an encoder: no part of it need know their number


def try_model(part):
    """Let a twin forecast, and learn some rows; return what is wrong, or None."""
    model = twin(part)
    vars(model).pop("feature_names_in_", None)
    is_wide = model.n_features_in_ > _WIDE
    X = _rows(model, _N_SCALED if isinstance(model, OnlineTransformer) and not is_wide else _N_ROWS)
    if isinstance(model, RunningOneHotEncoder):
        _narrow(model)
    if isinstance(model, _REFIT):
        _put_off_fits(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        answers = [_asked(model, X)]
        y = _targets(model, answers[0])
        model.partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
        answers.append(_asked(model, X))
        takes_gaps = isinstance(model, OnlineEstimator) and model._allow_nan
        if takes_gaps and X.dtype.kind == "f" and X.shape[1] > 1:  # each row keeps a number
            X[np.arange(len(X)), np.arange(len(X)) % X.shape[1]] = np.nan
            answers.append(_asked(model, X))
    return (
        None
        if all(np.isfinite(np.asarray(one)).all() for one in answers)
        else "makes no numbers of rows"
    )


def has_quantiles(part):
    """Tell whether the quantiles of a transformer rise in each column, or are none."""
    return not any((np.diff(values, axis=0) < 0.0).any() for _, values, *_ in part._state["looks"])


def begun(model):
    """Return the state of a transformer before the first of the rows of a trial."""
    X = _rows(model, 1)
    return model._begin(X, _targets(model, X))


def fault_of_others(part):
    """Return what is wrong with an estimator that is not ours, as far as can be told, or None."""
    for name in ("coef_", "intercept_"):
        values = np.asarray(vars(part).get(name, 0.0))
        if values.dtype.kind not in "fi" or not np.isfinite(values).all():
            return f"holds numbers that are none: {name}"
    if not all(isinstance(name, str) for name in part.get_params()):
        return "has parameters, or steps, without a name"
    constraints = getattr(part, "_parameter_constraints", {})
    if constraints:
        part._validate_params()  # to which all that has a length is an array
    for name, value in part.get_params(deep=False).items():
        if isinstance(value, dict) and dict not in constraints.get(name, [dict]):
            return f"has a dict in place of its {name}"
    steps = vars(part).get("transformers_")  # of columns
    if steps is None:
        return None
    for step in steps:
        if not (isinstance(step, tuple) and len(step) == 3 and isinstance(step[0], str)):
            return "holds steps that are none"
        if step[1] not in ("drop", "passthrough") and not hasattr(step[1], "transform"):
            return f"holds a step that transforms nothing: {step[0]}"
    known = [name for name, *_ in part.transformers]
    if [step[0] for step in steps if step[0] != "remainder"] != known:
        return "holds other steps than it is made of"
    if all(isinstance(step, (str, OnlineTransformer)) for _, step, _ in steps) and (
        part.sparse_output_ is not False
    ):
        return "makes sparse rows of dense ones"
    return None


def _rows(model, n=_N_ROWS):
    """Return rows of a trial: small positive numbers, and of what is known of other columns."""
    if isinstance(model, CalendarFeatures):
        days = np.datetime64("2024-01-01", "s") + np.arange(n).astype("timedelta64[D]")
        return np.tile(days[:, None], model.n_features_in_)
    rows = np.random.default_rng(0).uniform(0.05, 0.2, size=(n, model.n_features_in_))
    known = None
    if isinstance(model, RunningOneHotEncoder):
        known = [(values, True) for values in model._state["categories"]]
    elif vars(model).get("_columns") is not None:
        known = zip(model._columns["categories"], model._columns["kinds"], strict=True)
    elif vars(model).get("_frame") is not None:
        texts = [[*one.values()] for one in model._frame["texts"]]
        values = map(add, texts, map(list, model._frame["values"]))
        known = zip(values, model._frame["kinds"], strict=True)
    if known is None:
        return rows
    rows = rows.astype(object)
    for column, (values, kind) in zip(rows.T, known, strict=True):
        if kind == "dates":
            column[:] = [datetime(2024, 1, 1) + timedelta(days=day) for day in range(n)]
        elif kind != "numbers":  # long text may be known by its hash alone
            column[:] = next((one for one in values if not isinstance(one, bytes)), None)
    return rows


def _targets(model, answers):
    """Return targets, or labels, for rows of a trial: what a regressor has forecast."""
    n = len(answers)
    if is_classifier(model):
        if vars(model).get("_by_place") is not None:  # others may come, it may have met one only
            return np.resize(model.classes_, n)
        return np.resize(model._checked_classes(model.classes_), n)
    if isinstance(model, LagFeatures):
        return np.zeros((n, *model._state["lags"].shape[1:]))
    return np.zeros(n) if isinstance(model, OnlineTransformer) else np.asarray(answers)


def _narrow(model):
    """Let a twin of an encoder have no more slots than it knows categories of."""
    n_known = max(map(len, model._state["categories"]), default=0)
    if model.n_features_in_ * (model.max_categories + model.n_hashed) > _MOST_FEATURES:
        raise ValueError("it is of more than a million indicators")
    structure = dict(model._built_with["structure"])  # a copy: the twin shares it with the model
    for name, most in (("max_categories", n_known + 1), ("n_hashed", 1)):
        structure[name] = min(getattr(model, name), most)
        setattr(model, name, structure[name])
    model._built_with = model._built_with | {"structure": structure}


def _put_off_fits(model):
    """Let a twin learn rows of a trial without fitting a model, which may be somebody else's."""
    if model._state["due"] <= model._state["t"]:
        raise ValueError("a fit is overdue")
    rows, y = model._state["past"].rows
    if np.isnan(rows).any() and not model._allow_nan:
        raise ValueError("rows with NaN")
    frame = vars(model).get("_frame")
    if frame is not None:
        parts = frame["kinds"], frame["values"], frame["texts"]
        for column, kind, values, texts in zip(rows.T, *parts, strict=True):
            codes = [k for k, one in enumerate(values) if k in texts or not isinstance(one, bytes)]
            if kind != "numbers" and not (np.isnan(column) | np.isin(column, codes)).all():
                raise ValueError("rows of no category")
    if is_classifier(model) and not np.isin(y, np.arange(len(model.classes_))).all():
        raise ValueError("labels of no class")
    model._state = model._state | {"due": _NEVER}


def _asked(model, X):
    """Let a model answer in all its ways; return the first, numbers."""
    verbs = ("predict_proba", "decision_function", "predict", "transform")
    first, *_ = [getattr(model, verb)(X) for verb in verbs if hasattr(model, verb)]
    return first


def fault_of_map(part):
    """Return what is wrong with a map, held against one of the same parameters and width, or None.

    Only numbers may be others: they may have been drawn.
    """
    model = twin(part)
    vars(model).pop("feature_names_in_", None)
    if not hasattr(model, "n_features_in_"):
        return "does not say of how many columns it is"
    if isinstance(model, CalendarFeatures):
        model.n_features_in_ = 1  # nothing depends on it
    elif not _is_of_width(model):
        return "is not of its width"
    if isinstance(model, SectionFeatures):
        return _fault_of_sections(model)
    X, fresh = _rows(model), clone(model)
    fixed = {"random_state": 0} if "random_state" in fresh.get_params() else {}
    fresh.set_params(**fixed).fit(X)
    for name in vars(fresh).keys() - fresh.get_params().keys():
        known, value = vars(part).get(name), vars(fresh)[name]
        if name == "n_features_in_":
            continue
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            fits = np.shape(known) == value.shape and np.isfinite(known).all()
        else:
            fits = _same(known, value)
        if not fits:
            return f"is not of its width: {name} should be another"
    return None if np.isfinite(np.asarray(model.transform(X))).all() else "makes no numbers of rows"


def _fault_of_sections(model):
    """Return what is wrong with sections at points: their factor is that of the points' kernel."""
    model._validate_params()
    points, basis = model.components_, model._basis
    if set(basis) != {"atoms", "factor"} or not _same(basis["atoms"], points):
        return "holds other points than it says"
    factor = basis["factor"]
    for part in (points, factor):
        if part.dtype != np.float64 or not np.isfinite(part).all():
            return "holds numbers that are none"
    if not len(points) or factor.shape != 2 * (len(points),):
        return "is not of its width"
    lower, gram = np.tril(factor), kernel_of(model)(points, points)
    sizes, pivots = np.diagonal(gram), np.square(np.diagonal(factor))
    is_near = np.abs(lower @ lower.T - gram) <= _CLOSE * np.sqrt(np.outer(sizes, sizes))
    if not (is_near.all() and (pivots > DEPENDENT / 2.0 * sizes).all()):
        return "holds a factor of other points"
    return None if np.isfinite(model.transform(_rows(model))).all() else "makes no numbers of rows"


def _is_of_width(model):
    """Tell whether what a map holds has the sizes that its parameters name, before others do."""
    d = model.n_features_in_
    if isinstance(model, SectionFeatures):
        return np.shape(model.components_)[1:] == (d,)
    if not isinstance(model, FourierFeatures):  # an expansion
        shape = np.shape(model.powers_)
        return shape[1:] == (d,) and model.degree <= shape[0]
    shape = np.shape(model.frequencies_)
    return shape[:1] == (d,) and model.n_components <= 2 * shape[1]


def try_forecaster(model):
    """Hold a forecaster against a fresh one, and let a twin learn; return what is wrong, or None.

    The twin forecasts, learns that until a block is full, and then a row at which all is done that
    is done now and then: seasons are looked for, sums are inverted anew.
    """
    model = twin(model)
    state, layout = model._state, model._layout
    fault = _sound.fault_of_layout(layout)
    if fault is not None:
        return fault
    plan = model._plan()
    if _sound.n_numbers(plan) > n_numbers(state):
        return "is of other sizes than its parameters"
    fault = unlike(_sound.fresh(plan, state), state) or _sound.fault(plan, state)
    if fault is not None:
        return fault
    if not model._is_sound(state):
        return "forecasts no numbers"
    n = min(model.horizon, BLOCK)
    future = np.zeros((n, len(layout["ahead"]))) if layout["ahead"] else None
    X = np.zeros((n, layout["n_columns"])) if layout["n_columns"] else None
    y = np.asarray(model.predict(future, n))
    model.predict_interval(future, n_steps=n)
    known = np.isfinite(y)  # not of series that have not begun
    for _ in range(0, BLOCK, n):  # what is remembered of rows is read when a block is full
        model.partial_fit(y, X)
        y = np.asarray(model.predict(future, n))
        if not np.isfinite(y[known]).all():
            return "forecasts no numbers"
    model._state = _sound.late(model._state)
    model.partial_fit(y[:1], None if X is None else X[:1])
    return None


def try_adapted(model):
    """Hold a corrector against a fresh one, and let a twin correct a base of zeros, as above."""
    model = twin(model)
    state, layout = model._state, model.forecaster_._layout
    sizes = int(model.horizon), layout["n_series"], int(model.window)
    if _sound.n_corrected(*sizes) > n_numbers(state):
        return "is of other sizes than its parameters"
    n_first = 0 if layout["first"] is None else len(layout["first"]["labels"])
    fault = unlike(_correction.start(*sizes), state)
    fault = fault or _sound.fault_of_sides(state)
    if fault is not None or np.shape(model._first) != (n_first, *sizes[:2]):
        return fault or "has other first rows than labels of these"
    if not model._is_sound(state):
        return "forecasts no numbers"
    future = np.zeros((1, len(layout["ahead"]))) if layout["ahead"] else None
    base = np.zeros((model.horizon, layout["n_series"]))
    y = np.asarray(model.predict(base, future, 1))
    X = np.zeros((1, layout["n_columns"])) if layout["n_columns"] else None
    for _ in range(2):
        model.predict_interval(base, future, n_steps=1)
        model.partial_fit(y, base[None], X)
    if not np.isfinite(np.asarray(model.predict(base, future, 1))).all():
        return "forecasts no numbers"
    return None


def try_pipeline(model):
    """Let a twin of a pipeline forecast, and one of numbers learn; what it raises is wrong."""
    model = twin(model)
    model._validate()
    vars(model).pop("feature_names_in_", None)
    if model.n_features_in_ > _MOST_FEATURES:
        raise ValueError(f"it is of {model.n_features_in_} features")
    if "steps_" not in vars(model):  # in its warm-up
        X = np.full((2, model.n_features_in_), 0.1)
        batch = joined(model._state["waiting"])
        if np.shape(batch["y"]) != np.shape(model._state["targets"]):
            raise ValueError("its targets are not those of its rows")
        answers = np.asarray(model.predict(X))
        if answers.dtype.kind == "f" and not np.isfinite(answers).all():
            raise ValueError("it makes no numbers of rows")
        return
    steps = [step for _, step in model.steps_ if not isinstance(step, str | None)]
    if not all(hasattr(step, "get_params") and not isinstance(step, type) for step in steps):
        raise TypeError("a step is no estimator")
    if all(isinstance(one, _OF_NUMBERS) and not get_tags(one).input_tags.string for one in steps):
        if steps[0].n_features_in_ != model.n_features_in_:
            raise ValueError("its first step is of another width")
        X = _rows(steps[0], 2)  # the step knows of what kinds columns are
        answers = _asked(model, X)
        if not isinstance(steps[-1], _REFIT):
            model.partial_fit(X, _targets(steps[-1], answers))
