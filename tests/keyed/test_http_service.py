"""The service of the documentation, killed in mid-stream, is one that was never stopped."""

import http.client
import importlib.util
import json
import os
import signal
import subprocess
import sys
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


def test_a_service_that_begins_again_goes_on(tmp_path):
    spec = importlib.util.spec_from_file_location("http_service", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows, y = stream(14)
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
                assert post(port, "/tell", id=str(t - 5), y=y[t - 5])[0] in (200, 409)
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
