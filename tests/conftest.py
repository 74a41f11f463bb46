"""What holds for every test: no network, data files for those alone that ask, a first look."""

import gc
import ipaddress
import os
import socket
import sys
import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import sklearn.ensemble  # noqa: F401  it loads the threads that are limited below
from threadpoolctl import threadpool_limits

# Without the variable no test can come to depend on the data unnoticed. It is kept under another
# name, because xdist's workers inherit the environment of a process that has been here already.
_FOLDER = "SKLEARN_OKL_TESTS_DATA"
_FULL = os.environ.get("OKL_FULL") == "1"
_LONG = _FULL or os.environ.get("OKL_LONG") == "1"
_LATER = pytest.StashKey()  # names of the tests that are no part of a first look
if "PYTEST_XDIST_WORKER" in os.environ:  # a worker a core: threads of two would wait for each other
    threadpool_limits(1, user_api="openmp")
if "SKLEARN_OKL_DATA" in os.environ:
    os.environ[_FOLDER] = os.environ.pop("SKLEARN_OKL_DATA")


def _is_this_machine(host):
    """Tell whether a host is nowhere else; a name is, unless it is localhost."""
    host = host.decode() if isinstance(host, bytes) else host
    if host in (None, "", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse_the_network(event, arguments):
    """Fail the test that leaves this machine; an audit hook, so no client gets round it."""
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        sock, address = arguments
        if sock.family not in (socket.AF_INET, socket.AF_INET6) or address is None:
            return  # a socket in the file system, or one whose connection was looked at
        host = address[0]
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if not _is_this_machine(host):
        test = os.environ.get("PYTEST_CURRENT_TEST", "The import of a test module")
        # no OSError, which a client would take for a network that is down
        pytest.fail(
            f"{test} tried to reach {host!r} over the network. Tests make their data, or ask for "
            "the fixture data_files, which reads the folder that SKLEARN_OKL_DATA names."
        )


sys.addaudithook(_refuse_the_network)


@pytest.hookimpl(tryfirst=True)  # before -m selects
def pytest_collection_modifyitems(config, items):
    """Mark the tests that ask for data files: nothing else lets a test see them.

    OKL_EVERY=n keeps one test in n, the same ones each time, for a look at another environment.
    OKL_TURN=k/n keeps of the long tests, and of their cases, those whose turn it is.
    """
    every = int(os.environ.get("OKL_EVERY", "1"))
    turn, n_turns = map(int, os.environ.get("OKL_TURN", "0/1").split("/"))

    def is_kept(item):
        number, is_long = zlib.crc32(item.nodeid.encode()), item.get_closest_marker("long")
        return number % every == 0 and (not is_long or number % n_turns == turn)

    if left_out := [item for item in items if not is_kept(item)]:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if is_kept(item)]
    for item in items:
        if "data_files" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
        if _FULL and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(0))  # as long as it takes
    if not _LONG:
        _leave_for_later(config, items)


def _leave_for_later(config, items):
    """Leave out what is no part of a first look; of tests long by their cases, one in some stays.

    They are deselected and not skipped: six thousand reports of nothing take half a minute.
    """
    n_cases, later = Counter(), set()
    for item in items:
        mark = item.get_closest_marker("long")
        if mark is None:
            continue
        test = item.nodeid.partition("[")[0]
        if "every" not in mark.kwargs or n_cases[test] % mark.kwargs["every"]:
            later.add(item)
        n_cases[test] += 1
    if later:
        config.stash[_LATER] = [item.nodeid for item in items if item in later]
        config.hook.pytest_deselected(items=list(later))
        items[:] = [item for item in items if item not in later]


def pytest_sessionfinish(session):
    """Let a worker of xdist tell what it left for later; all of them leave the same."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["later"] = session.config.stash.get(_LATER, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Hear what a worker left for later; one that crashed says nothing."""
    if later := getattr(node, "workeroutput", {}).get("later"):
        node.config.stash[_LATER] = later


def pytest_terminal_summary(terminalreporter, config):
    """Say what was left for later; write it, and what was skipped, to the file of OKL_SKIPPED.

    `pytest @file` runs these tests and no others: `.ci/run` does, once other packages are there.
    """
    later = config.stash.get(_LATER, [])
    if later:
        terminalreporter.write_line(
            f"{len(later)} long tests are no part of a first look: set OKL_LONG=1."
        )
    if file := os.environ.get("OKL_SKIPPED"):
        skipped = [report.nodeid for report in terminalreporter.stats.get("skipped", [])]
        lines = [f"{name}\n" for name in dict.fromkeys([*later, *skipped])]
        Path(file).write_text("".join(lines), encoding="utf-8")


def pytest_collection_finish():
    """Spare the garbage collector the collected tests: it looks at them for a third of a second."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def full_size():
    """Whether slow tests run at their full size: OKL_FULL=1 says so."""
    return _FULL


@pytest.fixture
def data_files(monkeypatch):
    """Let a test see the data sets; calling it with names skips the test where one is not there.

    Only within the test is SKLEARN_OKL_DATA what the user set it to.
    """
    folder = os.environ.get(_FOLDER)
    if not folder:
        pytest.skip("needs data files: set SKLEARN_OKL_DATA")
    monkeypatch.setenv("SKLEARN_OKL_DATA", folder)

    def paths(*names):
        found = [Path(folder) / f"{name}.csv.gz" for name in names]
        for path in found:
            if not path.is_file():
                pytest.skip(f"there is no file {path}")
        return found

    return paths


@pytest.fixture
def golden(data_files):
    """Load a file of forecasts made by published implementations, kept beside the data sets."""

    def load(name):
        path = Path(os.environ["SKLEARN_OKL_DATA"]).resolve().parent / "golden" / f"{name}.npz"
        if not path.exists():
            pytest.skip(f"there is no file {path}")
        return np.load(path)

    return load
