"""Docstrings that are completed by what the bases say."""

import inspect
import pkgutil
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import sklearn_okl
from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, all_estimators
from sklearn_okl._documentation import cites, explained_by, inherit_documentation, sections_of
from sklearn_okl._literature import _WORKS

PACKAGE = Path(sklearn_okl.__file__).parent


class Family:
    """Base of a family.

    Parameters
    ----------
    alpha : float, default=1.0
        The ridge.

        In two paragraphs.
    loss : {"hinge", "log_loss"}, default="hinge"
        What is descended.
    low, high : float, default=0.5
        The range.

    Attributes
    ----------
    weights_ : ndarray
        The weights.

    References
    ----------
    .. [1] The paper of the family.
    """

    def __init__(self, alpha=1.0, loss="hinge", low=0.5, high=0.5):
        """Take the family's parameters."""


def completed(cls):
    return inspect.getdoc(inherit_documentation(cls))


def test_what_the_class_does_not_say_comes_from_its_base():
    class Member(Family):
        """A member.

        Attributes
        ----------
        node_ : int
            The node.

        Notes
        -----
        A theorem.
        """

    expected = """A member.

Parameters
----------
alpha : float, default=1.0
    The ridge.

    In two paragraphs.
loss : {"hinge", "log_loss"}, default="hinge"
    What is descended.
low, high : float, default=0.5
    The range.

Attributes
----------
node_ : int
    The node.
weights_ : ndarray
    The weights.

Notes
-----
A theorem.

References
----------
.. [1] The paper of the family."""
    assert completed(Member).rstrip() == expected


def test_the_class_has_the_last_word_and_the_signature_the_order_and_the_defaults():
    class Member(Family):
        """A member.

        Parameters
        ----------
        alpha : int, default=3
            Another ridge.

        References
        ----------
        .. [1] Its own paper.
        """

        def __init__(self, loss="log_loss", alpha=3):
            """Take other parameters."""

    doc = completed(Member)
    parameters = doc.split("----------\n")[1].split("\n\n")[0]
    assert parameters.splitlines() == [
        'loss : {"hinge", "log_loss"}, default="log_loss"',
        "    What is descended.",
        "alpha : int, default=3",
        "    Another ridge.",
    ]
    assert "Its own paper" in doc
    assert "of the family" not in doc


def test_the_nearest_base_is_asked_first_and_a_member_may_have_members():
    @inherit_documentation
    class Middle(Family):
        """A base of some.

        Parameters
        ----------
        alpha : float, default=1.0
            The middle's ridge.
        """

    class Member(Middle):
        """A member."""

    doc = completed(Member)
    assert "The middle's ridge." in doc
    assert "The ridge." not in doc
    assert completed(Member) == doc


def test_without_docstrings_nothing_happens():
    class Member(Family):
        pass

    Member.__doc__ = None
    assert inherit_documentation(Member).__doc__ is None


def test_a_head_takes_the_words_and_a_name_the_paragraph_of_the_base():
    class Base:
        """A base.

        Parameters
        ----------
        low, high : float
            The range.

        Notes
        -----
        What only the base says.

        *Cost.* O(1).

        And no memory.

        *Theorem.* None.
        """

        def __init__(self, low, high):
            """Take the range."""

    class Member(Base):
        """A member.

        Parameters
        ----------
        high : int, default=3

        Notes
        -----
        *Departures.* One.

        *Cost.*
        """

        def __init__(self, low, high=3):
            """Take another range."""

    expected = """A member.

Parameters
----------
high : int, default=3
    The range.

Notes
-----
*Departures.* One.

*Cost.* O(1).

And no memory."""
    assert completed(Member).rstrip() == expected


class Learner:
    """A learner."""

    def learn(self, X, y):
        """Learn rows.

        Parameters
        ----------
        X : ndarray
            Rows.
        y : ndarray
            Targets.

        Returns
        -------
        self : object
            The learner.

        Raises
        ------
        ValueError
            If there are none.
        """

    @classmethod
    def made(cls, X):
        """Make one."""

    @explained_by(learn)
    def score(self, X):
        """Score rows.

        Returns
        -------
        score : float
            The score.
        """


def test_methods_take_sections_from_those_that_they_override():
    @inherit_documentation
    class Other(Learner):
        """Another."""

        def learn(self, X, y):
            """Learn otherwise.

            Parameters
            ----------
            y : ndarray
                Labels.
            """

        @classmethod
        @explained_by(Learner.learn)
        def made(cls, X):
            """Make another."""

    learn, made = inspect.getdoc(Other.learn), inspect.getdoc(Other.made)
    assert "X : ndarray\n    Rows.\ny : ndarray\n    Labels.\n\nReturns" in learn
    assert learn.rstrip().endswith("ValueError\n    If there are none.")
    assert made.startswith("Make another.\n\nParameters\n----------\nX : ndarray\n    Rows.\n\nRet")


def test_a_function_is_explained_by_another_and_keeps_its_own_sections():
    score = inspect.getdoc(Learner.score)
    assert "X : ndarray\n    Rows.\n\nReturns\n-------\nscore : float" in score
    assert "Raises" in score
    assert "y :" not in score
    assert "self : object" not in score


