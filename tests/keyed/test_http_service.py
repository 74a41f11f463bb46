"""The service of the documentation, killed in mid-stream, is one that was never stopped."""

import http.client
import importlib.util
import json
import os
import signal
import subprocess
import sys
import threading
from http.server import HTTPServer
from pathlib import Path

import numpy as np
import pytest

from sklearn_okl import KeyedRegressor, RowRegressor

SCRIPT = Path(__file__).parents[2] / "docs" / "http_service.py"


def stream(n=40):
    rng = np.random.default_rng(n)
    x = rng.normal(size=n)
    rows = [{"device": f"d{t % 3}", "load": x[t]} for t in range(n)]
    return rows, (x * (np.arange(n) % 3) + 1.0).tolist()


def never_stopped(rows, y, late):
    model, found = RowRegressor(KeyedRegressor(key="device")), []
    for t, row in enumerate(rows):
        found.append(model.ask(str(t), row))
        if t >= late:
            model.tell(str(t - late), y[t - late])
    return found


def service_module():
    spec = importlib.util.spec_from_file_location("http_service", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_service_that_begins_again_goes_on(tmp_path):
    module, (rows, y) = service_module(), stream(14)
    service, found = module.Service(tmp_path / "s.db"), []
    for t, row in enumerate(rows):
        if t in (1, 9):
            service.store.close()
            service = module.Service(tmp_path / "s.db")
        found.append(service.ask(str(t), row)["forecast"])
        if t >= 4:
            assert service.tell(str(t - 4), y[t - 4]) == {"learnt": t - 3}
    assert np.allclose(found, never_stopped(rows, y, 4), atol=1e-12)
    health = json.loads(json.dumps(service.health(), allow_nan=False))
    assert (health["n_pending_"], health["n_samples_seen_"]) == (4, 10)
    assert sum(health["devices"]["n_rows"]) == 1  # asked since the restart
    service.store.close()


@pytest.fixture
def served(tmp_path):
    """A service in this process, which answers one request after another, and its port."""
    module = service_module()
    server = HTTPServer(("127.0.0.1", 0), module.Handler)
    ready = threading.Event()

    def serve():
        server.service = module.Service(tmp_path / "s.db")  # SQLite is of one thread
        ready.set()
        server.serve_forever()
        server.service.store.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    ready.wait()
    yield server.service, server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_was_not_done_is_not_said_to_have_been(served):
    """Whatever spoke of waiting was answered by 409, also a field of that name."""
    _, port = served
    row = {"device": "a", "load": 0.1}
    assert post(port, "/ask", id="1", row=row)[0] == 200
    assert post(port, "/ask", id="1", row=row)[0] == 409
    assert post(port, "/ask", id="2", row={"load": 0.1})[0] == 400
    assert post(port, "/tell", id="2", y=1.0)[0] == 404
    assert post(port, "/tell", id="1", y="waiting")[0] == 400
    assert post(port, "/tell", y=1.0)[0] == 400
    assert post(port, "/tell", id="1", y=1.0) == (200, {"learnt": 1})
    assert post(port, "/tell", id="1", y=1.0)[0] == 404
    assert post(port, "/ask", id="2", row=row | {"waiting": 3.0})[0] == 400
    assert get(port, "/health")["n_pending_"] == 0


def test_a_mistyped_first_row_locks_nobody_out(served):
    """Each right row was refused from then on, and no verb could take the wrong one away."""
    service, port = served
    right = {"device": "p", "load": 1.0}
    assert post(port, "/ask", id="1", row={"device": "p", "laod": 1.0})[0] == 200
    assert post(port, "/ask", id="2", row=right)[0] == 200
    for bad in ("much", None):
        assert post(port, "/ask", id="3", row=right | {"load": bad})[0] == 400
    assert post(port, "/tell", id="2", y=1.0) == (200, {"learnt": 1})
    status, answer = post(port, "/tell", id="1", y=1.0)
    assert (status, "laod" in answer["error"]) == (400, True)
    assert post(port, "/forget", id="1") == (200, {"given_up": 1})
    assert post(port, "/forget", id="1")[0] == 404
    assert get(port, "/health")["n_pending_"] == 0
    assert service.asked == {}


def test_rows_that_were_given_up_are_not_held(served):
    service, port = served
    service.model.set_params(max_pending=3)
    for t in range(12):
        assert post(port, "/ask", id=t, row={"device": "a", "load": 0.1 * t})[0] == 200
        if t % 4 == 3:
            assert post(port, "/tell", id=t, y=1.0)[0] == 200
        assert len(service.asked) <= service.model.n_pending_ <= 3
    assert list(service.asked) == [9, 10]
    assert sum(get(port, "/health")["devices"]["n_rows"]) == 3


def test_a_file_that_cannot_be_written_is_said_and_nothing_is_done(served, monkeypatch):
    """The connection broke, and the model was ahead of its file."""
    service, port = served

    def fail(*_):
        raise OSError("the disk is full")

    for t in range(3):
        given = {"id": t, "row": {"device": "a", "load": float(t)}}
        with monkeypatch.context() as patch:
            patch.setattr(service.store, "commit", fail)
            assert post(port, "/ask", **given) == (503, {"error": "the disk is full"})
        assert post(port, "/ask", **given)[0] == 200
        with monkeypatch.context() as patch:
            patch.setattr(service.store, "commit", fail)
            assert post(port, "/tell", id=t, y=1.0)[0] == 503
        assert get(port, "/health")["n_samples_seen_"] == t
        assert post(port, "/tell", id=t, y=1.0) == (200, {"learnt": t + 1})


def test_numbers_that_json_has_not_are_none(served):
    service, port = served
    for t, y in enumerate((1.0, -1.0)):
        post(port, "/ask", id=t, row={"device": "a", "load": 1.0, "heat": 2.0 * t})
        post(port, "/tell", id=t, y=y)
    service.monitor.update([np.inf], keys=["a"])
    health = get(port, "/health")
    assert health["devices"]["mean_loss"] == health["devices"]["coverage"] == [None]
    assert service_module().plain(float("nan")) is None


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_a_service_that_is_killed_goes_on(tmp_path):
    rows, y = stream()
    process, port = start(tmp_path)
    found = []
    try:
        for t, row in enumerate(rows):
            if t in (7, 22):
                # a request whose answer nobody hears: it may be learnt, or not
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
                connection.request("POST", "/tell", json.dumps({"id": str(t - 5), "y": y[t - 5]}))
                process.send_signal(signal.SIGKILL)
                process.wait()
                process.stdout.close()
                connection.close()
                process, port = start(tmp_path)
                assert post(port, "/tell", id=str(t - 5), y=y[t - 5])[0] in (200, 404)
            elif t >= 5:
                assert post(port, "/tell", id=str(t - 5), y=y[t - 5])[0] == 200
            status, answer = post(port, "/ask", id=str(t), row=row)
            assert status == 200
            found.append(answer["forecast"])
        assert post(port, "/ask", id="39", row=rows[39])[0] == 409
        assert post(port, "/ask", id="40", row={"device": "d0", "load": "much"})[0] == 400
        assert post(port, "/nothing")[0] == 404
        assert get(port, "/health")["n_samples_seen_"] == 35
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    model, expected = RowRegressor(KeyedRegressor(key="device")), []
    for t, row in enumerate(rows):
        if t >= 5:
            model.tell(str(t - 5), y[t - 5])
        expected.append(model.ask(str(t), row))
    assert np.allclose(found, expected, atol=1e-12)


def start(folder):
    """Start the service on a free port, and return it with the port."""
    command = [sys.executable, SCRIPT, folder / "s.db", "0"]
    environment = os.environ | {"PYTHONPATH": str(SCRIPT.parents[1])}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    return process, int(process.stdout.readline())


def post(port, path, **given):
    """Return the status and the answer of a request."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", path, json.dumps(given))
    answer = connection.getresponse()
    content = json.loads(answer.read())
    connection.close()
    return answer.status, content


def get(port, path):
    """Return the answer to a question."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", path)
    content = json.loads(connection.getresponse().read())
    connection.close()
    return content
