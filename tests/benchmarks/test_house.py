"""The figures of the house hold, and the job that prints them fails where one does not."""

import ast
import re

import pytest

from benchmarks import house

TWICE = '''
class A:
    """One.

    Parameters
    ----------
    a : int
        The ridge.

    Notes
    -----
    *Cost.* Nothing.

    *Theorem.*

    Examples
    --------
    >>> 1
    """

    def fit(self):
        """Learn.

        Returns
        -------
        self : object
        """
'''


@pytest.mark.long
def test_the_figures_of_the_package_hold(capsys):
    assert house.main() == 0, capsys.readouterr().out


def test_methods_and_notes_count_and_examples_do_not():
    once, again = ast.parse(TWICE), ast.parse(TWICE.replace("The ridge", "Another ridge"))
    said = {"One.": False, "a : int": True, "The ridge.": False, "*Cost.* Nothing.": False}
    said |= {"Learn.": False, "self : object": True}
    assert dict(house.documented_lines(once)) == said
    assert house.repeated_lines([once]) == (0, 0)
    assert house.repeated_lines([once, again]) == (len(said) - 1, len(said) - 3)


def test_a_passed_bar_is_an_error_and_the_aim_is_told(capsys):
    held, passed = house.Figure("files", 3, 3, 2), house.Figure("lines", 4, 3, 3)
    assert house.report(held) == 0
    assert capsys.readouterr().out == "files: 3 (bar 3, aim 2)\n"
    assert house.report(held, passed) == 1
    assert "lines: 4 (bar 3)  <- passed" in capsys.readouterr().out


def test_a_long_file_fails_the_job(tmp_path, capsys):
    (tmp_path / "short.py").write_text("x = 1\n")
    assert house.main(tmp_path) == 0
    (tmp_path / "long.py").write_text("x = 1\n" * 601)
    assert house.main(tmp_path) == 1
    told = r"longest file: 601 \(bar \d+(, aim \d+)?\)  <- passed\n  long\.py 601"
    assert re.search(told, capsys.readouterr().out)


def test_code_is_counted_without_decorators_and_docstring():
    tree = ast.parse('@cache\ndef f():\n    """Say.\n\n    More.\n    """\n    return 1\n')
    assert house.code_length(tree.body[0]) == 2
    assert house.length(tree.body[0]) == 7
