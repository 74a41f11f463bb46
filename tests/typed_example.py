"""A program with types, as its author's checker sees it: `mypy --strict tests/typed_example.py`."""

import numpy as np
from numpy.typing import NDArray

from sklearn_okl import __version__


def main() -> None:
    """Print the version."""
    rows: NDArray[np.float64] = np.zeros((1, 1))
    print(__version__, rows)


if __name__ == "__main__":
    main()
