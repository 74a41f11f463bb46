"""Streams to learn from: generators, and loaders of the papers' data sets."""

from sklearn_okl.datasets._generators import (
    make_adversarial_stream,
    make_ar4,
    make_day_ahead,
    make_friedman_stream,
    scale_as_published,
)
from sklearn_okl.datasets._loaders import dataset_names, load_dataset

__all__ = [
    "dataset_names",
    "load_dataset",
    "make_adversarial_stream",
    "make_ar4",
    "make_day_ahead",
    "make_friedman_stream",
    "scale_as_published",
]
