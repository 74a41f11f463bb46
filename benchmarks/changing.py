"""Changing environments: regrets against paths and on intervals, their bounds, losses under drift.

Discounted VAW and its grid, copies on covering intervals, AdaRaker and Raker. Needs no download.
"""

import numpy as np
from sklearn.preprocessing import FunctionTransformer

from sklearn_okl import (
    AdaRakerRegressor,
    DiscountedVAWAARegressor,
    DiscountedVAWRegressor,
    DVAWRegressor,
    FourierFeatures,
    HVAWDRegressor,
    OnlineKernelRegressor,
    RakerRegressor,
    RunningStandardScaler,
    StronglyAdaptiveRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.datasets import (
    load_dataset,
    make_friedman_drift,
    make_holder_path,
    make_rotating_hyperplane,
    make_switching_functions,
)
from sklearn_okl.evaluation import (
    discounted_vaw_aa_regret_bound,
    discounted_vaw_path_bound,
    dynamic_regret,
    fused_ridge_comparator,
    strongly_adaptive_regret_bound,
    vaw_logdet_bound,
)

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, streams_at_hand, table

DISCOUNTS = (0.9, 0.99, 0.999)
STEPS = (0.1, 0.5, 0.9)  # of Raker
TOMS = "raker_toms"
FUSION = 10.0  # price of squared steps of the best path
_MEMBERS = 11  # of the grid, by the logarithm of their memory
_SMALL = 1000  # rows of a stream below which a run is a trial
_WIDTHS = {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}


def run(output=RESULTS, *, n_rows=1000, n_seeds=2, untuned=False, quick=False):
    """Run all parts; print those lines first that are nearest to their bounds, or beyond."""
    if quick:
        n_rows, n_seeds = min(n_rows, 200), 1
    where, found = print_environment(), {"paths": [], "intervals": [], "drifts": []}
    toms = streams_at_hand([TOMS], _toms)
    streams = _streams_of_paths()
    with progress((len(streams) + 1) * n_seeds + len(_drifts()) * n_seeds, "stream") as advance:
        for seed in range(n_seeds):
            for name, make in streams.items():
                X, y = make(n_rows, seed)
                found["paths"] += _on_path(name, seed, X, y)
                found["intervals"] += _on_intervals(name, seed, X, y)
                advance(1, name)
            found["paths"] += _greedy(min(n_rows, 300), seed)
            found["intervals"] += _greedy_intervals(min(n_rows, 300), seed)
            advance(1, "greedy")
            for name, make in _drifts().items():
                found["drifts"] += _under_drift(name, seed, *make(n_rows, seed), untuned)
                advance(1, name)
    found["toms"] = [line for X, y in toms.values() for line in _on_toms(X, y, n_rows)]
    for lines in (found["paths"], found["intervals"]):
        lines.sort(key=lambda line: -line["share"])
    found["drifts"].sort(key=lambda line: -line["ratio"])
    _print(found)
    print_saved(output / "changing.json", {"environment": where} | found)
    return int(
        any(line["must"] and line["share"] > 1 for line in found["paths"] + found["intervals"])
    )


def _streams_of_paths():
    """Return makers of linear streams by name: functions of a number of rows and a seed."""
    return {
        "random": _random,
        "jump": _jump,
        "hyperplane": lambda n, seed: make_rotating_hyperplane(n, n_features=4, random_state=seed),
        "Hölder 0.3": lambda n, seed: make_holder_path(n, exponent=0.3, random_state=seed),
        "Hölder 0.8": lambda n, seed: make_holder_path(n, exponent=0.8, random_state=seed),
    }


def _random(n, seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), np.clip(rng.normal(size=n), -2, 2)


def _jump(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] * np.where(np.arange(n) < n // 2, 1.0, -1.0) + 0.1 * rng.normal(size=n)


def _on_path(stream, seed, X, y):
    """Return lines of regrets against the best path, and against members of the grid."""
    path = fused_ridge_comparator(X, y, fusion=FUSION).path
    lines, still = [], VAWRegressor().prequential_predict(X, y)
    for forgetting in DISCOUNTS:
        model = DiscountedVAWRegressor(forgetting=forgetting)
        bound = discounted_vaw_path_bound(X, y, path, forgetting=forgetting)[-1]
        name = f"discounted VAW, {forgetting}"
        forecasts = model.prequential_predict(X, y)
        lines.append(_line(stream, seed, name, dynamic_regret(forecasts, X, y, path)[-1], bound))
        regret = dynamic_regret(still, X, y, path)[-1]
        name = f"VAW, bound of {forgetting}"
        lines.append(_line(stream, seed, name, regret, bound, must=False))
    lines += _of_grid(stream, seed, X, y)
    forecasts = _forecasts(_vaw_on_grid(), X, y)
    return [*lines, _of_vaw_on_grid(stream, seed, X, y, forecasts)]


def _of_grid(stream, seed, X, y):
    return [_nearest_member(stream, seed, X, y, _forecasts(DiscountedVAWAARegressor(), X, y))]


def _nearest_member(stream, seed, X, y, forecasts):
    """Return the line of the member of the grid against which most of the bound is used."""
    lines = []
    for memory, member in enumerate(_members(X, y)):
        regret = float(((forecasts - y) ** 2 - (member - y) ** 2).sum())
        bound = discounted_vaw_aa_regret_bound(
            memory, width=np.ptp(y), first_loss=(forecasts[0] - y[0]) ** 2
        )
        lines.append(_line(stream, seed, f"grid, member {memory}", regret, bound))
    return max(lines, key=lambda line: line["share"])


def _members(X, y):
    """Return the forecasts of the members, those of 0 up to the birth of each."""
    members = [VAWRegressor().prequential_predict(X, y)]
    for memory in range(1, _MEMBERS):
        birth = 2**memory
        if birth > len(y):
            break
        member, learner = members[0].copy(), VAWRegressor().fit(X[:birth], y[:birth])
        learner.set_params(forgetting=1 - 0.5**memory)  # born of the one that forgets nothing
        if birth < len(y):
            member[birth:] = learner.prequential_predict(X[birth:], y[birth:])
        members.append(member)
    return members


def _of_vaw_on_grid(stream, seed, X, y, forecasts):
    """Return the line of VAW on the grid, of the path and member that use most of the bound."""
    members, lines = _members(X, y), []
    columns = [*members, *members[:1] * (_MEMBERS - len(members))]
    mixing = vaw_logdet_bound(np.column_stack(columns), y_bound=np.abs(y).max(), norm_sq=1.0)[-1]
    for fusion in (FUSION, 1e8):
        path = fused_ridge_comparator(X, y, fusion=fusion).path
        regret = dynamic_regret(forecasts, X, y, path)[-1]
        for memory in range(len(members)):
            known = {"forgetting": 1 - 0.5**memory if memory else 1.0, "birth": 2**memory}
            bound = discounted_vaw_path_bound(X, y, path, **known)[-1] + mixing
            name = f"VAW on the grid, member {memory}, fusion {fusion:g}"
            lines.append(_line(stream, seed, name, regret, bound))
    return max(lines, key=lambda line: line["share"])


def _vaw_on_grid():
    return DVAWRegressor(FunctionTransformer(), max_memory=2 ** (_MEMBERS - 1))


def _on_intervals(stream, seed, X, y):
    """Return lines of the worst interval against copies that begin with it."""
    return _worst_interval(stream, seed, X, y, _forecasts(StronglyAdaptiveRegressor(), X, y))


def _worst_interval(stream, seed, X, y, forecasts):
    lines, least = [], StronglyAdaptiveRegressor().min_length
    size = least
    while 2 * size <= len(y):
        start, stop = size - least, 2 * size - least
        copy = VAWRegressor().prequential_predict(X[start:stop], y[start:stop])
        errors = (forecasts[start:stop] - y[start:stop]) ** 2 - (copy - y[start:stop]) ** 2
        bound = strongly_adaptive_regret_bound(start, stop, width=np.ptp(y[:stop]))
        lines.append(_line(stream, seed, f"copies, interval of {size}", errors.sum(), bound))
        size *= 2
    return [max(lines, key=lambda line: line["share"])] if lines else []


def _forecasts(model, X, y):
    return model.prequential_predict(X, y)


def _greedily(model, X, seed):
    """Return targets, each the end of [-1, 1] that is farther from the forecast, and forecasts."""
    n, rng = len(X), np.random.default_rng(seed)
    y, forecasts = np.zeros(n), np.zeros(n)
    for t in range(n):
        forecasts[t] = model.predict(X[t : t + 1])[0] if t else 0.0
        y[t] = 1.0 if forecasts[t] < 0 or (forecasts[t] == 0 and rng.random() < 0.5) else -1.0
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return y, forecasts


def _greedy(n, seed):
    """Return lines of a one-dimensional stream whose targets are far from each forecast."""
    lines, X = [], np.ones((n, 1))
    for forgetting in DISCOUNTS:
        y, forecasts = _greedily(DiscountedVAWRegressor(forgetting=forgetting), X, seed)
        for fusion in (FUSION, 1e6):
            path = fused_ridge_comparator(X, y, fusion=fusion).path
            bound = discounted_vaw_path_bound(X, y, path, forgetting=forgetting)[-1]
            regret = dynamic_regret(forecasts, X, y, path)[-1]
            name = f"discounted VAW, {forgetting}, fusion {fusion:g}"
            lines.append(_line("greedy", seed, name, regret, bound))
    for model, line_of in (
        (DiscountedVAWAARegressor(), _nearest_member),
        (_vaw_on_grid(), _of_vaw_on_grid),
    ):
        y, forecasts = _greedily(model, X, seed)
        lines.append(line_of("greedy", seed, X, y, forecasts))
    return lines


def _greedy_intervals(n, seed):
    X = np.ones((n, 1))
    y, forecasts = _greedily(StronglyAdaptiveRegressor(), X, seed)
    return _worst_interval("greedy", seed, X, y, forecasts)


def _line(stream, seed, name, regret, bound, must=True):
    """Return a line; what must not exceed its bound makes the job fail where it does."""
    share = float(regret / bound)
    return {
        "stream": stream,
        "seed": seed,
        "model": name,
        "regret": float(regret),
        "bound": float(bound),
        "share": share,
        "must": must,
    }


def _drifts():
    """Return makers of streams of curved functions by name."""
    drifts = {
        f"Friedman, {kind}": lambda n, seed, kind=kind: make_friedman_drift(
            n, drift=kind, random_state=seed
        )
        for kind in ("recurring", "gradual", "local")
    }
    return drifts | {
        "hyperplane": lambda n, seed: make_rotating_hyperplane(n, random_state=seed),
        "switching": lambda n, seed: make_switching_functions(n, random_state=seed),
    }


def _under_drift(stream, seed, X, y, untuned):
    """Return lines of root mean squared errors, each over VAW's that forgets nothing."""
    scale = np.std(y[: len(y) // 10])
    y = (y - y[: len(y) // 10].mean()) / (4 * scale)  # nearly in [-1, 1], for first-order learners
    errors = {}
    for name, model in _models(seed, untuned).items():
        forecasts = model.prequential_predict(X, y)
        errors[name] = float(np.sqrt(np.square(forecasts - y).mean()) * 4 * scale)
    base = errors["features, VAW"]
    return [
        {"stream": stream, "seed": seed, "model": name, "rmse": error, "ratio": error / base}
        for name, error in errors.items()
    ]


def _models(seed, untuned):
    options = {"n_components": 40, "random_state": seed}
    raker = RakerRegressor(_WIDTHS, eta0=0.9, **options)
    learners = {
        "features, VAW": VAWRegressor(),
        **{
            f"features, discounted {rate}": DiscountedVAWRegressor(forgetting=rate)
            for rate in DISCOUNTS
        },
        "features, grid of discounts": DiscountedVAWAARegressor(),
        "features, copies of VAW": StronglyAdaptiveRegressor(min_length=64),
    }
    models = {
        name: make_streaming_pipeline(
            RunningStandardScaler(), FourierFeatures(n_components=100, random_state=seed), learner
        )
        for name, learner in learners.items()
    }
    models |= {
        "H-VAW-D": make_streaming_pipeline(
            RunningStandardScaler(), HVAWDRegressor(random_state=seed)
        ),
        "Raker": make_streaming_pipeline(RunningStandardScaler(), raker),
        "copies of Raker": make_streaming_pipeline(
            RunningStandardScaler(), StronglyAdaptiveRegressor(raker, min_length=64)
        ),
        "AdaRaker": make_streaming_pipeline(
            RunningStandardScaler(), AdaRakerRegressor(_WIDTHS, **options)
        ),
    }
    if untuned:
        models["untuned, fast"] = OnlineKernelRegressor(budget="fast", random_state=seed)
    return models


def _toms(name):
    X, y = load_dataset(name, return_X_y=True)
    return X / np.linalg.norm(X, axis=1).max(), y


def _on_toms(X, y, n_rows):
    """Return lines of AdaRaker and of Raker at three steps, on all rows where there are many."""
    X, y = (X[:n_rows], y[:n_rows]) if n_rows < _SMALL else (X, y)
    options = {"n_components": 100, "random_state": 0}
    models = {
        f"Raker, step {step}": RakerRegressor(_WIDTHS, eta0=step, **options) for step in STEPS
    }
    models |= {
        "AdaRaker": AdaRakerRegressor(_WIDTHS, **options),
        "AdaRaker, begun from nothing": AdaRakerRegressor(_WIDTHS, restart="zero", **options),
    }
    lines = [
        {
            "model": name,
            "n_rows": len(y),
            "mse": 1e3 * float(np.square(model.prequential_predict(X, y) - y).mean()),
        }
        for name, model in models.items()
    ]
    return sorted(lines, key=lambda line: -line["mse"])


def _print(found):
    for part, title in (
        ("paths", f"Regret against the best path, steps at {FUSION:g} each, and against members"),
        ("intervals", "Regret on intervals against copies that begin with them"),
    ):
        print(f"\n{title}: the nearest to the bound first")
        rows = [
            [
                line["stream"],
                f"{line['seed']}",
                line["model"],
                f"{line['regret']:.2f}",
                f"{line['bound']:.2f}",
                f"{line['share']:.3f}",
                "exceeded" if line["share"] > 1 else "",
            ]
            for line in found[part]
        ]
        print(table(["stream", "seed", "", "regret", "bound", "share", ""], rows))
    still = [line for line in found["paths"] if not line["must"]]
    beyond = sum(line["share"] > 1 for line in still)
    print(f"VAW, which forgets nothing, exceeds a dynamic bound in {beyond} of {len(still)} lines.")
    print("\nRoot mean squared errors, and over those of VAW that forgets nothing: the worst first")
    rows = [
        [
            line["stream"],
            f"{line['seed']}",
            line["model"],
            f"{line['rmse']:.3f}",
            f"{line['ratio']:.3f}",
        ]
        for line in found["drifts"]
    ]
    print(table(["stream", "seed", "", "RMSE", "ratio"], rows))
    if found["toms"]:
        print("\nMean squared errors × 10³ on Tom's Hardware, 50 frequencies, the worst first")
        rows = [
            [line["model"], f"{line['n_rows']}", f"{line['mse']:.3f}"] for line in found["toms"]
        ]
        print(table(["", "rows", "MSE"], rows))
