"""Classes without a file: probabilities of new rows, ten classes beside two, digits, images."""

from time import process_time

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from sklearn_okl import OnlineKernelClassifier

_HEADER = ["ours", "beside"]


def small_streams(quick=False):
    """Return a table: each row has a name, our figure, and what it is held against."""
    rows = [_new_rows(quick), _ten_classes("fast", quick), _ten_classes("balanced", quick)]
    rows.append(_right("digits", *load_digits(return_X_y=True), quick))
    images = _image_segments()
    if images is not None:
        rows.append(_right("ImageSegments (River)", *images, quick))
    return {"header": _HEADER, "rows": rows}


def _new_rows(quick):
    X, y = make_classification(4000, n_features=10, flip_y=0.1, random_state=0)
    n = 150 if quick else 2500
    ours = OnlineKernelClassifier(random_state=0).partial_fit(X[:n], y[:n], classes=[0, 1])
    theirs = LogisticRegression().fit(X[:n], y[:n])
    losses = [log_loss(y[2500:], model.predict_proba(X[2500:])) for model in (ours, theirs)]
    name = "log loss of new rows of make_classification, beside logistic regression"
    return [name, *(f"{loss:.4f}" for loss in losses)]


def _ten_classes(budget, quick):
    """Return how many times as long a row of ten classes takes as one of two."""
    n, seconds = (120 if quick else 4000), []
    for n_classes in (10, 2):
        X, y = make_classification(
            n, n_features=10, n_informative=8, n_classes=n_classes, random_state=0
        )
        runs = []
        for _ in range(1 if quick else 2):
            model, start = OnlineKernelClassifier(budget=budget, random_state=0), process_time()
            model.partial_fit(X, y, classes=range(n_classes))
            runs.append(process_time() - start)
        seconds.append(min(runs))
    name = f"time of ten classes over that of two, {budget}, beside the bar"
    return [name, f"{seconds[0] / seconds[1]:.2f}", "2.00"]


def _right(name, X, y, quick):
    n = 120 if quick else len(y)
    model = OnlineKernelClassifier(random_state=0)
    forecasts = model.prequential_predict(X[:n], y[:n], classes=np.unique(y))
    right = f"{np.mean(forecasts == y[:n]):.4f}"
    return [f"share of labels forecast rightly, {name}", right, ""]


def _image_segments():
    """Return rows and labels of River's set, None where River is not installed."""
    try:
        from river.datasets import ImageSegments
    except ImportError:
        return None
    rows = [(list(x.values()), label) for x, label in ImageSegments()]
    X, y = zip(*rows, strict=True)
    return np.array(X, dtype=np.float64), np.array(y)
