"""What a comparison makes of its scores: frame, ranks, LaTeX and figure."""

import pickle
import re
import sys
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import friedmanchisquare, ttest_rel, wilcoxon

from sklearn_okl import VAWRegressor
from sklearn_okl.evaluation import Comparison, compare
from sklearn_okl.evaluation._comparison_ranks import not_told_apart
from tests.evaluation.comparing import MODELS, STREAMS, same, stream


def made_up(scores, greater_is_better=False, streams=None, models=None):
    """A comparison with the given scores (n_streams, n_models, n_seeds)."""
    scores = np.asarray(scores, dtype=np.float64)
    streams = streams or [f"s{i}" for i in range(scores.shape[0])]
    models = models or list("ABCDEFGH"[: scores.shape[1]])
    grid = [(s, m, k) for s in streams for m in models for k in range(scores.shape[2])]
    where, model, seed = (np.array(column) for column in zip(*grid, strict=True))
    results = {"stream": where, "model": model, "seed": seed}
    results |= {"n_rows": np.full(len(grid), 9), "seconds_per_row": np.full(len(grid), 1e-6)}
    results["score"] = scores.ravel()
    return Comparison(results, [{} for _ in grid], {"score": greater_is_better})


@pytest.mark.long
def test_the_frame_and_what_is_there_without_pandas(monkeypatch):
    pd = pytest.importorskip("pandas")
    comparison = compare(MODELS, STREAMS, 3, scoring=["squared_error", "r2"])
    frame = comparison.to_frame()
    grouped = pd.DataFrame(comparison.results).groupby(["stream", "model"], sort=False)
    for name in ("squared_error", "r2", "seconds_per_row"):
        np.testing.assert_allclose(frame[name, "mean"], grouped[name].mean())
        np.testing.assert_allclose(frame[name, "std"], grouped[name].std(), atol=1e-15)
    assert list(frame.index) == [(where, model) for where in STREAMS for model in MODELS]
    assert compare(MODELS, STREAMS, 1).to_frame()["squared_error", "std"].isna().all()
    again = pickle.loads(pickle.dumps(comparison))
    same(comparison, again)
    assert repr(again) == (
        "<Comparison of 3 models on 2 streams, seeds [0, 1, 2]: squared_error, r2>"
    )
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame requires pandas"):
        comparison.to_frame()
    assert "\\toprule" in comparison.to_latex()


def test_ranks_by_hand():
    # means over two seeds: A 1, 2, 3 | B 2, 2, 1 | C 3, 4, 2
    scores = [
        [[0.0, 2.0], [2.0, 2.0], [3.0, 3.0]],
        [[2.0, 2.0], [1.0, 3.0], [4.0, 4.0]],
        [[3.0, 3.0], [1.0, 1.0], [2.0, 2.0]],
    ]
    ranks = made_up(scores).ranks()
    np.testing.assert_array_equal(ranks.ranks, [[1, 2, 3], [1.5, 1.5, 3], [3, 1, 2]])
    assert list(ranks.average) == ["B", "A", "C"]
    assert list(ranks.average.values()) == pytest.approx([1.5, 5.5 / 3, 8 / 3])
    assert ranks.n_blocks == 3
    assert "needs at least 7" in ranks.sentence
    assert ranks.sentence.startswith("3 streams cannot tell any two of 3 models apart")
    larger = made_up(scores, greater_is_better=True).ranks()
    assert list(larger.average) == ["C", "A", "B"]
    np.testing.assert_allclose(larger.ranks + ranks.ranks, 4.0)
    seconds = made_up(scores, greater_is_better=True).ranks("seconds_per_row")
    assert set(seconds.average.values()) == {2.0}
    assert seconds.p_value == 1.0
    assert set(seconds.pairs.values()) == {1.0}


def test_the_tests_are_those_of_scipy_corrected_by_holm():
    rng = np.random.default_rng(0)
    n = 12
    scores = rng.normal(size=(n, 4)) + np.array([0.0, 0.1, 3.0, 1.0])
    ranks = made_up(scores[..., None]).ranks()
    expected = friedmanchisquare(*scores.T)
    assert ranks.statistic == pytest.approx(expected.statistic)
    assert ranks.p_value == pytest.approx(expected.pvalue)
    raw = {
        (a, b): wilcoxon(scores[:, i], scores[:, j]).pvalue
        for i, a in enumerate("ABCD")
        for j, b in enumerate("ABCD")
        if i < j
    }
    assert ranks.pairs.keys() == raw.keys()
    sorted_pairs = sorted(raw, key=raw.get)
    largest = 0.0
    for k, pair in enumerate(sorted_pairs):
        largest = max(largest, min(1.0, (6 - k) * raw[pair]))
        assert ranks.pairs[pair] == pytest.approx(largest)
    for one, other in pairwise(sorted_pairs):
        assert ranks.pairs[one] <= ranks.pairs[other]
    assert "A and C" in ranks.sentence
    assert "A and B" not in ranks.sentence


