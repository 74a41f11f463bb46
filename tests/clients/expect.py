"""What a line expects, in checks whose failures are short sentences."""

from functools import partial

import numpy as np
import pytest

_WORDS = 4  # of the shortest sentence
# what a check raises where a program fails with scikit-learn's own estimator as it does with ours
FailsWithTheirsToo = pytest.xfail.Exception


def client(program, *needs):
    """Return a decorator for tests of a program: in a sentence, what is done and should come.

    The test is skipped where the modules that it needs are not installed. ``python -m benchmarks
    clients`` has a line for each such test.
    """
    return lambda what, *more: pytest.mark.client(program, what, (*needs, *more))


def near(got, expected, what="forecasts", rtol=1e-7, atol=1e-9):
    """Fail unless two arrays are equal but for rounding."""
    equal = partial(np.allclose, rtol=rtol, atol=atol)
    same(got, expected, what, equal)


def same(got, expected, what="forecasts", equal=np.array_equal):
    """Fail unless two arrays are equal to the last bit."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        raise AssertionError(f"{what}: shape {got.shape}, not {expected.shape}")
    if not equal(got, expected):
        raise AssertionError(f"{what}: {_differing(got, expected)}")


def holds(condition, sentence):
    """Fail with a sentence unless a condition holds."""
    if not condition:
        raise AssertionError(sentence)


def refused(call, what, says=""):
    """Fail unless a call raises a ValueError or a TypeError with a sentence that says something."""
    try:
        call()
    except (TypeError, ValueError) as error:
        holds(len(str(error).split()) >= _WORDS, f"{what}: refused without a sentence, {error!r}")
        holds(says in str(error), f"{what}: refused without naming {says}: {reason(error)}")
    else:
        raise AssertionError(f"{what}: not refused")


def right_or_refused(call, expected, what):
    """Fail if a call neither returns what is expected nor refuses with a sentence."""
    try:
        got = call()
    except (TypeError, ValueError) as error:
        holds(len(str(error).split()) >= _WORDS, f"{what}: refused without a sentence, {error!r}")
    else:
        near(got, expected, what)


def each(items, check):
    """Check every item of a dict by name; fail with the names and reasons of those that fail."""
    failures, theirs = {}, {}
    for name, item in items.items():
        try:
            check(item)
        except FailsWithTheirsToo as error:
            theirs.setdefault(str(error), []).append(name)
        except Exception as error:
            failures.setdefault(reason(error), []).append(name)
    holds(not failures, _by_reason(failures))
    if theirs:
        raise FailsWithTheirsToo(_by_reason(theirs))


def _by_reason(failures):
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in failures.items())


def as_with(theirs, check, ours):
    """Check our estimator; where that fails, say whether scikit-learn's own fails too."""
    try:
        check(ours)
    except Exception as error:
        try:
            check(theirs)
        except type(error):  # for another reason it says nothing
            name = type(theirs).__name__
            raise FailsWithTheirsToo(
                f"fails with scikit-learn's own {name} too: {reason(error)}"
            ) from error
        except Exception:
            raise error from None
        raise


def reason(error):
    """Return what an exception says in its first line, and its type unless a check raised it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[0] if lines else "no message"
    return said if type(error) is AssertionError else f"{type(error).__name__}: {said}"


def _differing(got, expected):
    apart = np.atleast_1d(got != expected)
    where = tuple(int(index) for index in np.argwhere(apart)[0])
    example = f"{np.atleast_1d(got)[where]!s} for {np.atleast_1d(expected)[where]!s}"
    if got.dtype.kind in "fiub" and expected.dtype.kind in "fiub":
        largest = np.nanmax(np.abs(got.astype(float) - expected.astype(float)))
        return f"up to {largest:.2g} apart, such as {example}"
    return f"{apart.sum()} of {apart.size} differ, such as {example}"
