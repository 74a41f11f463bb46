"""Weights of experts, terminal and over time, drawn."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing, check_consistent_length, check_scalar
from sklearn.utils._optional_dependencies import check_matplotlib_support
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from ._display_parts import (
    COLORS,
    GREY,
    PALE,
    STYLES,
    Display,
    axes_of,
    draw_legend,
    named_estimators,
)
from ._prequential_display import PrequentialDisplay


@inherit_documentation
@explained_by(PrequentialDisplay)
class ExpertWeightsDisplay(Display):
    """Weights that combine experts: at the end, as bars, or over time.

    Use :meth:`from_estimator` to create one.

    Parameters
    ----------
    weights : dict of str to ndarray of shape (n_experts,) or (n_points, n_experts)
        Name of each estimator and its weights. With `rounds`, of one estimator only: its weights
        after each of these rounds.
    labels : list of str
        Names of the experts, in the order of the weights.
    rounds : ndarray of shape (n_points,), default=None
        Rounds after which the weights were read; None: `weights` are those at the end.

    Attributes
    ----------
    bars_ : list of matplotlib BarContainer or None
        Bars of each estimator, in the order of `weights`; None over time.
    areas_ : list of matplotlib PolyCollection or None
        Areas of convex weights over time: of the largest, then of all others together.
    lines_ : list of matplotlib Line2D or None
        Curves of signed weights over time: the largest, then each of the others, in grey.

    See Also
    --------
    PrequentialDisplay : The losses that the weights lead to.

    Notes
    -----
    Weights are convex if none is negative and they sum to one at every point. VAW as an aggregator
    gives signed ones: an expert with a negative weight corrects others that resemble it.

    References
    ----------
    Rokhlin & Gurtovaya 2025, Figure 2, for the bars.

    Examples
    --------
    >>> from sklearn_okl import VAW2Regressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> from sklearn_okl.evaluation import ExpertWeightsDisplay
    >>> X, y = make_ar4(300)
    >>> grid = {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}
    >>> model = VAW2Regressor(grid, n_components=20, random_state=0).fit(X, y)
    >>> labels = [f"{point['kernel']} {point['gamma']}" for point in model.kernels_]
    >>> display = ExpertWeightsDisplay({"VAW²": model.weights_}, labels)
    >>> display.labels
    ['rbf 0.1', 'laplacian 0.1', 'rbf 1.0', 'laplacian 1.0']
    >>> display.plot().figure_.savefig("weights.png")  # doctest: +SKIP

    The names are made from ``kernels_`` here, and the weights over time by learning a clone:

    >>> ExpertWeightsDisplay.from_estimator(model)  # doctest: +SKIP
    >>> ExpertWeightsDisplay.from_estimator(model, X, y, over_time=True)  # doctest: +SKIP
    """

    def __init__(self, weights: dict[str, Any], labels: Any, *, rounds: Any = None) -> None:
        self.weights = weights
        self.labels = labels
        self.rounds = rounds

    @explained_by(PrequentialDisplay.plot)
    def plot(self, ax: Any = None, *, n_largest: int = 5, **kwargs: Any) -> Any:
        """Draw bars, or over time stacked areas for convex weights and curves for signed ones.

        Parameters
        ----------
        n_largest : int, default=5
            Number of experts shown by name over time: those with the largest absolute weight on
            average over the points. The others are shown together, in grey. Bars show all.
        **kwargs : dict
            Keywords for matplotlib's ``bar``, ``stackplot`` or ``plot``.

        Returns
        -------
        display : ExpertWeightsDisplay
            The display, with ``ax_``, ``figure_``, ``bars_``, ``areas_`` and ``lines_`` set.

        Raises
        ------
        ValueError
            If the weights of several estimators are to be drawn over time.
        """
        check_scalar(n_largest, "n_largest", Integral, min_val=1)
        if self.rounds is not None and len(self.weights) != 1:
            raise ValueError(
                "Weights over time are drawn for one estimator at a time; give each its own ax."
            )
        n_bars = len(self.labels) * len(self.weights) if self.rounds is None else 0
        size = (min(12.0, max(6.4, n_bars / 16)), 4.0 if self.rounds is not None else 4.6)
        ax, is_new = axes_of(self, ax, size)
        self.ax_, self.figure_ = ax, ax.figure
        self.bars_ = self.areas_ = self.lines_ = None
        if self.rounds is None:
            self._plot_bars(ax, kwargs)
            handles = self.bars_
        else:
            handles = self._plot_over_time(ax, n_largest, kwargs)
        draw_legend(ax, is_new, handles)
        return self

    def _plot_bars(self, ax, bar_kwargs):
        n_experts, n_estimators = len(self.labels), len(self.weights)
        width = 0.8 / n_estimators
        self.bars_ = []
        for i, (name, weights) in enumerate(self.weights.items()):
            places = np.arange(n_experts) + (i - (n_estimators - 1) / 2) * width
            style = {"width": width, "color": COLORS[i % len(COLORS)], "label": name}
            self.bars_.append(ax.bar(places, weights, **{**style, **bar_kwargs}))
        if any(np.min(weights) < 0 for weights in self.weights.values()):
            ax.axhline(0.0, color="black", linewidth=0.8)
        step = -(-n_experts // 26)  # label as many as can be read
        ticks = np.arange(0, n_experts, step)
        ax.set_xticks(ticks, [self.labels[i] for i in ticks])
        crowded = sum(len(label) for label in self.labels) > 40
        ax.tick_params(axis="x", labelrotation=90 if crowded else 0)
        ax.set(xlabel="Expert", ylabel="Weight", xlim=(-0.6, n_experts - 0.4))

    def _plot_over_time(self, ax, n_largest, kwargs):
        """Draw areas or lines and return the artists for the legend, top first."""
        (weights,) = self.weights.values()  # (n_points, n_experts)
        order = np.argsort(-np.abs(weights).mean(axis=0), kind="stable")
        named, others = order[:n_largest], order[n_largest:]
        colors = [COLORS[i % len(COLORS)] for i in range(len(named))]
        styles = [STYLES[i // len(COLORS) % len(STYLES)] for i in range(len(named))]
        rest = "1 other" if len(others) == 1 else f"{len(others)} others"
        labels = [self.labels[i] for i in named]
        ax.set(xlabel="Round", ylabel="Weight", xlim=(self.rounds[0], self.rounds[-1]))

        if np.all(weights >= 0) and np.allclose(weights.sum(axis=1), 1):
            heights = [*weights[:, named].T]
            if len(others):
                heights.append(weights[:, others].sum(axis=1))
                labels, colors = [*labels, rest], [*colors, GREY]
            style = {"colors": colors, "labels": labels, "edgecolor": "white", "linewidth": 0.4}
            self.areas_ = ax.stackplot(self.rounds, heights, **{**style, **kwargs})
            ax.set_ylim(0, 1)
            return self.areas_[::-1]

        ax.axhline(0.0, color="black", linewidth=0.8, zorder=2)
        shown = []
        for i, label, color, linestyle in zip(named, labels, colors, styles, strict=True):
            style = {"color": color, "linestyle": linestyle, "linewidth": 1.5, "label": label}
            shown += ax.plot(self.rounds, weights[:, i], zorder=2.5, **{**style, **kwargs})
        grey = []
        if len(others):
            style = {"color": PALE, "linewidth": 0.6, "zorder": 1.5}
            grey = ax.plot(self.rounds, weights[:, others], **style)
            grey[0].set_label(rest)
        self.lines_ = shown + grey
        shown.sort(key=lambda line: -line.get_ydata()[-1])
        return shown + grey[:1]

    @classmethod
    @explained_by(PrequentialDisplay.from_estimator)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        over_time: bool = False,
        n_points: int = 100,
        class_label: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Read, or learn and read, the weights of estimators, and draw them.

        Parameters
        ----------
        estimator : estimator object, dict of str to estimator, or list of (str, estimator)
            One estimator, named after its class, or several with their names and the same
            experts, whose bars stand side by side. Weights are read from ``weights_``, or from
            ``coef_`` where a linear learner combines forecasts; those of several targets are
            averaged; of a pipeline they are those of its last step. The experts' names come from
            the table ``experts_``, else from ``named_experts_``, ``kernels_``, ``discounts_`` or
            ``scalings_``, else they are the columns of X, where each has a weight, or numbered.
        X : array-like of shape (n_samples, n_features), default=None
            Rows in the order in which they come. None: the estimators are fitted, and their
            weights are shown as they are. Else clones learn these rows, and the estimators stay
            as they are.
        y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            Targets, if X is given.
        over_time : bool, default=False
            Whether to show the weights while X and y are learnt. One estimator only.
        n_points : int, default=100
            Number of pieces, of equal length, after which the weights are read over time.
        class_label : label, default=None
            Of classifiers with weights for each class, the class whose weights are shown. None: of
            all classes, whose bars stand side by side.

        Returns
        -------
        display : ExpertWeightsDisplay

        Raises
        ------
        ImportError
        TypeError
            If an estimator has no weights.
        ValueError
            If X and y are not given together, or not at all or in one piece over time; if the
            experts of the estimators differ; if several, or the weights of several classes, are to
            be shown over time; or if there is no such class.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        if (X is None) != (y is None):
            raise ValueError("Give X and y together, or neither of them.")
        if over_time and X is None:
            raise ValueError("Weights over time need the stream to learn: give X and y.")
        estimators = named_estimators(estimator)
        if over_time:
            if len(estimators) != 1:
                raise ValueError(
                    "Weights over time are drawn for one estimator at a time; give each its own ax."
                )
            check_scalar(n_points, "n_points", Integral, min_val=1)
            ((name, learner),) = estimators.items()
            labels, rounds, weights = _weights_over_time(learner, X, y, n_points, class_label)
            return cls({name: weights}, labels, rounds=rounds).plot(ax=ax, **kwargs)

        if X is not None:
            estimators = {name: clone(learner).fit(X, y) for name, learner in estimators.items()}
        weights, found = {}, []
        for name, learner in estimators.items():
            of_classes = weights_of(learner, class_label)
            found.append(expert_labels(learner, len(next(iter(of_classes.values())))))
            for label, values in of_classes.items():
                named = [] if len(estimators) == 1 and len(of_classes) > 1 else [name]
                weights[", ".join([*named, *([] if label is None else [str(label)])])] = values
        labels, *others = found
        if any(other != labels for other in others):
            raise ValueError(
                "The estimators do not have the same experts, so their bars cannot stand side by "
                "side; draw them one at a time."
            )
        return cls(weights, labels).plot(ax=ax, **kwargs)


def _weights_over_time(estimator, X, y, n_points, class_label):
    """Learn a clone piece by piece; return labels, rounds (p,) and weights (p, K) after each."""
    if not hasattr(estimator, "partial_fit"):
        raise TypeError(
            f"{type(estimator).__name__} has no partial_fit, so it cannot be watched learning; "
            "use an online estimator."
        )
    X = np.asarray(X) if isinstance(X, (list, tuple)) else X
    y = np.asarray(y)
    check_consistent_length(X, y)
    model, classes = clone(estimator), {}
    if is_classifier(model):
        classes = {"classes": np.unique(y)}  # the first piece may not show them
    ends = np.unique(np.linspace(0, len(y), n_points + 1).round().astype(int))
    if len(ends) < 3:
        raise ValueError(
            f"Weights over time are drawn from point to point, and there is one at most of "
            f"{len(y)} rows with n_points={n_points}: give two rows or more, and two points."
        )
    known = []
    for low, high in pairwise(ends.tolist()):
        model.partial_fit(_safe_indexing(X, slice(low, high)), y[low:high], **classes)
        weights, *others = weights_of(model, class_label).values()
        if others:
            raise ValueError(
                f"{type(model).__name__} has weights for each of {1 + len(others)} classes. Over "
                "time those of one are drawn: give its 'class_label'."
            )
        known.append((expert_labels(model, len(weights)), weights))
    # those at the end come first, behind them who has gone
    labels = known[-1][0].copy()
    labels += dict.fromkeys(n for names, _ in known for n in names if n not in labels)
    rows = np.zeros((len(known), len(labels)))
    for row, (names, weights) in zip(rows, known, strict=True):
        # experts that are born on the way had no weight before, nor have others that go
        places = slice(None) if names == labels else [labels.index(name) for name in names]
        row[places] = weights
    return labels, ends[1:], rows


def weights_of(estimator, class_label=None):
    """Return copies of the weights (K,) of a fitted estimator, of each class by its label.

    Weights that are of no class have the label None.
    """
    check_is_fitted(estimator)
    estimator, _ = _last_step(estimator)
    weights = getattr(estimator, "weights_", None)
    of_classes = np.ndim(weights) == 2 and hasattr(estimator, "classes_")
    if weights is None:
        weights = getattr(estimator, "coef_", None)
    elif np.ndim(weights) == 2 and not of_classes:  # of several targets
        weights = np.mean(weights, axis=0)
    if not of_classes and np.ndim(weights) != 1:
        raise TypeError(
            f"{type(estimator).__name__} has no vector of weights; give an estimator that combines "
            "experts, with weights_ or a one-dimensional coef_."
        )
    if not of_classes:
        return {None: np.array(weights, dtype=np.float64)}
    found = dict(zip(estimator.classes_.tolist(), np.array(weights, dtype=np.float64), strict=True))
    if class_label is None:
        return found
    if class_label not in found:
        raise ValueError(f"class_label={class_label!r} is none of the labels {list(found)}.")
    return {class_label: found[class_label]}


def expert_labels(estimator, n_experts):
    """Name the experts as their table does, or by what they differ in, columns of X or numbers."""
    estimator, columns = _last_step(estimator)
    table = getattr(estimator, "experts_", None)
    if isinstance(table, dict) and "name" in table:
        return table["name"][:n_experts].tolist()
    if hasattr(estimator, "named_experts_"):
        return list(estimator.named_experts_)
    numbers = list(map(str, range(n_experts)))
    if getattr(estimator, "_has_nameless_weights", False):
        return numbers
    for attribute, label_of in _LABELS.items():
        if hasattr(estimator, attribute):
            return list(map(label_of, getattr(estimator, attribute)))
    return columns if len(columns) == n_experts else numbers


def _last_step(estimator):
    """Return the estimator that weighs, which is the last step of pipelines, and its columns."""
    columns = getattr(estimator, "feature_names_in_", ())
    while hasattr(estimator, "steps"):
        if len(columns) and len(estimator.steps) > 1:
            try:
                columns = estimator[:-1].get_feature_names_out(columns)
            except AttributeError:  # of a step without names
                columns = ()
        estimator = estimator[-1]
    return estimator, list(map(str, columns))


def _kernel_label(kernel, gamma, alpha=None):
    label = f"{kernel} γ=1/d" if gamma is None else f"{kernel} γ={_rounded(gamma)}"
    return label if alpha is None else f"{label} α={_rounded(alpha)}"


def _rounded(value):
    """Write a number with two digits, and without an exponent where that is as short."""
    return f"{float(f'{value:.2g}'):g}"


# what experts differ in, and how one of them is called
_LABELS = {
    "kernels_": lambda point: _kernel_label(**point),
    "discounts_": lambda discount: f"discount {discount:.9g}",
    "scalings_": ", ".join,
}
