"""A platform engineer who runs a model: restarts, bad rows, readers, files.

From "Files", "Threads and processes", "Questions and answers" and "Versions and security". To
reach: after a restart the same forecasts to the last bit, no trace of bad rows, a file that grows
by a tenth at most over three times the rows, and none that is damaged gets in.
"""

import tempfile
import threading
from pathlib import Path

import numpy as np

from sklearn_okl import OnlineKernelRegressor, load, save
from sklearn_okl.datasets import make_friedman_stream

X, y = make_friedman_stream(2400, n_features=5, random_state=0)
model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X[:600], y[:600])

answers, done = [], threading.Event()


def ask():
    while not done.is_set():
        answers.append(float(model.predict(X[-1:])[0]))


reader = threading.Thread(target=ask)
reader.start()
for start in range(600, 800, 20):
    model.partial_fit(X[start : start + 20], y[start : start + 20])
done.set()
reader.join()
print(len(answers), "answers while it learnt,", len({round(a, 9) for a in answers}), "of them new")
assert np.isfinite(answers).all()

before = model.predict(X[-5:])
for row, target in [(X[:1, :3], y[:1]), (X[:1], [np.inf]), ([["a"] * 5], y[:1])]:
    try:
        model.partial_fit(row, target)
    except ValueError as error:
        print("refused:", str(error).splitlines()[0][:80])
    else:
        raise AssertionError("a bad row was learnt")
np.testing.assert_array_equal(model.predict(X[-5:]), before)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.skops"
    save(model, path)
    early = path.stat().st_size
    again = load(path)
    for one in model, again:
        one.partial_fit(X[800:], y[800:])
    np.testing.assert_array_equal(model.predict(X[-5:]), again.predict(X[-5:]))
    save(again, path)
    print(
        f"file: {early / 1e6:.2f} MB after 800 rows, {path.stat().st_size / 1e6:.2f} MB after 2400"
    )
    assert path.stat().st_size <= 1.1 * early

    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)
    try:
        load(path)
    except ValueError as error:
        print("refused:", str(error).splitlines()[0][:80])
    else:
        raise AssertionError("a damaged file was loaded")
