"""Table 3 of the VAW² paper, as the guide makes it by `compare`, and by a loop."""

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import rules, streams
from benchmarks.papers.experts import record_experts

DOCS = Path(__file__).parents[2] / "docs"


def table_3(n_seeds):
    """Run the guide's lines, but for the number of seeds; return the comparison and the LaTeX."""
    blocks = re.findall(r"```py\n(.*?)```", (DOCS / "getting_started.md").read_text("utf-8"), re.S)
    (code,) = [block for block in blocks if "compare(" in block]
    last = "print(compare(models, streams, seeds=5).to_latex(factor=1e3, decimals=2))\n"
    assert code.endswith(last)
    names = {}
    exec(code.removesuffix(last), names)  # the guide's own code
    comparison = names["compare"](names["models"], names["streams"], seeds=n_seeds)
    return comparison, comparison.to_latex(factor=1e3, decimals=2)


def check_table_3(comparison, latex, n_seeds):
    """Hold the first draws against a loop over the rules, and the LaTeX against the means."""
    n_draws = len(comparison.seeds)
    scores = comparison.results["squared_error"].reshape(-1, len(rules.RULES), n_draws)
    cells = [line.removesuffix(r" \\").split(" & ") for line in latex.splitlines()[5:-2]]
    assert [cell[0] for cell in cells] == list(rules.RULES)
    for i, (name, mine) in enumerate(zip(rules.TABLE_3_DATA, scores, strict=True)):
        X, y = streams.load_stream(name)
        for seed in range(n_seeds):
            frequencies = streams.published_frequencies(X.shape[1], seed)
            F, _ = record_experts(X, y, frequencies, "ridge", None, int)
            for rule, found in zip(rules.RULES.values(), mine, strict=True):
                shown = np.clip(F, *rules.RANGE) if rule.clipped else F
                forecasts = rule.aggregator("ridge").prequential_predict(shown, y)
                assert found[seed] == np.mean((forecasts - y) ** 2)
        for found, line in zip(mine, cells, strict=True):
            assert re.sub(r"\\mathbf\{(.*?)\}", r"\1", line[1 + i]).startswith(
                f"${1e3 * found.mean():.2f} "
            )


@pytest.mark.long
def test_table_3_is_that_of_a_loop(monkeypatch):
    load = streams.load_stream
    monkeypatch.setattr(rules, "TABLE_3_DATA", ("ar4", "diabetes"))
    monkeypatch.setattr(streams, "load_stream", lambda name: load(name, 400))
    check_table_3(*table_3(n_seeds=2), n_seeds=2)


def test_table_3_is_the_published_one(monkeypatch, data_files):
    data_files("airfoil", "concrete")
    data = ("airfoil", "concrete")
    monkeypatch.setattr(rules, "TABLE_3_DATA", data)
    comparison, latex = table_3(n_seeds=5)
    check_table_3(comparison, latex, n_seeds=1)
    means = comparison.results["squared_error"].reshape(2, -1, 5).mean(axis=2)
    for name, found in zip(data, 1e3 * means, strict=True):
        for (label, rule), mean in zip(rules.RULES.items(), found, strict=True):
            if name in rule.published:
                assert mean == pytest.approx(rule.published[name], abs=0.025), label
