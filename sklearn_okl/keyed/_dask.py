"""Dask: shards of keys on its workers, each with a file that outlives the worker."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from sklearn.utils import _safe_indexing

from .._types import Any, PathLike
from .._validation import container_of
from ._store import Store

_KNOWN = {}  # of a worker: path of a shard -> its model, and the batch that it has learnt last


def dask_learning(
    client: Any,
    batches: Iterable[tuple],
    make: Callable[[], Any],
    folder: PathLike,
    *,
    n_shards: int = 8,
) -> Iterator[tuple]:
    """Learn numbered batches of many keys on the workers of Dask; yield the forecasts of each.

    Keys are split into shards. Each has a model of its own and a :class:`Store` in a folder, to
    which every batch is committed: a worker that is lost takes nothing with it. Whoever takes up
    its shard begins from the last commit; a batch that it had committed is not learnt again, and
    its forecasts, which were written before the commit, are read.

    Parameters
    ----------
    client : distributed.Client
    batches : iterable of (int, array-like, array-like, array-like)
        Number, keys (n,), rows (n, d) and targets (n,) of each batch. Numbers rise. Batches that
        are given again, as after a restart of everything, are to be the same.
    make : callable of no arguments
        Makes the model of a shard, such as a function that returns ``KeyedRegressor(prior=None)``.
    folder : path-like
        One that all workers see; it is made.
    n_shards : int, default=8
        How many shards, the same for ever: some for each worker.

    Returns
    -------
    answers : iterator of (int, ndarray of shape (n,))
        The number of each batch and its forecasts: NaN where a batch before the last that was
        committed is given again.

    See Also
    --------
    Store : The file of a shard.
    beam_learning : One model a key on Apache Beam.

    Notes
    -----
    *Cost.* A commit a shard and batch: give thousands of rows at once. Files of forecasts of the
    batch before are removed.

    Examples
    --------
    >>> from distributed import Client  # doctest: +SKIP
    >>> from sklearn_okl import KeyedRegressor, dask_learning
    >>> def make():
    ...     return KeyedRegressor(prior=None)
    >>> with Client() as client:  # doctest: +SKIP
    ...     for number, forecasts in dask_learning(client, batches, make, "fleet"):
    ...         print(number, forecasts[:3])
    """
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for number, keys, X, y in batches:
        X, y, asked = container_of(X), np.asarray(y), []
        shards = np.array([shard_of(key, n_shards) for key in keys])
        for shard in np.unique(shards).tolist():
            rows = np.flatnonzero(shards == shard)
            of_rows = [_safe_indexing(part, rows) for part in (keys, X, y)]
            path = str(folder / f"{shard}.db")
            task = client.submit(learn_shard, path, number, *of_rows, make, pure=False)
            asked.append((rows, task))
        order = np.concatenate([rows for rows, _ in asked])
        yield number, np.concatenate([task.result() for _, task in asked])[np.argsort(order)]


def shard_of(key, n_shards):
    """Return the shard of a key: the same in every process."""
    key = key.tolist() if isinstance(key, (np.generic, np.ndarray)) else key
    return zlib.crc32(repr(key).encode()) % n_shards


def learn_shard(path, number, keys, X, y, make):
    """Learn a batch of a shard and commit it, if it is not committed yet; return its forecasts."""
    said = Path(f"{path}.{number}.npy")
    with Store(path) as store:
        if store.batch is not None and number <= store.batch:
            return np.load(said) if said.exists() else np.full(len(y), np.nan)
        model, batch = _KNOWN.pop(path, (None, None))  # gone if anything fails below
        if model is None or batch != store.batch:
            model = make() if store.batch is None else store.load()
        forecasts = model.prequential_predict(X, y, keys=keys)
        part = Path(f"{said}.{os.getpid()}.part")
        with open(part, "wb") as file:
            np.save(file, forecasts, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, said)
        before = store.batch
        store.commit(model, number)
    _KNOWN[path] = model, number
    if before is not None:
        Path(f"{path}.{before}.npy").unlink(missing_ok=True)
    return forecasts