@pytest.mark.parametrize(("n_models", "needed"), [(2, 6), (3, 7), (5, 9), (8, 11)])
def test_as_many_streams_as_are_said_to_be_needed_are_needed(n_models, needed):
    """One model wins everywhere, by different amounts: the clearest case there is."""
    for n in (needed - 1, needed):
        scores = 1.0 + np.arange(n)[:, None] * np.arange(n_models) / 10 + np.arange(n_models)
        ranks = made_up(scores[..., None]).ranks()
        apart = [p <= 0.05 for p in ranks.pairs.values()]
        assert any(apart) == (n == needed)
        assert (f"needs at least {needed}" in ranks.sentence) == (n < needed)


def test_seeds_of_one_stream_are_blocks_and_repeats_are_no_evidence():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(1, 2, 8)) + np.array([[0.0], [9.0]])
    ranks = made_up(scores).ranks()
    assert ranks.n_blocks == 8
    assert ranks.pairs["A", "B"] == pytest.approx(2**-7)
    assert ranks.sentence.startswith("On 8 different outcomes of the seeds: Told apart")
    assert np.isnan(ranks.p_value)  # Friedman's test is for three
    repeated = made_up(np.repeat([[[1.0], [2.0]]], 8, axis=2)).ranks()
    assert repeated.n_blocks == 1
    assert np.isnan(repeated.pairs["A", "B"])
    assert repeated.sentence.startswith("1 outcome of the seeds cannot tell any two of 2 models")
    mixed = np.concatenate([np.repeat([[[1.0], [2.0]]], 8, axis=2), scores[:, :1]], axis=1)
    ranks = made_up(mixed).ranks()
    assert ranks.n_blocks == 8
    assert np.isnan(ranks.pairs["A", "B"])  # neither depends on the seed
    assert np.isfinite(ranks.pairs["A", "C"])


def test_two_blocks_tell_little_and_one_tells_nothing():
    scores = np.array([[1.0, 2.0], [1.0, 2.5]])
    assert made_up(scores[..., None]).ranks().pairs["A", "B"] == pytest.approx(0.5)
    assert np.isnan(made_up(scores[:1, :, None]).ranks().pairs["A", "B"])


def test_a_model_that_fails_ranks_last():
    scores = np.tile([1.0, 2.0, 3.0], (7, 1)) + np.arange(7)[:, None] * [0.0, 0.1, 0.3]
    scores[2, 0] = scores[3, 0] = np.nan
    scores[3, 1] = np.nan
    ranks = made_up(scores[..., None]).ranks()
    np.testing.assert_array_equal(ranks.ranks[2:4], [[3, 1, 2], [2.5, 2.5, 1]])
    assert np.isfinite(list(ranks.pairs.values())).all()
    with pytest.raises(ValueError, match="nobody to be ranked with"):
        made_up(scores[:, :1, None]).ranks()
    with pytest.raises(ValueError, match=r"no score 'mse' here; there are \['score', 'seconds"):
        made_up(scores[..., None]).ranks("mse")


NAMES = {"models": ["a_b & {c}", r"50% $x^2$ #1 ~ \n", "VAW²"], "streams": ["s_1", "s 2"]}


def test_latex_is_sound():
    scores = np.array([[[10.0, 12], [5, 5], [7, 8]], [[1e-4, 3e-4], [5e-4, 5e-4], [2e-4, 2e-4]]])
    latex = made_up(scores, **NAMES).to_latex()
    lines = latex.splitlines()
    assert lines[1] == r"\begin{tabular}{lrr}"
    assert lines[-1] == r"\end{tabular}"
    assert lines[3] == r" & s\_1 & s 2 \\"
    rules = [line for line in lines if line in (r"\toprule", r"\midrule", r"\bottomrule")]
    assert rules == [r"\toprule", r"\midrule", r"\bottomrule"]
    assert lines[5].startswith(r"a\_b \& \{c\} & $11.000 \pm 1.414$ & $\mathbf{0.0002000} \pm")
    assert lines[6].startswith(
        r"50\% \$x\textasciicircum{}2\$ \#1 \textasciitilde{} \textbackslash{}n & $\mathbf{5.000}"
    )
    for line in lines[5:8]:
        assert len(re.findall(r"(?<!\\)&", line)) == 2
        assert line.endswith(r" \\")
    bare = re.sub(r"\\[{}]", "", latex)
    depth = np.cumsum([{"{": 1, "}": -1}.get(character, 0) for character in bare])
    assert depth.min() >= 0
    assert depth[-1] == 0
    assert len(re.findall(r"(?<!\\)\$", latex)) % 2 == 0
    assert not re.search(r"(?<!\\)[#_%]", "\n".join(lines[3:]))
    assert latex.count(r"\mathbf") == 3  # two models share the second stream


