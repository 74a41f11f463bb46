"""
A service with restarts
=======================

A service answers one question after the other and learns each target when it comes. It is stopped
and started again, and rows come in that are none. What it needs of a model: that learning one row
takes a known time, that a bad row leaves no trace, that a file is never half written, and that
after a restart it goes on as if nothing had been.
"""

# %%
# The service
# -----------
# The whole of it: :func:`~sklearn_okl.load` the model or make a new one, answer by ``predict``,
# learn by ``partial_fit``, and :func:`~sklearn_okl.save` now and then. The new file is written
# beside the old one and then takes its place, so that a crash leaves one of the two, whole.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import OnlineKernelRegressor, load, save
from sklearn_okl.datasets import make_friedman_stream


class Service:
    """Answers and learns, one row at a time."""

    def __init__(self, path, every=100):
        self.path, self.every = Path(path), every
        if self.path.exists():
            self.model = load(self.path)
        else:
            self.model = OnlineKernelRegressor(budget="fast", random_state=0)

    def answer(self, row):
        """Forecast the target of one row."""
        return float(self.model.predict(row[None])[0]) if self.n_learnt else 0.0

    def learn(self, row, target):
        """Learn one row; a row that is none is refused, and the model stays as it is."""
        try:
            self.model.partial_fit(row[None], np.array([target]))
        except ValueError as error:
            return str(error).splitlines()[0]
        if self.n_learnt % self.every == 0:
            save(self.model, self.path)
        return None

    @property
    def n_learnt(self):
        """Rows learnt so far."""
        return getattr(self.model, "n_samples_seen_", 0)


# %%
# A day with two crashes
# ----------------------
# After each crash the file has the model of the last hundred. What came since is in the log of the
# service, as it would be in a queue, and is learnt again before the next answer. A second service
# that never crashes runs beside it.

X, y = make_friedman_stream(700, n_features=5, drift="jump", random_state=0)
crashes = {250, 530}
answers = {"restarted": [], "never stopped": []}
with tempfile.TemporaryDirectory() as folder:
    services = {name: Service(Path(folder, f"{name}.skops")) for name in answers}
    for t in range(len(X)):
        if t in crashes:
            service = services["restarted"] = Service(Path(folder, "restarted.skops"))
            n = service.n_learnt
            print(f"row {t}: back with {n} rows, {t - n} from the log")
            for late in range(n, t):
                service.learn(X[late], y[late])
        for name, service in services.items():
            answers[name].append(service.answer(X[t]))
            service.learn(X[t], y[t])
equal = np.array_equal(answers["restarted"], answers["never stopped"])
print("the same answers, to the last bit:", equal)

# %%
# Rows that are none
# ------------------
# They are refused with a sentence for the log, and forecasts are what they were.

before = service.answer(X[0])
for row, target in [(X[0, :3], 1.0), (X[0] * np.inf, 1.0), (X[0], np.inf)]:
    print("refused:", service.learn(row, target)[:88])
print("as it was:", service.answer(X[0]) == before)

# %%
# What it did
# -----------

errors = np.abs(np.array(answers["restarted"]) - y)
late = np.convolve(errors, np.ones(50) / 50, mode="valid")
fig, ax = plt.subplots(figsize=(8, 3), layout="constrained")
ax.plot(np.arange(50, len(X) + 1), late, color="C0")
for crash in crashes:
    ax.axvline(crash, color="C3", ls=":")
ax.axvline(len(X) / 2, color="0.6", ls="--")
ax.text(len(X) / 2 + 5, late.max() * 0.95, "the function jumps", color="0.4")
ax.set(xlabel="Row", ylabel="Absolute error of the last 50", ylim=(0, None))
plt.show()
