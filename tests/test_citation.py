"""BibTeX of what estimators cite."""

import re

import pytest

from sklearn_okl import BOARegressor, OGDRegressor, OnlineForecaster, all_estimators, cite
from sklearn_okl._documentation import sections_of


@pytest.mark.parametrize(("name", "class_"), [*all_estimators(), ("f", OnlineForecaster)])
def test_every_work_with_a_title_becomes_an_entry(name, class_):
    said = re.sub(r"\s+", " ", " ".join(sections_of(class_.__doc__)[1]["References"]))
    titles = [title.rstrip(",") for title in re.findall(r'"([^"]+)"', said)]
    bibtex = cite(class_)
    assert re.findall(r"\n  title = \{\{(.*)\}\}", bibtex) == titles
    for entry in bibtex.split("\n\n"):
        assert re.match(r"@(article|book|inproceedings|misc)\{[a-z-]+(\d{4})?[a-z]+,\n", entry)
        assert entry.count("{") == entry.count("}")
        year = re.search(r"year = \{(\d+)\}", entry)
        assert year is None or year[1] in said
    keys = re.findall(r"@\w+\{(.+),", bibtex)
    assert len(set(keys)) == len(titles)


def test_fields_by_hand():
    first, second, third = cite(BOARegressor()).split("\n\n")
    assert first.splitlines() == [
        "@article{wintenberger2017optimal,",
        "  author = {O. Wintenberger},",
        "  title = {{Optimal learning with Bernstein online aggregation}},",
        "  journal = {Machine Learning},",
        "  volume = {106},",
        "  number = {1},",
        "  year = {2017}",
        "}",
    ]
    assert second.startswith("@misc{gaillardopera,\n  author = {P. Gaillard and Y. Goude},")
    assert third.startswith("@inproceedings{mcmahan2014delay,")
    assert cite(OGDRegressor) == cite(OGDRegressor(eta0=0.1))


def test_nothing_cited_is_said():
    with pytest.raises(ValueError, match="docstring of int cites no work"):
        cite(3)
