"""Options of the command line: numbers that are none of what is asked for are refused in words."""

import pytest

from benchmarks.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("main --seeds x", "--seeds: expected a whole number of at least 1, got x"),
        ("main --rows 0", "--rows: expected a whole number of at least 1, got 0"),
        ("main --n-jobs 0", "--n-jobs: expected a whole number other than 0"),
        ("main --n-jobs two", "--n-jobs: expected a whole number other than 0"),
        ("pkawv --timeout -1", "--timeout: expected a number of seconds above 0, got -1"),
        ("pkawv --timeout nan", "--timeout: expected a number of seconds above 0, got nan"),
        ("files --seed -3", "--seed: expected a whole number of at least 0, got -3"),
    ],
)
def test_numbers_are_checked_before_anything_runs(arguments, words, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(arguments.split())
    assert words in capsys.readouterr().err
