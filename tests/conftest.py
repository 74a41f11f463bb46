import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture(scope="session")
def full_size():
    """Whether slow tests run at their full size: OKL_FULL=1 says so."""
    return os.environ.get("OKL_FULL") == "1"


@pytest.fixture(scope="session")
def golden():
    """Load a file of forecasts made by published implementations, kept beside the data sets."""
    data = os.environ.get("SKLEARN_OKL_DATA")

    def load(name):
        if not data:
            pytest.skip("golden forecasts lie beside the data sets: set SKLEARN_OKL_DATA")
        path = Path(data).resolve().parent / "golden" / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"no golden forecasts at {path}")
        return np.load(path)

    return load
