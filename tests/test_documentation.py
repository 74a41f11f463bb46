"""Docstrings that are completed by what the bases say."""

import inspect

from sklearn_okl._documentation import inherit_documentation


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
