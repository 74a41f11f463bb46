"""Exact Shapley values, and partial effects, of models that are sums of waves of their inputs."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by
from .._types import Any, ArrayLike
from ._effects import PartialEffects
from ._explanation import ShapleyExplanation
from ._parts import NOBODY
from ._rows import column_names, column_of, container_of_rows, data_of, exchanged, taken
from ._steps import has_union_of_features, owners_through, renamed, sums_of

_N_POINTS = 50


def explain(
    model: Any, X: ArrayLike, background: ArrayLike | None = None, groups: Any = None
) -> ShapleyExplanation:
    r"""Say exactly how much each column moves the forecasts of a model, by Shapley values.

    Each forecast is a base, which is the mean over a background, an entry for each column, and one
    named entry for what is not linear in the features: together they are the forecast. Behind the
    columns there may be entries of others, named in Notes.

    Parameters
    ----------
    model : estimator
        Fitted, and linear in Fourier, Taylor or plain features: :class:`~sklearn_okl.VAWRegressor`
        and the other linear learners, scikit-learn's too, behind
        :class:`~sklearn_okl.FourierFeatures` or :class:`~sklearn_okl.TaylorFeatures` in a pipeline,
        :class:`~sklearn_okl.VAW2Regressor` and other mixtures of such experts,
        :class:`~sklearn_okl.FOGDRegressor`, and the estimators without tuning.
    X : {array-like, DataFrame of pandas} of shape (n_samples, n_features)
        Rows whose forecasts are explained.
    background : {array-like, DataFrame of pandas} of shape (n_background, n_features), default=None
        Rows that stand for what is usual, some thirty of them: an absent column is as in these.
        None: those that a :class:`~sklearn_okl.BackgroundReservoir`, the first step of a pipeline,
        has kept.
    groups : dict of str to list of {int, str}, default=None
        Columns that play as one, such as the indicators of a category: name to indices or names.
        Columns that stand in no group play alone.

    Returns
    -------
    explanation : ShapleyExplanation

    Raises
    ------
    TypeError
        If the model is no such sum, or rows are neither an array nor a frame of pandas.
    ValueError
        If there is no background or an empty one, if groups overlap or name columns that X does
        not have, or if the steps before the features make each column of all others, or a
        FeatureUnion holds several features, so that nothing is left to be told apart.

    See Also
    --------
    partial_effects : How forecasts depend on one column.
    sklearn.inspection.permutation_importance : How much a column is worth, of any model.

    Notes
    -----
    *What is shared out.* A coalition S of columns is worth the mean over background rows b of the
    model's sum at :math:`(x_S, b_{-S})`, an interventional game. A wave is a product over columns,
    :math:`\cos(\omega^T x + \beta) = \mathrm{Re}\, e^{i \beta} \prod_j e^{i \omega_j x_j}`, and so
    are a monomial and what a scaler, an encoder or ranks make of single columns. The Shapley value
    of a product is an integral of a polynomial [1]_, which a rule of Gauss and Legendre gives
    without error; those of sums are sums [2]_.

    *Who else plays.* What the estimators without tuning make of several columns together plays by
    itself, where there is any: "missing values", what gaps say of the target; "trees of few
    values", a tree of the columns with such; "similar rows", the errors of these; "logarithms",
    what those of targets tell. None is a column of X: in ``data`` they are NaN.

    *What is not.* The shrinkage of VAW by :math:`1 / (1 + z^T P z)`, clipping, trees, and mixing
    that is not linear stand in one entry, the remainder. Mixtures have the weights that they have
    now. What is the same in all rows, such as the latest targets, is in the base.

    *Cost.* O(D p²) per row and background row, for D features and p players.

    *Nothing is learnt.* The model is read only.

    References
    ----------
    .. [1] G. Owen, "Multilinear extensions of games", Management Science 18(5), 1972.
    .. [2] S. M. Lundberg, S.-I. Lee, "A unified approach to interpreting model predictions",
       Neural Information Processing Systems (NIPS), 2017, equation (8).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import FourierFeatures, VAWRegressor, make_streaming_pipeline
    >>> from sklearn_okl.inspection import explain
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(500, 3))
    >>> y = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]
    >>> model = make_streaming_pipeline(
    ...     FourierFeatures(gamma=0.3, random_state=0), VAWRegressor(0.1, forecaster="ridge")
    ... ).fit(X, y)
    >>> explanation = explain(model, X[:5], background=X[-32:])
    >>> explanation.values.shape
    (5, 3)
    >>> bool(np.allclose(explanation.forecasts, model.predict(X[:5])))
    True
    >>> explanation.importances().argmin()
    np.int64(2)
    """
    model, X, background = _checked(model, X, background)
    names, columns, sums, others = _players(model, X, background, groups)
    parts = zip(sums.parts, others.parts, strict=True)
    values = sum(part.values(other, len(names)) for part, other in parts)
    base = sum(part.sums().mean(axis=0) for part in others.parts)
    forecasts = np.asarray(_answers(model, X), dtype=np.float64)
    known = forecasts.reshape(len(forecasts), -1)
    remainder = known - base - values.sum(axis=1)
    flat = forecasts.ndim == 1
    return ShapleyExplanation(
        values=values[..., 0] if flat else values,
        base=np.repeat(base[:1] if flat else base[None], len(known), axis=0),
        remainder=remainder[:, 0] if flat else remainder,
        names=names,
        remainder_name=sums.remainder,
        data=data_of(X, columns),
    )


@explained_by(explain)
def partial_effects(
    model: Any,
    column: int | str,
    background: ArrayLike | None = None,
    *,
    grid: int | ArrayLike = _N_POINTS,
    coverage: float = 0.8,
) -> PartialEffects:
    r"""Say how a model's forecasts depend on one column, the others averaged over a background.

    Parameters
    ----------
    model : estimator
        As of :func:`explain`.
    column : int or str
        Index or name of the column.
    grid : int or array-like of shape (n_points,), default=50
        Values of the column, or how many of them between the least and the largest one of the
        background; of text, dates and booleans there are all that the background has.
    coverage : float, default=0.8
        Share of the background rows whose own curves are between `low` and `high`, in (0, 1].

    Returns
    -------
    effects : PartialEffects

    Raises
    ------
    TypeError
        Where :func:`explain` raises one.
    ValueError
        Where :func:`explain` does, or if there is no such column, or a step mixes it with others.

    See Also
    --------
    explain : What moves single forecasts.
    sklearn.inspection.partial_dependence : The same of any model, without what is linear here.

    Notes
    -----
    For :math:`f(x) = \mathrm{Re} \sum_r c_r \prod_j e^{i \omega_{rj} x_j}` the mean over background
    rows is the partial dependence of [1]_, in closed form a sum of waves of the column alone,

    .. math:: \bar f_j(v) = \mathrm{Re} \sum_r c_r e^{i \omega_{rj} v}
              \, \frac1n \sum_b \prod_{k \neq j} e^{i \omega_{rk} b_k} .

    The band holds single rows' curves [2]_: it is wide where the effect depends on other columns.
    What :func:`explain` calls the remainder is left out.

    *Cost.* O(D g b) for D features, g values and b background rows.

    References
    ----------
    .. [1] Friedman 2001, section 8.2.
    .. [2] A. Goldstein, A. Kapelner, J. Bleich, E. Pitkin, "Peeking inside the black box", Journal
       of Computational and Graphical Statistics 24(1), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import FourierFeatures, VAWRegressor, make_streaming_pipeline
    >>> from sklearn_okl.inspection import partial_effects
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(800, 2))
    >>> model = make_streaming_pipeline(
    ...     FourierFeatures(gamma=0.3, random_state=0), VAWRegressor(0.01, forecaster="ridge")
    ... ).fit(X, X[:, 0] ** 2)
    >>> effects = partial_effects(model, 0, X[-32:], grid=[-1.0, 0.0, 1.0])
    >>> effects.mean.round(1) + 0.0
    array([1., 0., 1.])
    """
    check_scalar(coverage, "coverage", Real, min_val=0.0, max_val=1.0, include_boundaries="right")
    model, background, _ = _checked(model, background, background, name="background")
    j = _place(column, column_names(background))
    grid = _grid(grid, column_of(background, j))
    rows = exchanged(taken(background, np.zeros(len(grid), dtype=int)), j, grid)
    names, columns, sums, others = _players(model, rows, background, None)
    player = next(k for k, mine in enumerate(columns) if j in mine)
    if len(columns[player]) > 1:
        raise ValueError(
            f"A step makes its columns of {names[player]} together, so that column {column!r} has "
            "no effect of its own. Leave that step out, or explain the columns as one by 'explain'."
        )
    parts = zip(sums.parts, others.parts, strict=True)
    curves = sum(part.effects(other, player) for part, other in parts)  # (g, b, q)
    if np.ndim(_answers(model, taken(background, [0]))) == 1:
        curves = curves[..., 0]
    ends = 0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage
    low, high = np.quantile(curves, ends, axis=1)
    return PartialEffects(names[player], grid, curves.mean(axis=1), low, high, float(coverage))


def _checked(model, X, background, name="X"):
    if isinstance(model, type):
        raise TypeError(f"{model.__name__} is a class. Give a fitted estimator.")
    if not ("_state" in vars(model) and model.__sklearn_is_fitted__()):
        check_is_fitted(model)  # which looks at all tags first
    if background is None:
        background = _kept(model, X)
    X = background if X is None else X
    X, background = container_of_rows(X, name), container_of_rows(background, "background")
    if X.shape[1] != background.shape[1]:
        raise ValueError(f"background has {background.shape[1]} columns, and X has {X.shape[1]}.")
    return model, X, background


def _kept(model, X):
    """Return the rows that a reservoir at the start of a pipeline has kept.

    They are a frame if X is one; without an X, if they came as one.
    """
    steps = getattr(model, "steps_", getattr(model, "steps", [(None, None)]))
    rows = getattr(steps[0][1], "background_", None)
    if rows is None:
        raise ValueError(
            "There is no background: give rows that stand for what is usual, such as 32 drawn from "
            "the past, or put BackgroundReservoir() as the first step of a StreamingPipeline, "
            "which keeps some."
        )
    if not len(rows):
        raise ValueError(
            "The background is empty: all rows that the BackgroundReservoir had kept were "
            "unlearnt. Give rows that stand for what is usual, background=rows, or learn some more."
        )
    if hasattr(X, "iloc"):
        return type(X)(rows, columns=X.columns)
    names = getattr(steps[0][1], "feature_names_in_", None)
    if X is not None or names is None:
        return rows
    try:
        from pandas import DataFrame
    except ImportError:  # the names came with a frame of another library
        return rows
    return DataFrame(rows, columns=names)


def _answers(model, X):
    """Return the forecasts, or the margins of a classifier."""
    ask = getattr(model, "decision_function", None)
    if ask is None and is_classifier(model):
        raise TypeError(
            f"{type(model).__name__} cannot be explained: it has probabilities and no margins, "
            "'decision_function', that could be sums. Take one that has, such as AIOLIClassifier."
        )
    ask = ask or model.predict
    return ask(X)


def _players(model, X, background, groups):
    """Return the players' names and columns, and the sums of rows and background as theirs."""
    sums, others = sums_of(model, X), sums_of(model, background)
    names, d = column_names(X), X.shape[1]
    owners = owners_through(model, X, background) or [{j} for j in range(d)]
    together = [*_grouped(groups, names).values(), *owners]
    players, of_columns = _united(together, d)
    if players == 1 < d and not (groups and len(groups) == 1):
        if has_union_of_features(model):
            raise ValueError(
                "A FeatureUnion of features is not read through: each wave or monomial of it "
                "counts as made of all columns, so that none can be told apart. Give each of its "
                "features a model of its own, or take an estimator that mixes such models."
            )
        raise ValueError(
            "The steps before the features make each column of all of the others, so that no "
            "column can be told apart. Leave them out, or explain what they make."
        )
    given = {min(mine): name for name, mine in _grouped(groups, names).items()}
    columns = [np.flatnonzero(of_columns == k).tolist() for k in range(players)]
    titles = [given.get(mine[0], " + ".join(names[j] for j in mine)) for mine in columns]
    # who owns a part is a column that the model sees, which is of columns of X, or another player
    of_owners = [of_columns[min(mine)] if mine else NOBODY for mine in owners]
    owning = set().union(*(part.owners.tolist() for part in sums.parts))
    for k, name in enumerate(sums.others):  # those that are there
        is_there = len(owners) + k in owning
        of_owners.append(len(titles) if is_there else NOBODY)
        titles += [name] * is_there
        columns += [[]] * is_there
    of_owners = np.array(of_owners, dtype=int)

    def of_players(known):
        return known._replace(parts=[renamed(part, of_owners) for part in known.parts])

    return titles, columns, of_players(sums), of_players(others)