def test_latex_of_larger_scores_of_ties_and_of_failures():
    scores = np.array([[[0.5], [0.504], [0.1]], [[-0.2], [np.nan], [np.nan]]])
    latex = made_up(scores, greater_is_better=True).to_latex(decimals=2)
    assert [line.split(" & ")[1:] for line in latex.splitlines()[5:8]] == [
        [r"$\mathbf{0.50}$", r"$\mathbf{-0.20}$ \\"],
        [r"$\mathbf{0.50}$", r"-- \\"],
        [r"$0.10$", r"-- \\"],
    ]
    errors = -np.array([[[1.0, 2.0], [3.0, 3.0]]])
    latex = made_up(errors, greater_is_better=True).to_latex(factor=-10.0, decimals=1)
    assert r"A & $\mathbf{15.0} \pm 7.1$ \\" in latex
    assert r"B & $30.0 \pm 0.0$ \\" in latex
    seconds = made_up(errors).to_latex("seconds_per_row", factor=1e6, decimals=0)
    assert r"A & $\mathbf{1} \pm 0$ \\" in seconds


# the figure


@pytest.fixture
def plt():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    yield plt
    plt.close("all")


@pytest.mark.long
def test_curves_are_means_and_bands_standard_deviations(plt):
    comparison = compare(MODELS, STREAMS, 3, scoring=["squared_error", "r2"])
    axes = comparison.plot("r2", start=20, linewidth=3)
    assert [ax.get_title() for ax in axes] == ["one", "made"]
    for i, ax in enumerate(axes):
        assert len(ax.lines) == len(ax.collections) == 3
        for j, (line, band) in enumerate(zip(ax.lines, ax.collections, strict=True)):
            runs = [comparison.curves[9 * i + 3 * j + k] for k in range(3)]
            shown = runs[0]["rounds"] > 20
            values = np.array([run["r2"][shown] for run in runs])
            np.testing.assert_array_equal(line.get_xdata(), runs[0]["rounds"][shown])
            np.testing.assert_allclose(line.get_ydata(), values.mean(axis=0))
            corners = band.get_paths()[0].vertices[:, 1]
            top = (values.mean(axis=0) + values.std(axis=0, ddof=1)).max()
            assert corners.max() == pytest.approx(top)
            assert line.get_linewidth() == 3
    axes[0].figure.canvas.draw()
    assert [text.get_text() for text in axes[0].figure.legends[0].get_texts()] == list(MODELS)

    _, mine = plt.subplots()
    (returned,) = comparison.plot(stream="one", ax=mine)
    assert returned is mine
    assert mine.get_ylabel() == "Squared error,\nrows so far"
    assert mine.lines[0].get_ydata()[-1] == pytest.approx(
        comparison.results["squared_error"][:3].mean()
    )
    for arguments, sentence in [
        ({"scoring": "seconds_per_row"}, "There is no score 'seconds_per_row'"),
        ({"stream": "three"}, "There is no stream 'three'"),
        ({"ax": mine}, "1 axes for 2 streams"),
        ({"start": 150}, "leaves nothing"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            comparison.plot(**arguments)


def test_one_seed_has_no_band_and_streams_of_two_lengths_have_no_mean_curve(plt):
    (ax,) = compare(MODELS, {"one": stream()}, 1).plot()
    assert len(ax.lines) == 3
    assert len(ax.collections) == 0
    ragged = compare(MODELS, {"s": lambda seed: stream(n=50 + seed)}, 2)
    assert ragged.results["n_rows"].tolist() == [50, 51] * 3
    with pytest.raises(ValueError, match="50 rows for one seed and 51 for another"):
        ragged.plot()


def test_figures_need_matplotlib_and_nothing_else_does(monkeypatch):
    comparison = compare({"v": VAWRegressor()}, {"s": stream()}, 1)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"Comparison\.plot requires matplotlib"):
        comparison.plot()


# differences, diagram, Markdown


def test_differences_are_students_intervals_paired_by_seed():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(2, 3, 6)) + 10 * rng.normal(size=(1, 1, 6))  # seeds move all alike
    found = made_up(scores).differences(confidence=0.9)
    assert found["model"].tolist() == ["A", "A", "B"] * 2
    assert found["other"].tolist() == ["B", "C", "C"] * 2
    for i, (s, a, b) in enumerate((s, a, b) for s in (0, 1) for a, b in ((0, 1), (0, 2), (1, 2))):
        expected = ttest_rel(scores[s, a], scores[s, b]).confidence_interval(0.9)
        assert found["lower"][i] == pytest.approx(expected.low)
        assert found["upper"][i] == pytest.approx(expected.high)
        assert found["difference"][i] == pytest.approx((scores[s, a] - scores[s, b]).mean())


