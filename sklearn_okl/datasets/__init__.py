"""Streams to learn from: generators, and loaders of the papers' data sets."""

from sklearn_okl.datasets._changing import (
    make_friedman_drift,
    make_holder_path,
    make_rotating_hyperplane,
    make_switching_functions,
)
from sklearn_okl.datasets._faulty import make_faulty_stream, make_shifted_stream
from sklearn_okl.datasets._generators import (
    make_adversarial_stream,
    make_ar4,
    make_day_ahead,
    make_friedman_stream,
    scale_as_published,
)
from sklearn_okl.datasets._irregular import make_irregular_stream
from sklearn_okl.datasets._loaders import dataset_names, load_dataset
from sklearn_okl.datasets._timetables import make_timetable

__all__ = [
    "dataset_names",
    "load_dataset",
    "make_adversarial_stream",
    "make_ar4",
    "make_day_ahead",
    "make_faulty_stream",
    "make_friedman_drift",
    "make_friedman_stream",
    "make_holder_path",
    "make_irregular_stream",
    "make_rotating_hyperplane",
    "make_shifted_stream",
    "make_switching_functions",
    "make_timetable",
    "scale_as_published",
]