def _grouped(groups, names):
    """Return the groups as sets of columns by name, or say what is wrong with them."""
    if groups is None:
        return {}
    if not isinstance(groups, dict):
        raise TypeError(f"groups={groups!r} must be a dict of names to lists of columns.")
    found = {
        name: {_place(column, names) for column in np.atleast_1d(np.asarray(columns, dtype=object))}
        for name, columns in groups.items()
    }
    if sum(map(len, found.values())) > len(set().union(*found.values())):
        raise ValueError("Groups have columns in common. Put each column into one group at most.")
    if not all(found.values()):
        raise ValueError("A group has no columns. Leave it out.")
    return found


def _place(column, names):
    if isinstance(column, str):
        if column not in names:
            raise ValueError(f"There is no column {column!r} in X; its columns are {names}.")
        return names.index(column)
    if isinstance(column, Integral) and 0 <= column < len(names):
        return int(column)
    raise ValueError(
        f"There is no column {column!r} in X: give a name, or a number from 0 to {len(names) - 1}."
    )


def _united(together, d):
    """Return how many players there are, and which of them (d,) columns are that play together."""
    first = np.arange(d)  # of those that play together
    for mine in together:
        if len(mine) > 1:
            known = first[sorted(mine)]
            first[np.isin(first, known)] = known.min()
    firsts, players = np.unique(first, return_inverse=True)
    return len(firsts), players


def _grid(grid, column):
    """Return the values at which a column is looked at."""
    if not isinstance(grid, Integral):
        grid = np.asarray(grid)
        if grid.ndim != 1 or not len(grid):
            raise ValueError(f"grid must be a number of values or a list of them, not {grid!r}.")
        return grid
    values = np.asarray(column)
    if values.dtype.kind in "fiu":
        known = values[~np.isnan(values.astype(np.float64))].astype(np.float64)
        if not len(known):
            raise ValueError("The column is empty in the background. Give 'grid' as a list.")
        return np.linspace(known.min(), known.max(), max(int(grid), 1))
    return np.unique(values[[value == value and value is not None for value in values]])
