"""Tests of other people's programs: they may warn, and are skipped where they are not installed."""

from importlib.util import find_spec

import pytest


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("client"):
            item.add_marker(pytest.mark.filterwarnings("ignore"))


def pytest_runtest_setup(item):
    for _, _, needs in (mark.args for mark in item.iter_markers("client")):
        absent = [name for name in needs if not _is_there(name)]
        if absent:
            pytest.skip(f"not installed: {', '.join(absent)}")


def _is_there(name):
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # of its package
        return False
