"""The literal loops that the package is timed against: the oracles of the tests.

``from .loops import vovk`` loads ``tests/oracles/vovk.py`` by its place in the checkout, so that
the oracles have one home and no package named ``tests`` needs to be importable.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parents[2] / "tests" / "oracles")]
if not Path(__path__[0]).is_dir():
    raise ImportError(f"The loops are those of a checkout, in {__path__[0]}.")
