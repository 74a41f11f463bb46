"""What experts lose, and by how much an aggregator is better or worse, drawn."""

from __future__ import annotations

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support

from .._documentation import cites, explained_by, inherit_documentation
from .._types import Any, ArrayLike
from ._aggregation_report import ORACLES, aggregation_report, judged_rows
from ._combinations import combination_comparator, losses_of
from ._display_parts import COLORS, GREY, Display, axes_of, draw_legend, draw_many, ends_first
from ._prequential_display import PrequentialDisplay

KINDS = ("mean_loss", "regret", "residual")


@inherit_documentation
@explained_by(PrequentialDisplay)
@cites
class ExpertLossesDisplay(Display):
    """Mean losses of experts as bars, or the cumulated regret or residual of each as a curve.

    Use :meth:`from_estimator` to create one.

    Parameters
    ----------
    losses : dict of str to ndarray of shape (n_samples,)
        Name of each expert and its losses, row by row.
    residuals : dict of str to ndarray of shape (n_samples,), by the same names
        Targets less the forecasts of each expert.
    aggregator : tuple of (str, ndarray of shape (n_samples,), ndarray of shape (n_samples,))
        Name of the aggregator, its losses and its residuals.
    oracles : dict of str to float, default=None
        Mean losses of combinations in hindsight, by what they are called.
    rounds : ndarray of int of shape (n_samples,), default=None
        Which rounds these are. None: 1, ..., n_samples.

    Attributes
    ----------
    bars_ : matplotlib BarContainer or None
        Of ``"mean_loss"``: the experts, the combinations and the aggregator, the best one first.
    lines_ : list of matplotlib Line2D or None
        Of the other kinds: the experts' curves, in the order of `losses`; of residuals the
        aggregator's after them.

    See Also
    --------
    aggregation_report : The same in figures, with the weights.
    ExpertWeightsDisplay : The weights over time, as a stacked area.

    References
    ----------
    Gaillard & Goude, method ``plot``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import MLPolyRegressor
    >>> from sklearn_okl.evaluation import ExpertLossesDisplay
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=300)
    >>> experts = np.c_[y - 0.5, y + 1.5, y + rng.normal(size=300)]
    >>> ExpertLossesDisplay.from_estimator(MLPolyRegressor(), experts, y)  # doctest: +SKIP
    >>> ExpertLossesDisplay.from_estimator(
    ...     MLPolyRegressor(), experts, y, kind="regret")  # doctest: +SKIP
    """

    def __init__(
        self,
        losses: dict[str, Any],
        residuals: dict[str, Any],
        aggregator: tuple[str, Any, Any],
        *,
        oracles: dict[str, float] | None = None,
        rounds: Any = None,
    ) -> None:
        self.losses = losses
        self.residuals = residuals
        self.aggregator = aggregator
        self.oracles = oracles
        self.rounds = rounds

    @explained_by(PrequentialDisplay.plot)
    def plot(self, ax: Any = None, *, kind: str = "mean_loss", **kwargs: Any) -> Any:
        """Draw bars of mean losses, or curves of cumulated regrets or residuals.

        Parameters
        ----------
        kind : {"mean_loss", "regret", "residual"}, default="mean_loss"
            ``"regret"``: the aggregator's losses so far less the expert's, above 0 where the expert
            was better. ``"residual"``: targets so far less the forecasts, which drifts where an
            expert is biased.
        **kwargs : dict of keywords
            Of matplotlib's ``barh`` or ``plot``.

        Returns
        -------
        self : ExpertLossesDisplay
            With ``bars_`` or ``lines_`` set.
        """
        if kind not in KINDS:
            raise ValueError(f"kind={kind!r} must be one of {list(KINDS)}.")
        n_bars = len(self.losses) + len(self.oracles or {}) + 1
        size = (6.4, max(3.0, 0.3 * n_bars + 1.0)) if kind == "mean_loss" else (6.4, 4.0)
        ax, is_new = axes_of(self, ax, size)
        self.ax_, self.figure_ = ax, ax.figure
        self.bars_ = self.lines_ = None
        if kind == "mean_loss":
            self._plot_bars(ax, kwargs)
            return self
        self._plot_curves(ax, kind, kwargs)
        draw_legend(ax, is_new, ends_first(ax))
        return self

    def _plot_bars(self, ax, bar_kwargs):
        name, losses, _ = self.aggregator
        means = {expert: float(np.mean(values)) for expert, values in self.losses.items()}
        colors = dict.fromkeys(means, COLORS[0]) | dict.fromkeys(self.oracles or {}, GREY)
        means |= self.oracles or {}
        means[name], colors[name] = float(np.mean(losses)), COLORS[1]
        order = sorted(means, key=means.get)
        style = {"color": [colors[label] for label in order], "height": 0.7}
        self.bars_ = ax.barh(order, [means[label] for label in order], **{**style, **bar_kwargs})
        ax.bar_label(self.bars_, fmt="%.3g", padding=3)
        ax.margins(x=0.12)
        ax.invert_yaxis()
        ax.set_xlabel("Mean loss")

    def _plot_curves(self, ax, kind, line_kwargs):
        name, losses, residuals = self.aggregator
        if kind == "regret":
            curves = {expert: losses - values for expert, values in self.losses.items()}
            label = f"Regret of {name}"
        else:
            curves = {**self.residuals, name: residuals}
            label = "Cumulated residual"
        rounds = np.arange(1, len(losses) + 1) if self.rounds is None else self.rounds
        curves = {expert: np.cumsum(values) for expert, values in curves.items()}
        self.lines_ = draw_many(ax, rounds, curves, line_kwargs)
        if kind == "residual":
            self.lines_[-1].set(color="black", linestyle="-")
        ax.axhline(0.0, color=GREY, linewidth=0.8, zorder=0)
        ax.set(xlabel="Round", ylabel=label)

    @classmethod
    @explained_by(aggregation_report, PrequentialDisplay.from_estimator)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        loss: str = "squared_error",
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Let a clone of an aggregator learn a stream, and draw what it and its experts lost.

        Parameters
        ----------
        **kwargs : dict of keywords for :meth:`plot`
            Such as ``kind="regret"``.

        Returns
        -------
        display : ExpertLossesDisplay
            Its ``oracles`` are those of :func:`aggregation_report`.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        known = judged_rows(estimator, X, y, loss)
        losses = losses_of(loss, known.y, known.experts)
        residuals = known.y[:, None] - known.experts
        oracles = {
            label: combination_comparator(known.experts, known.y, combination=kind, loss=loss)
            for kind, label in ORACLES.items()
            if kind != "expert"  # which is one of the bars
        }
        own = losses_of(loss, known.y, known.forecasts), known.y - known.forecasts
        display = cls(
            dict(zip(known.names, losses.T, strict=True)),
            dict(zip(known.names, residuals.T, strict=True)),
            (type(estimator).__name__, *own),
            oracles={label: float(found.losses.mean()) for label, found in oracles.items()},
            rounds=known.rows + 1,
        )
        return display.plot(ax=ax, **kwargs)
