"""Rows of one, through the steps of a pipeline: private copies of them, for a row path."""

import numpy as np
from sklearn.utils import get_tags

from ._delay import delay_of
from ._flow import Way, _flow, active, copied_step, learns_from_data
from ._validation import plain_row, refuse_no_targets
from .base import OnlineTransformer, _copied, _is_finite, twin
from .base._row_path import Work
from .base._state import named, nameless
from .base._swap import _OVERFLOWED

_VERBS = "_validated", "_read", "_advance", "_prequential_transform", "_learn_given"


class _Map:
    """The private copy of a transformer of ours whose rows need no more than a look."""

    learns = True

    def __init__(self, step):
        self.step = twin(step)
        self.step._built_with = self.step._checked_parameters(False)
        self.state = _copied(step._state)

    def ask(self, X):
        """Return a row X (1, d) as it is now."""
        return self.step._ask(self.state, X)

    def learn(self, X, y, past, way):
        """Learn a row; return what it was before, and what is kept for late labels."""
        return self.step._flow(self.state, X, None, way.delay), past

    def result(self, last):
        """Return the transformer that has learnt the rows."""
        if not _is_finite(self.state, self.step._allow_nan):
            raise ValueError(_OVERFLOWED)
        step = twin(self.step)
        step._state = self.state if last else _copied(self.state)
        return step


class _Step:
    """The private copy of any other transformer: its public verbs."""

    def __init__(self, step):
        self.step, self.names = nameless(copied_step(step))
        self.learns = learns_from_data(step)

    def ask(self, X):
        return self.step.transform(X)

    def learn(self, X, y, past, way):
        return _flow(self.step, past, X, y, way)

    def result(self, last):
        return named(self.step if last else copied_step(self.step), self.names)


class _Final(Work):
    """The private copy of a last step of another package: its public verbs."""

    def __init__(self, step):
        self.step, self.names = nameless(copied_step(step))

    def _ask(self, x):
        return self.step.predict(x[None])[0]

    def _read(self, x, y):
        return x[None], np.asarray(y)[None]

    def _learn(self, X, y):
        forecast = self.step.predict(X)[0]
        self.step.partial_fit(X, y)
        return forecast

    def _result(self, last):
        return named(self.step if last else copied_step(self.step), self.names)


class PipelineWork(Work):
    """The private copies of the steps of a pipeline at work, which is beyond its warm-up."""

    def __init__(self, pipeline):
        steps = pipeline._warm_steps()
        self.model = twin(pipeline)
        self.model._built_with = self.model._checked_parameters(False)
        self.pasts, self.n_learnt = dict(pipeline._state["pasts"]), 0
        self.maps = {name: _work_of_map(step) for name, step in active(steps[:-1])}
        final = steps[-1][1]
        self.final = final._row_work() if hasattr(final, "_row_work") else _Final(final)
        self.way = Way(pipeline.update, delay_of(final), False, False)
        first = next(iter(active(steps)))[1]
        self.allow_nan = get_tags(first).input_tags.allow_nan
        self.asked, self.stages = None, []

    def _ask(self, x):
        return self.final.ask(_as_row(self._stages(x)[-1]))

    def _read(self, x, y):
        refuse_no_targets(self.model, y)
        stages = self._stages(x)
        # the last step looks at its target before any other one learns
        return stages, y, self.final._read(_as_row(stages[-1]), y)

    def _learn(self, stages, y, read):
        target, self.asked = np.asarray(y)[None], None
        X, late = stages[0], self.way.delay > 0
        for (name, step), known in zip(self.maps.items(), stages, strict=False):
            if step.learns or late:
                given = X if late else known
                X, self.pasts[name] = step.learn(given, target, self.pasts.get(name), self.way)
        self.n_learnt += 1
        return self.final._learn(*(self.final._read(_as_row(X), y) if late else read))

    def _stages(self, x):
        """Return a row (1, d) as it reaches each step, by what is known now."""
        X = plain_row(self.model, x, self.allow_nan)
        asked = X.tobytes()
        if asked != self.asked:
            stages = [X.copy()]  # it may be written before it is learnt
            for step in self.maps.values():
                stages.append(step.ask(stages[-1]))
            self.asked, self.stages = asked, stages
        return self.stages

    def _result(self, last):
        maps = {name: step.result(last) for name, step in self.maps.items()}
        *before, (name, _) = self.model.steps_
        steps = [(name, maps.get(name, step)) for name, step in before]
        model, known = twin(self.model), self.model._state
        model.steps_ = [*steps, (name, self.final.result(last))]
        model._state = known | {"t": known["t"] + self.n_learnt, "pasts": dict(self.pasts)}
        return model


def _work_of_map(step):
    if not isinstance(step, OnlineTransformer) or step._needs_targets:
        return _Step(step)
    own = any(getattr(type(step), verb) is not getattr(OnlineTransformer, verb) for verb in _VERBS)
    return _Step(step) if own else _Map(step)


def _as_row(X):
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return X[0]
    raise TypeError(
        f"A step of the pipeline turns rows into a {type(X).__name__}, and a row path is of plain "
        "arrays: set the step to return dense arrays, or teach the pipeline by 'partial_fit'."
    )
