"""What a comparison of models has found: means, ranks, a table for a paper, curves."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_scalar
from sklearn.utils._optional_dependencies import check_pandas_support

from .._documentation import explained_by
from .._types import Any, Array
from ._comparison_differences import differences_of
from ._comparison_display import draw_curves, draw_ranks
from ._comparison_ranks import ranks_of
from ._comparison_sequential import evidence_against
from ._comparison_tables import latex_table, markdown_table
from ._prequential_display import PrequentialDisplay
from ._sequential import e_benjamini_hochberg

SECONDS = "seconds_per_row"
COLUMNS = ("stream", "model", "seed", "n_rows", SECONDS)  # of the results, besides the scores


class Comparison:
    r"""Scores of several models on several streams, for several seeds.

    :func:`compare` returns one. Its parameters are attributes of the same names.

    Parameters
    ----------
    results : dict of str to ndarray of shape (n_runs,)
        Of each run its ``"stream"``, ``"model"`` and ``"seed"``, its number of rows ``"n_rows"``,
        ``"seconds_per_row"``, and each score. Runs are in the order of streams, then models, then
        seeds, and all are there; ``pandas.DataFrame(comparison.results)`` has a row for each.
    curves : list of dict of str to ndarray of shape (n_points,)
        Of each run ``"rounds"``, at most 100 numbers of rows, and each score of so many first
        rows, NaN where it is not defined.
    greater_is_better : dict of str to bool
        Of each score, whether the better model has the larger one.
    block_losses : list of dict of str to ndarray of shape (n_points,), default=None
        Of each run and each score that is a mean of losses of rows, their means over the rows from
        one of the ``"rounds"`` to the next; NaN where the first forecast was made later.

    Attributes
    ----------
    streams : list of str
        Names of the streams.
    models : list of str
        Names of the models.
    seeds : list of int
        The seeds.

    See Also
    --------
    compare : Makes one.
    PrequentialDisplay : Running losses of one run each, at every row.

    Notes
    -----
    Seconds are of forecasting and learning, on one thread of BLAS. Those of runs beside which
    others ran on the same machine are longer.

    Examples
    --------
    >>> from sklearn_okl import VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> from sklearn_okl.evaluation import compare
    >>> models = {"ridge": VAWRegressor(forecaster="ridge"), "VAW": VAWRegressor()}
    >>> comparison = compare(models, {"AR(4)": make_ar4(300)}, seeds=1)
    >>> comparison
    <Comparison of 2 models on 1 stream, seeds [0]: squared_error>
    >>> print(comparison.to_latex(decimals=3))
    % needs the package booktabs
    \begin{tabular}{lr}
    \toprule
     & AR(4) \\
    \midrule
    ridge & $1.041$ \\
    VAW & $\mathbf{1.019}$ \\
    \bottomrule
    \end{tabular}
    """

    def __init__(
        self,
        results: dict[str, Any],
        curves: Any,
        greater_is_better: dict[str, Any],
        block_losses: Any = None,
    ) -> None:
        self.results = results
        self.curves = curves
        self.greater_is_better = greater_is_better
        self.block_losses = block_losses
        for name in ("stream", "model", "seed"):
            setattr(self, f"{name}s", list(dict.fromkeys(results[name].tolist())))

    def __repr__(self):
        counts = (
            f"{len(part)} {name}{'' if len(part) == 1 else 's'}"
            for name, part in (("model", self.models), ("stream", self.streams))
        )
        scores = ", ".join(self.greater_is_better)
        return f"<Comparison of {' on '.join(counts)}, seeds {self.seeds}: {scores}>"

    def to_frame(self) -> Any:
        """Return means and standard deviations over the seeds as a frame of pandas.

        Returns
        -------
        frame : DataFrame
            A row for each stream and model. Columns are pairs of a score, or
            ``"seconds_per_row"``, and ``"mean"`` or ``"std"``. The standard deviations are those
            of a sample (division by the number of seeds less one); with one seed they are NaN.

        Raises
        ------
        ImportError
            If pandas is not installed; :attr:`results` needs none.
        """
        pandas = check_pandas_support("Comparison.to_frame")
        columns = {}
        for name in (*self.greater_is_better, SECONDS):
            mean, std = self._moments(name)
            columns |= {(name, "mean"): mean.ravel(), (name, "std"): std.ravel()}
        index = pandas.MultiIndex.from_product(
            [self.streams, self.models], names=["stream", "model"]
        )
        return pandas.DataFrame(columns, index=index)

    def ranks(self, scoring: str | None = None) -> Any:
        """Rank the models, and test which of them may be told apart.

        Models are ranked on each stream by their means over the seeds. With one stream they are
        ranked for each seed; what is found then holds for that stream only.

        Parameters
        ----------
        scoring : str, default=None
            The score, or ``"seconds_per_row"``. None is the first score.

        Returns
        -------
        ranks : Bunch
            - ``average`` : dict of str to float, the average rank of each model, the best first;
              1 is the best rank, and tied models share the mean of their ranks;
            - ``ranks`` (n_blocks, n_models): ranks on each stream, or for each seed;
            - ``n_blocks`` : int, how many streams, or different outcomes of the seeds, were tested;
            - ``statistic`` and ``p_value`` : floats, Friedman's test that all models are equal;
              NaN with fewer than three models or two blocks;
            - ``pairs`` : dict of (str, str) to float, for each two models the p-value of
              Wilcoxon's signed-rank test, two-sided, as Holm's method corrects it for the number
              of pairs; NaN with one block;
            - ``sentence`` : str, what may be said, or how many blocks are needed to say anything.

        Raises
        ------
        ValueError
            If there is one model only, or no such score.

        Notes
        -----
        *How many streams.* The smallest p-value of the signed-rank test on n streams is
        :math:`2^{1-n}`, and Holm's method multiplies it by the number of pairs. So at the level of
        5 % two models need 6 streams, three need 7, five need 9 and eight need 11, whatever the
        scores. Friedman's statistic has its chi-squared distribution for more than ten streams, or
        more than five models.

        *Seeds.* Streams are independent of each other; the seeds of one stream that does not depend
        on the seed share their rows. More seeds make the means over them surer, and not the
        streams more. Where models and streams use no seed, all outcomes are one, seen several
        times, and count once.

        A score that is NaN, of a model that failed, ranks last.

        References
        ----------
        J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006,
        sections 3.1.3 and 3.2. A. Benavoli, G. Corani, F. Mangili, "Should we really use post-hoc
        tests based on mean-ranks?", JMLR 17, 2016, on pairs by signed ranks.
        """
        self._check_several()
        name = self._score_name(scoring)
        scores = self._scores(name)
        by_seed = len(self.streams) == 1
        blocks = scores[0].T if by_seed else scores.mean(axis=2)
        losses = -blocks if self.greater_is_better.get(name, False) else blocks
        losses = np.where(np.isnan(losses), np.inf, losses)
        unit = ("outcome of the seeds", "different outcomes of the seeds")
        unit = unit if by_seed else ("stream", "streams")
        return ranks_of(losses, self.models, unit, repeats=by_seed)

    @explained_by(e_benjamini_hochberg)
    def sequential(self, champion: str, scoring: str | None = None, *, alpha: float = 0.05) -> Any:
        """Test on each stream which models are better than a champion, by its own rows.

        Where :meth:`ranks` needs several streams, this says what may be said of each.

        Parameters
        ----------
        champion : str
            Name of the model that the others challenge.
        scoring : str or None, default=None
            A score that is a mean of losses of rows. None is the first score.

        Returns
        -------
        evidence : Bunch
            - ``e_values`` : dict of (str, str) to float, of each stream and challenger the e-value
              at the end of the stream, a mean over the seeds;
            - ``rejected`` : list of (str, str), those whose challenger is better, by
              :func:`e_benjamini_hochberg` over all of them;
            - ``sentence`` : str, what may be said.

        See Also
        --------
        SequentialComparison : The test behind it, row by row.

        Notes
        -----
        What is bet on are means over the blocks of rows between two points of a curve, a hundred in
        a long stream: the null says of their clipped differences what
        :class:`SequentialComparison` says of rows. Blocks in which one of the two had no forecast
        yet are left out, and with fewer than 21 nobody bets. A ValueError says if there is no such
        model or score, or if the score is no mean of losses of rows.
        """
        name = self._score_name(scoring, with_seconds=False)
        return evidence_against(self, champion, name, alpha)

    @explained_by(ranks)
    def to_latex(
        self, scoring: str | None = None, *, factor: float = 1.0, decimals: int | None = None
    ) -> str:
        r"""Write the means as a table of LaTeX, a row for each model, a column for each stream.

        Parameters
        ----------
        factor : float, default=1.0
            What all numbers are multiplied by, such as 1e3 for small losses.
        decimals : int, default=None
            Digits after the point. None: in each column as many as show four significant digits
            of its smallest mean, since losses of different streams have different units.

        Returns
        -------
        latex : str
            A ``tabular`` in the style of the package booktabs. The best mean of each column, and
            what cannot be told from it in the digits shown, is bold; where there are several seeds,
            standard deviations over them stand behind a ±, and the comment on top says so; a NaN is
            a dash.

        Raises
        ------
        ValueError
            If there is no such score.
        """
        return latex_table(*self._table(scoring, factor, decimals))

    @explained_by(to_latex)
    def to_markdown(
        self, scoring: str | None = None, *, factor: float = 1.0, decimals: int | None = None
    ) -> str:
        """Write the table of :meth:`to_latex` in Markdown.

        Returns
        -------
        markdown : str
            The same table, and below it a line that names the ±.
        """
        return markdown_table(*self._table(scoring, factor, decimals))

    def _table(self, scoring, factor, decimals):
        """Return what a table is written from."""
        name = self._score_name(scoring)
        means, deviations = self._moments(name)
        larger = self.greater_is_better.get(name, False) == (factor > 0)
        best = (np.fmax if larger else np.fmin).reduce(factor * means, axis=1)  # NaN only of NaN
        n_seeds = len(self.seeds)
        note = f"mean ± standard deviation over {n_seeds} seeds" if n_seeds > 1 else None
        shown = factor * means, abs(factor) * deviations, best
        return *shown, self.models, self.streams, decimals, note

    @explained_by(ranks)
    def differences(self, scoring: str | None = None, *, confidence: float = 0.95) -> Any:
        r"""Give the differences of each two models on each stream, paired by seed.

        Parameters
        ----------
        confidence : float, default=0.95
            Share of such intervals that hold the difference of the expected scores, in (0, 1).

        Returns
        -------
        differences : dict of str to ndarray of shape (n_streams * n_pairs,)
            ``"stream"``, ``"model"``, ``"other"``, the mean ``"difference"`` of their scores, model
            less other, and its ``"lower"`` and ``"upper"`` ends; ``pandas.DataFrame(differences)``
            has a row for each. The ends are NaN with one seed, and where all seeds give the same
            difference, of which more seeds would not say more.

        Notes
        -----
        Student's interval :math:`\bar d \pm t_{n-1} s / \sqrt n` of the n differences, one for each
        seed, which may be taken to be Gaussian. It tells what the draws of the models, and of
        streams that are made from the seed, leave open. A stream of fixed rows is one stream: what
        holds on others, only more streams say.
        """
        check_scalar(
            confidence, "confidence", Real, min_val=0, max_val=1, include_boundaries="neither"
        )
        self._check_several()
        scores = self._scores(self._score_name(scoring))
        return differences_of(scores, self.streams, self.models, confidence)

    @explained_by(ranks, PrequentialDisplay.plot)
    def plot_ranks(self, scoring: str | None = None, *, ax: Any = None) -> Any:
        """Draw a critical-difference diagram: average ranks, and bars over who is not told apart.

        Returns
        -------
        ax : matplotlib Axes
            The best rank is at the left. A bar joins models next to each other of which no two are
            told apart at the level of 5 %, by the pairs of :meth:`ranks`, and not by Nemenyi's test
            on mean ranks, which depends on the other models.
        """
        over = "streams" if len(self.streams) > 1 else "outcomes of the seeds"
        return draw_ranks(self.ranks(scoring), over, ax)

    @explained_by(PrequentialDisplay.plot)
    def plot(
        self,
        scoring: str | None = None,
        *,
        stream: str | None = None,
        ax: Any = None,
        start: int = 0,
        **kwargs: Any,
    ) -> Array:
        """Draw each model's score of the rows so far, with a band over the seeds.

        Parameters
        ----------
        scoring : str, default=None
            The score. None is the first one.
        stream : str, default=None
            The stream to draw. None: all of them, a panel each.
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on, one for each stream. None: a new figure.
        start : int, default=0
            Number of first rows to leave out of the figure. They stay in the scores.

        Returns
        -------
        axes : ndarray of matplotlib Axes of shape (n_streams,)
            The axes with the curves, means over the seeds. Bands reach one standard deviation to
            both sides, and are there with several seeds. All panels have a logarithmic scale if one
            needs it. ``axes[0].figure`` is the figure.

        Raises
        ------
        ImportError
        ValueError
            If there is no such score or stream, if there are not as many axes as streams, if a
            stream is shorter than `start`, or has different lengths for different seeds.
        """
        name = self._score_name(scoring, with_seconds=False)
        if stream is not None and stream not in self.streams:
            raise ValueError(f"There is no stream {stream!r}; there are {self.streams}.")
        shown = self.streams if stream is None else [stream]
        return draw_curves(self, name, shown, ax, start, kwargs)

    def _check_several(self):
        if len(self.models) < 2:
            raise ValueError("One model has nobody to be ranked with; compare two or more.")

    def _score_name(self, scoring, with_seconds=True):
        names = [*self.greater_is_better, *([SECONDS] if with_seconds else [])]
        if scoring is None:
            return names[0]
        if scoring not in names:
            raise ValueError(f"There is no score {scoring!r} here; there are {names}.")
        return scoring

    def _scores(self, name):
        """Return a column of the results as an array (n_streams, n_models, n_seeds)."""
        return self.results[name].reshape(len(self.streams), len(self.models), len(self.seeds))

    def _moments(self, name):
        """Return means and standard deviations (n_streams, n_models) over the seeds."""
        scores = self._scores(name)
        if len(self.seeds) == 1:
            return scores[..., 0], np.full(scores.shape[:2], np.nan)
        return scores.mean(axis=2), scores.std(axis=2, ddof=1)