@pytest.mark.parametrize("seed", [1, 2])
def test_so_many_intervals_hold_the_difference_as_is_said(seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(4000, 2, 5)) + np.array([0.0, 1.0])[:, None]
    found = made_up(scores).differences(confidence=0.8)
    held = (found["lower"] <= -1.0) & (found["upper"] >= -1.0)
    assert abs(held.mean() - 0.8) < 0.025  # four deviations


def test_differences_that_no_seed_moves_have_no_interval():
    scores = np.array([[[1.0, 1.0, 1.0], [0.3, 0.3, 0.3]], [[1.0, 2.0, 3.0], [2.0, 2.5, 4.5]]])
    found = made_up(scores).differences()
    assert np.isnan(found["lower"]).tolist() == [True, False]
    assert found["difference"].tolist() == pytest.approx([0.7, -1.0])
    assert np.isnan(made_up(scores[..., :1]).differences()["upper"]).all()
    for given, words in [
        ({"confidence": 1.0}, "confidence == 1.0"),
        ({"scoring": "x"}, "score 'x'"),
    ]:
        with pytest.raises(ValueError, match=words):
            made_up(scores).differences(**given)
    with pytest.raises(ValueError, match="One model has nobody"):
        made_up(scores[:, :1]).differences()


def test_groups_of_the_diagram_hold_no_two_that_are_told_apart():
    p = {("a", "b"): 0.5, ("b", "c"): 0.5, ("a", "c"): 0.01, ("c", "d"): 0.01}
    p |= {("b", "d"): 0.04, ("a", "d"): 0.04, ("d", "e"): np.nan}
    p |= {(other, "e"): 0.001 for other in "abc"}
    assert not_told_apart(list("abcde"), p) == [(0, 1), (1, 2), (3, 4)]
    assert not_told_apart(list("abc"), dict.fromkeys([("a", "b"), ("b", "c")], 1.0)) == [(0, 2)]
    assert not_told_apart(["a", "b"], {("a", "b"): 0.01}) == []


def test_the_diagram_shows_ranks_and_groups(plt):
    rng = np.random.default_rng(0)
    scores = 0.3 * rng.normal(size=(12, 5, 2)) + np.array([0.0, 0.3, 0.4, 1.5, 1.6])[:, None]
    comparison = made_up(scores)
    ax = comparison.plot_ranks()
    average = comparison.ranks().average
    texts = {text.get_text() for text in ax.texts}
    assert texts == {f"{name} ({rank:.2f})" for name, rank in average.items()}
    stems = [line.get_xdata()[0] for line in ax.lines[:5]]
    assert stems == list(average.values())
    assert len(ax.lines) == 5 + 2
    assert "12 streams" in ax.get_title()
    _, mine = plt.subplots()
    assert made_up(scores[:1]).plot_ranks(ax=mine) is mine
    assert "outcomes of the seeds" in mine.get_title()


def test_markdown_is_the_table_of_latex_and_both_name_what_stands_behind_the_sign():
    scores = np.array([[[10.0, 12], [5, 5]], [[1e-4, 3e-4], [np.nan, np.nan]]])
    comparison = made_up(scores, models=["a|b", "c"])
    assert comparison.to_markdown().splitlines() == [
        "|  | s0 | s1 |",
        "| --- | ---: | ---: |",
        r"| a\|b | 11.000 ± 1.414 | **0.0002000** ± 0.0001414 |",
        "| c | **5.000** ± 0.000 | – |",
        "",
        "Mean ± standard deviation over 2 seeds.",
    ]
    assert "mean ± standard deviation over 2 seeds" in comparison.to_latex().splitlines()[0]
    alone = made_up(scores[..., :1])
    assert alone.to_markdown(factor=10, decimals=0).splitlines()[-1] == "| B | **50** | – |"
    assert alone.to_latex().splitlines()[0] == "% needs the package booktabs"


def test_panels_have_one_scale(plt):
    far, near = np.geomspace(100, 1, 20), np.linspace(3, 2, 20)
    comparison = made_up(np.ones((2, 1, 1)))
    comparison.curves = [{"rounds": np.arange(1, 21), "score": curve} for curve in (far, near)]
    assert [ax.get_yscale() for ax in comparison.plot()] == ["log", "log"]
    comparison.curves[1]["score"] = near - 2.5
    assert [ax.get_yscale() for ax in comparison.plot()] == ["linear", "linear"]
