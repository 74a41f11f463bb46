"""A progress bar where tqdm is installed, plain lines where it is not."""

import sys
from contextlib import contextmanager


@contextmanager
def progress(total, unit):
    """Yield a function that is told how much more is done, and of what."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield _lines(total, unit)
        return
    with tqdm(total=total, unit=unit, unit_scale=total > 9999, leave=False) as bar:

        def advance(amount, what=""):
            bar.set_description_str(what, refresh=False)
            bar.update(amount)

        yield advance


def _lines(total, unit):
    """Write a line to stderr at every tenth of the way."""
    done = 0

    def advance(amount, what=""):
        nonlocal done
        tenths = 10 * done // total
        done += amount
        if 10 * done // total > tenths:
            print(f"{done}/{total} {unit}s  {what}", file=sys.stderr, flush=True)

    return advance
