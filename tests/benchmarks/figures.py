"""What tests of jobs with figures share."""

import importlib.util


def assert_figures(printed, paths):
    if importlib.util.find_spec("matplotlib") is None:
        assert "matplotlib is not installed" in printed
        return
    for path in paths:
        assert path.read_bytes()[1:4] == b"PNG"
