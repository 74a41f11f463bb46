"""A service over HTTP: forecasts, labels that come later, health. Killed, it goes on.

    python docs/http_service.py fleet.db 8000

    POST /ask   {"id": "a1", "row": {"device": "pump", "load": 0.5}}  -> {"forecast": 3.2}
    POST /tell  {"id": "a1", "y": 3.0}                                -> {"learnt": 17}
    POST /forget {"id": "a1"}                                         -> {"given_up": 1}
    GET  /health

Whatever was answered is on the disk. Who got no answer sends the same again: 409 says that the row
waits already, and 404 that no such row waits: its label was learnt, or it was given up, or never
asked. After 503 the file could not be written, and nothing was done.
"""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from math import isfinite

from sklearn_okl import KeyedRegressor, RowRegressor, Store
from sklearn_okl.evaluation import LossMonitor


class Service:
    """The model, its file, and how it fares; one thread at a time."""

    def __init__(self, path):
        self.store = Store(path)
        self.model = self._committed()
        self.asked, self.monitor = {}, LossMonitor()  # of this process: they watch, no more

    def ask(self, id, row):
        """Forecast a row, and keep it for its label."""
        forecast = self.model.ask(id, row)
        self._commit()
        self.asked[id] = row["device"], forecast
        while len(self.asked) > self.model.n_pending_:  # the first of them was given up
            del self.asked[next(iter(self.asked))]
        return {"forecast": plain(forecast)}

    def tell(self, id, y):
        """Learn the label of a row."""
        self.model.tell(id, y)
        self._commit()
        if id in self.asked:
            device, forecast = self.asked.pop(id)
            error = forecast - y
            self.monitor.update([error * error], keys=[device])
        return {"learnt": self.model.n_samples_seen_}

    def forget(self, id):
        """Give up a row whose label will never come, or that is none."""
        self.model.forget(id)
        self._commit()
        self.asked.pop(id, None)
        return {"given_up": self.model.n_given_up_}

    def health(self):
        """Say how many rows wait, were learnt and given up, and how each device fares."""
        model = self.model
        counts = {name: getattr(model, name) for name in ("n_pending_", "n_samples_seen_")}
        counts["n_given_up_"] = model.n_given_up_
        if hasattr(self.monitor, "n_losses_"):
            table = self.monitor.health()
            counts["devices"] = {name: list(map(plain, table[name].tolist())) for name in table}
        return counts

    def _committed(self):
        """Return the model as the file has it, or a new one."""
        if self.store.batch is not None:
            return self.store.load()
        keyed = KeyedRegressor(key="device", max_keys=10_000, store=str(self.store.path))
        return RowRegressor(keyed, max_pending=100_000)

    def _commit(self):
        try:
            self.store.commit(self.model, 1 + (self.store.batch or 0))
        except OSError:
            self.model = self._committed()
            raise


def plain(value):
    """Return a value as JSON has it: NaN and infinity are none of its numbers."""
    return None if isinstance(value, float) and not isfinite(value) else value


class Handler(BaseHTTPRequestHandler):
    """JSON in, JSON out; a row or label that is none is refused with a sentence."""

    def do_GET(self):
        """Answer what changes nothing."""
        found = self.path == "/health"
        self._say(200 if found else 404, self.server.service.health() if found else {})

    def do_POST(self):
        """Answer what is asked, told and forgotten."""
        verb = {"/ask": "ask", "/tell": "tell", "/forget": "forget"}.get(self.path)
        if verb is None:
            return self._say(404, {})
        service, status = self.server.service, 400
        try:
            given = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
            if service.model.waits(given["id"]) != (verb != "ask"):
                status = 409 if verb == "ask" else 404
            answer = getattr(service, verb)(**given)
        except (ValueError, TypeError, KeyError) as error:
            return self._say(status, {"error": str(error)})
        except OSError as error:
            return self._say(503, {"error": str(error)})
        return self._say(200, answer)

    def _say(self, status, answer):
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        """Say nothing for each row."""


if __name__ == "__main__":
    server = HTTPServer(("127.0.0.1", int(sys.argv[2])), Handler)
    server.service = Service(sys.argv[1])
    print(server.server_port, flush=True)
    server.serve_forever()
