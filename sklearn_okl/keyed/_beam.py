"""Apache Beam: one model a key, in the state that the runner keeps of each key."""

from __future__ import annotations

from collections.abc import Callable

from .._types import Any
from ._step import step_in_turn


def beam_learning(make: Callable[[], Any]) -> Any:
    """Return a transform of Apache Beam that forecasts the rows of each key, and learns them.

    Its elements are ``(key, (numbers, X, y))``, rows of one key, one or many: `numbers` (n,) count
    the rows of the key from 0 on, by which rows that come too early wait and those that come again
    are left out; None says that all rows of a key come in order, each once. What comes out are
    ``(key, (numbers, forecasts))`` of the rows that were learnt, each forecast made before its
    target was seen.

    Parameters
    ----------
    make : callable that can be sent to workers
        Makes the model of a key, such as ``VAWRegressor``: a class, or
        a function of a module that they have.

    Returns
    -------
    transform : apache_beam.PTransform

    Raises
    ------
    ImportError
        If Apache Beam is not installed: ``pip install 'sklearn_okl[beam]'``.

    See Also
    --------
    keyed_step : What is done with the rows of a key.
    dask_learning : Shards of keys on Dask.

    Notes
    -----
    A runner that fails begins bundles again with the state from before, and a step is pure: nothing
    is lost, and nothing learnt twice. A step reads and writes a model, some milliseconds.

    Examples
    --------
    >>> import apache_beam as beam  # doctest: +SKIP
    >>> from sklearn_okl import VAWRegressor, beam_learning
    >>> with beam.Pipeline() as pipeline:  # doctest: +SKIP
    ...     rows = pipeline | beam.Create([("pump", ([0, 1], [[1.0], [2.0]], [1.0, 2.0]))])
    ...     rows | beam_learning(VAWRegressor) | beam.Map(print)
    """
    try:
        import apache_beam as beam
        from apache_beam.transforms.userstate import ReadModifyWriteStateSpec
    except ImportError as error:
        raise ImportError(
            "Apache Beam is not installed: pip install 'sklearn_okl[beam]' brings it."
        ) from error

    class Learn(beam.DoFn):
        HELD = ReadModifyWriteStateSpec("held", beam.coders.PickleCoder())

        def process(self, element, held=beam.DoFn.StateParam(HELD)):  # noqa: B008  Beam reads it
            key, rows = element
            learnt, kept = step_in_turn(held.read(), rows, make)
            held.write(kept)
            if learnt[0]:
                yield key, learnt

    return beam.ParDo(Learn())
