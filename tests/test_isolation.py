"""The tests themselves: none reaches the network, and none sees data files without asking."""

import os
import socket
import threading
import urllib.request

import pytest

from sklearn_okl.datasets import load_dataset

REFUSED = r"test_isolation\.py::test_\w+.* tried to reach .* over the network\. Tests make their"


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("2001:db8::1", 80), ("example.org", 80)])
def test_no_connection_leaves_this_machine(address):
    with pytest.raises(pytest.fail.Exception, match=REFUSED):
        socket.create_connection(address, timeout=0.1)


def test_no_datagram_and_no_question_to_a_name_server_leaves_it():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        with pytest.raises(pytest.fail.Exception, match=REFUSED):
            sock.sendto(b"", ("192.0.2.1", 9))
        with pytest.raises(pytest.fail.Exception, match=REFUSED):
            sock.connect_ex(("192.0.2.1", 9))
    with pytest.raises(pytest.fail.Exception, match=REFUSED):
        socket.gethostbyname("example.org")


def test_clients_do_not_take_the_refusal_for_a_network_that_is_down(tmp_path, monkeypatch):
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))  # nothing was fetched before
    with pytest.raises(pytest.fail.Exception, match=r"reach '\w+\.openml\.org'"):
        load_dataset("casp")
    with pytest.raises(pytest.fail.Exception, match=r"reach 'example\.org'"):
        urllib.request.urlopen("https://example.org")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_may_be_reached(host):
    with socket.create_server(("127.0.0.1", 0)) as server:
        answer = threading.Thread(target=lambda: server.accept()[0].close())
        answer.start()
        socket.create_connection((host, server.getsockname()[1]), timeout=30).close()
        answer.join()
    ours, theirs = socket.socketpair()
    ours.sendall(b"x")
    assert theirs.recv(1) == b"x"
    ours.close()
    theirs.close()


def test_the_folder_is_hidden_from_those_who_do_not_ask(request):
    assert "SKLEARN_OKL_DATA" not in os.environ
    assert request.node.get_closest_marker("data") is None


def test_those_who_ask_for_data_are_marked_and_see_the_folder(data_files, request):
    assert request.node.get_closest_marker("data") is not None
    folder = os.environ["SKLEARN_OKL_DATA"]
    assert all(str(path.parent) == folder for path in data_files())
    with pytest.raises(pytest.skip.Exception, match=r"there is no file .*no_such_set"):
        data_files("no_such_set")


def test_golden_forecasts_are_data(request, golden):
    assert request.node.get_closest_marker("data") is not None
