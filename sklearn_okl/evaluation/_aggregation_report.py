"""What an aggregator has done, beside what its experts allowed: a table of losses and weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._documentation import explained_by
from .._types import Any, ArrayLike
from ..losses import PinballLoss
from ._combinations import LOSSES, check_loss, combination_comparator, losses_of
from ._prequential import prequential
from ._weights_display import expert_labels, weights_of

ORACLES = {
    "uniform": "uniform mean",
    "expert": "best expert",
    "convex": "best convex combination",
    "linear": "best linear combination",
}
_MEASURES = {
    "squared_error": "mean squared error",
    "absolute_error": "mean absolute error",
    "absolute_percentage_error": "mean absolute percentage error",
}


@explained_by(combination_comparator)
def aggregation_report(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    loss: Any = None,
    output_dict: bool = False,
) -> Any:
    """Hold an aggregator against its experts and the best combinations of them in hindsight.

    A clone of the aggregator learns the rows, each forecast before it is learnt. Its loss stands
    beside those of the uniform mean, the best expert, the best convex and the best linear
    combination, and its weights after the last row beside theirs, under the names of the columns.

    Parameters
    ----------
    estimator : aggregator
        A regressor, as :class:`~sklearn_okl.BOARegressor`, or whatever has a weight for each
        column of X, as :class:`~sklearn_okl.VAWRegressor`. It stays as it is.
    X : array-like of shape (n_samples, n_experts)
        Forecasts of the experts, in the order in which rows come; the columns of a frame name
        them. NaN says that an expert is asleep.
    loss : {"squared_error", "absolute_error", "absolute_percentage_error"} or \
            PinballLoss, default=None
        What is compared. None: the loss that the aggregator compares its experts in, if it is one
        of these, else the squared error.
    output_dict : bool, default=False
        Whether to return a dict in place of text.

    Returns
    -------
    report : str or dict
        Text, or a dict:

        - ``"losses"`` : dict of str to float, mean losses of the aggregator, under the name of its
          class, and of ``"uniform mean"``, ``"best expert"``, ``"best convex combination"`` and
          ``"best linear combination"``;
        - ``"percentages"`` : dict of str to float, their mean absolute percentage errors, NaN where
          a target is 0;
        - ``"experts"`` : dict of str to float, mean losses of the experts;
        - ``"weights"`` : dict of str to dict of str to float, weights of the experts in the
          aggregator after the last row, and in each of the four;
        - ``"n_rows"`` : int, rows that are compared.

    Raises
    ------
    TypeError
        If the estimator has no weight for each column, as what mixes experts of its own.
    ValueError
        If no row is left to compare, the loss is none of the above, a target is 0 where the loss
        is a share of it, or an expert has the name of an oracle.

    See Also
    --------
    combination_comparator : One of the four, with its forecasts.
    ExpertLossesDisplay : The same figures and their course, drawn.

    Notes
    -----
    All figures are of the same rows: those that the aggregator had to forecast after a target was
    known to it, with every expert awake. The others are learnt.

    *Cost.* That of learning, and of :func:`combination_comparator`.

    References
    ----------
    Gaillard & Goude, methods ``summary`` and ``oracle``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from sklearn_okl import BOARegressor
    >>> from sklearn_okl.evaluation import aggregation_report
    >>> rng = np.random.default_rng(0)
    >>> y, fault, other = [[10], [0], [-0.5]] + rng.normal(size=(3, 500)) * [[1], [1], [0.3]]
    >>> experts = pd.DataFrame({"arima": y + fault, "forest": y + other, "naive": 10 + 0 * y})
    >>> print(aggregation_report(BOARegressor(), experts, y))
    3 experts, 500 rows
    <BLANKLINE>
                             mean squared error  percentage
    BOARegressor                         0.2037       3.60%
    uniform mean                         0.2486       3.92%
    best expert                          0.3269       5.04%
    best convex combination              0.1949       3.51%
    best linear combination              0.0748       2.23%
    <BLANKLINE>
    expert  mean squared error  weight now  best convex  best linear
    forest              0.3269       0.651        0.593        0.828
    naive                1.028       0.196        0.203        0.120
    arima               0.8846       0.153        0.204        0.092
    """
    loss = _own_loss(estimator) if loss is None else loss
    known = judged_rows(estimator, X, y, loss)
    name = type(estimator).__name__
    combinations = {
        label: combination_comparator(known.experts, known.y, combination=kind, loss=loss)
        for kind, label in ORACLES.items()
    }
    said = {name: known.forecasts} | {k: found.forecasts for k, found in combinations.items()}
    weights = {name: known.weights} | {k: found.coef for k, found in combinations.items()}
    of_experts = losses_of(loss, known.y, known.experts).mean(axis=0)
    report = {
        "losses": {k: float(losses_of(loss, known.y, f).mean()) for k, f in said.items()},
        "percentages": {k: _percentage(known.y, f) for k, f in said.items()},
        "experts": dict(zip(known.names, of_experts.tolist(), strict=True)),
        "weights": {k: dict(zip(known.names, w.tolist(), strict=True)) for k, w in weights.items()},
        "n_rows": len(known.y),
    }
    return report if output_dict else _text(report, loss)


def _own_loss(estimator):
    """Return the loss of an aggregator, if a combination in hindsight can be found for it."""
    own = getattr(estimator, "loss", None)
    if own == "pinball":
        return PinballLoss(estimator.quantile)
    is_known = isinstance(own, PinballLoss) or (isinstance(own, str) and own in LOSSES)
    return own if is_known else LOSSES[0]


class JudgedRows(NamedTuple):
    """Rows of which an aggregator and its experts are compared, and what it weighs these by."""

    experts: Any  # (n, K)
    y: Any
    forecasts: Any  # (n,), of the aggregator
    weights: Any  # (K,), after the last row
    names: list[str]  # of the experts
    rows: Any  # (n,), places in the stream


def judged_rows(estimator, X, y, loss):
    """Let a clone of an aggregator learn a stream, and return the rows that are compared."""
    if hasattr(estimator, "predict_experts"):
        raise TypeError(
            f"{type(estimator).__name__} mixes experts of its own, which are no columns of X. Give "
            "an aggregator, such as BOARegressor, and X with a column of forecasts for each expert."
        )
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim != 1:
        raise ValueError(
            f"y has the shape {targets.shape}. Give one target a row, as (n_samples,)."
        )
    check_loss(loss, targets)
    found = prequential(estimator, X, y)
    experts = np.asarray(X, dtype=np.float64)
    (weights,) = weights_of(found.estimator).values()
    if experts.ndim != 2 or weights.shape != experts.shape[1:]:
        raise TypeError(
            f"{type(estimator).__name__} has {len(weights)} weights for the {experts.shape[1]} "
            "columns of X. Give an aggregator, which has one for each."
        )
    is_judged = ~np.isnan(found.losses) & ~np.isnan(experts).any(axis=1)
    if not is_judged.any():
        raise ValueError(
            "There is no row with a forecast in which every expert is awake, so that nothing can "
            "be compared. Leave out the columns that are never there together with others."
        )
    names = expert_labels(found.estimator, len(weights))
    taken = {type(estimator).__name__, *ORACLES.values()}.intersection(names)
    if taken:
        raise ValueError(
            f"The columns {sorted(taken)} have names of what they are compared with: rename them."
        )
    kept = (part[is_judged] for part in (experts, targets, found.forecasts))
    return JudgedRows(*kept, weights, names, np.flatnonzero(is_judged))


def _percentage(y, forecasts):
    if (y == 0).any():
        return float("nan")
    return float(losses_of("absolute_percentage_error", y, forecasts).mean())


def _text(report, loss):
    """Write a report as two tables."""
    width = max(map(len, report["losses"]))
    is_of_quantile = isinstance(loss, PinballLoss)
    measure = f"pinball loss at {loss.quantile:g}" if is_of_quantile else _MEASURES[loss]
    heads = [measure, "percentage"]
    lines = [
        f"{len(report['experts'])} experts, {report['n_rows']} rows",
        "",
        f"{'':{width}}  {heads[0]}  {heads[1]}",
    ]
    for name, value in report["losses"].items():
        share = report["percentages"][name]
        share = "-" if np.isnan(share) else f"{share:.2%}"
        lines.append(f"{name:{width}}  {value:{len(heads[0])}.4g}  {share:>{len(heads[1])}}")
    columns = [next(iter(report["weights"])), ORACLES["convex"], ORACLES["linear"]]
    shown = ["weight now", "best convex", "best linear"]
    experts = max(6, *map(len, report["experts"]))
    lines += ["", f"{'expert':{experts}}  {heads[0]}  {'  '.join(shown)}"]
    order = sorted(
        report["experts"], key=lambda expert: -abs(report["weights"][columns[0]][expert])
    )
    for expert in order:
        cells = [
            f"{report['weights'][column][expert]:z{len(head)}.3f}"
            for column, head in zip(columns, shown, strict=True)
        ]
        value = f"{report['experts'][expert]:{len(heads[0])}.4g}"
        lines.append("  ".join([f"{expert:{experts}}", value, *cells]))
    return "\n".join(lines)