def test_a_function_without_a_docstring_says_what_its_namesake_does():
    class Other:
        """Another."""

        @explained_by(Learner.learn)
        def fit(self, X, y):
            """Forget, and learn.

            Raises
            ------
            TypeError
                If they are none.
            """

        @explained_by(fit, Learner.score)
        def score(self, X, y): ...

    score = inspect.getdoc(Other.score)
    assert score.startswith("Score rows.\n\nParameters\n----------\nX : ndarray\n    Rows.\ny :")
    assert "score : float\n    The score." in score
    assert "self : object" not in score
    assert "TypeError\n    If they are none.\nValueError\n    If there are none." in score
    assert "ValueError" not in inspect.getdoc(Other.fit)


def test_the_head_of_an_attribute_takes_the_words_of_its_property():
    @inherit_documentation
    class Counter:
        """Counts.

        Attributes
        ----------
        n_rows_ : int
        """

        @property
        def n_rows_(self):
            """Rows so far."""

        @property
        def hidden_(self):
            """No entry."""

    doc = inspect.getdoc(Counter)
    assert "n_rows_ : int\n    Rows so far." in doc
    assert "hidden_" not in doc


def test_a_class_is_explained_by_its_sibling():
    class Sibling:
        """A sibling.

        Notes
        -----
        *Cost.* O(2).
        """

    @inherit_documentation
    @explained_by(Sibling)
    class Member(Family):
        """A member.

        Notes
        -----
        *Cost.*
        """

    assert inspect.getdoc(Member).count("*Cost.* O(2).") == 1
    assert "The ridge." in inspect.getdoc(Member)


def test_a_sibling_explains_parameters_that_no_base_does():
    class Sibling:
        """A sibling.

        Parameters
        ----------
        alpha : float, default=1.0
            The sibling's ridge.
        gamma : float, default=1.0
            The bandwidth.
        mu : float, default=1.0
            What the member has not.
        """

    @inherit_documentation
    @explained_by(Sibling)
    class Member(Family):
        """A member."""

        def __init__(self, alpha=1.0, gamma=2.0):
            """Take its own parameters."""

    doc = inspect.getdoc(Member)
    assert "gamma : float, default=2.0\n    The bandwidth." in doc
    assert "The ridge." in doc
    assert "sibling's" not in doc
    assert "What the member has not." not in doc


def test_a_class_that_stands_before_another_keeps_what_it_explains():
    class Sibling:
        """A sibling.

        Parameters
        ----------
        alpha : float, default=1.0
            The ridge.
        """

    @explained_by(Sibling)
    class Mixin:
        """What others have, whose signature has its parameters.

        Parameters
        ----------
        alpha : float, default=1.0
        beta : float, default=1.0
            The other.
        """

    doc = inspect.getdoc(Mixin)
    assert "alpha : float, default=1.0\n    The ridge." in doc
    assert "The other." in doc


def test_works_are_cited_in_full():
    @cites
    def bound():
        """Return a bound.

        References
        ----------
        .. [1] Zinkevich 2003, Theorem 1.
        .. [2] Somebody, "Else", 2001.
        """

    lines = inspect.getdoc(bound).splitlines()
    assert lines[4].startswith('.. [1] M. Zinkevich, "Online convex programming')
    assert lines[5] == "   International Conference on Machine Learning, 2003, Theorem 1."
    assert lines[6] == '.. [2] Somebody, "Else", 2001.'


def test_no_page_cites_a_work_in_short():
    names = [found.name for found in pkgutil.iter_modules(sklearn_okl.__path__)]
    names = ["sklearn_okl", *(f"sklearn_okl.{name}" for name in names if name[0] != "_")]
    parts = {name: part for found in names for name, part in vars(import_module(found)).items()}
    assert len(parts) > 200
    for name, part in parts.items():
        for line in sections_of(part.__doc__ or "")[1].get("References", []):
            short = [work for work in _WORKS if work in line]
            assert not short, f"{name} cites {short}: let it wear `cites`"


def test_works_are_those_that_several_cite():
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    once = [work for work in _WORKS if sources.count(work) < 3]  # the table has it too
    assert not once


def test_no_page_has_a_name_without_its_paragraph_or_a_head_without_words():
    for name, cls in all_estimators():
        sections = sections_of(cls.__doc__)[1]
        bare = [line for line in sections.get("Notes", []) if re.fullmatch(r"\*[^*]+\.\*", line)]
        assert not bare, f"{name} says nothing of {bare}"
        for title in "Parameters", "Attributes":
            lines = sections.get(title, ["  none"])
            for line, following in zip(lines, [*lines[1:], ""], strict=True):
                assert line[:1].isspace() or not line or following[:1].isspace(), f"{name}: {line}"


@pytest.mark.parametrize("class_", [OnlineKernelRegressor, OnlineKernelClassifier])
def test_the_page_names_every_column_of_the_table_of_experts(class_):
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = X[:, 0] if class_ is OnlineKernelRegressor else X[:, 0] > 0
    table = class_(budget="fast", random_state=0).fit(X, y).experts_
    said = re.search(r"^experts_ : .*\n((?:    .*\n)+)", class_.__doc__, re.MULTILINE)[1]
    assert not {name for name in table if f"``{name}``" not in said}
