"""One row at a time, as people have it: a dict of fields, and a label that comes later."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from numbers import Real

import numpy as np
from sklearn.base import is_classifier, is_regressor

from .._delegating import DelegatingVerbs
from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike
from .._validation import named_classes, sorted_together
from ..aggregators._likelihoods import or_equal
from ..base._distributions import DistributionVerbs, asked_coverage
from ._row_by_row import RowByRow


@inherit_documentation
class RowRegressor(RowByRow):
    """A regressor of rows that come one at a time, as dicts, and of labels that come later.

    `predict_one` and `learn_one` are River's verbs; `ask` forecasts a row and keeps it, `tell` says
    its label and learns it, whenever that comes and in whatever order.

    See Also
    --------
    RowClassifier : The same for labels.
    KeyedRegressor : One model a key, as the estimator of this one.

    Notes
    -----
    *Cost.* A call of the estimator for one row, and some tens of microseconds; where 10 000 rows
    wait `ask` and `tell` copy where these are, which is about a tenth of a millisecond more. If the
    first row holds text, dates or gaps, which may become text, rows are handed on as frames of
    pandas, and each costs a millisecond.

    *Late labels.* An estimator with a `label_delay` is to be told by how many rows of their key
    labels are late. If that is 0 where most of the first 32 are late `tell` warns of it, once.

    *River.* Where River is loaded, it takes this for a regressor of its own:
    ``river.evaluate.progressive_val_score``, its pipelines and its ensembles work. A clone of
    River's wrapper around a model that has learnt has learnt, too.

    Examples
    --------
    >>> from sklearn_okl import KeyedRegressor, RowRegressor
    >>> model = RowRegressor(KeyedRegressor(key="shop"))
    >>> for day in range(40):
    ...     for shop in ("north", "south"):
    ...         forecast = model.ask((shop, day), {"shop": shop, "visitors": day % 7})
    ...         model = model.tell((shop, day), 10.0 * (day % 7) * (shop == "north"))
    >>> round(model.predict_one({"visitors": 3, "shop": "north"}))
    30
    >>> model.n_pending_, model.n_samples_seen_
    (0, 80)
    """

    _kind = "regressor", is_regressor

    def _by_default(self):
        from ._estimators import KeyedRegressor

        return KeyedRegressor()

    def _label(self, y):
        try:
            is_number = isinstance(y, (Real, Decimal)) and not isinstance(y, bool)
            target = float(y) if is_number else math.nan
        except OverflowError:
            target = math.inf
        except ValueError:  # a NaN that signals
            target = math.nan
        if not math.isfinite(target):
            raise ValueError(f"y={y!r} is no target: give a number.")
        return np.array([target])

    def _some_label(self):
        return np.zeros(1)

    def _classes(self):
        return {}

    @explained_by(RowByRow.learn_one)
    def predict_one(self, x: Mapping, *, key: Any = None) -> float:
        """Forecast one row; changes nothing.

        Returns
        -------
        forecast : float
            0.0 before the first row has been learnt.
        """
        found = self._answer("predict", x, key)
        return 0.0 if found is None else found

    @explained_by(DelegatingVerbs.predict_interval, DistributionVerbs.predict_interval, predict_one)
    def interval_one(
        self, x: Mapping, coverage: float | ArrayLike | None = None, *, key: Any = None
    ) -> Array:
        """Return an interval for the target of one row; changes nothing.

        Returns
        -------
        interval : ndarray of shape ([n_levels,] 2)
            Low and high end; infinite before the first row. The estimator needs a
            `predict_interval`, as :class:`OnlineKernelRegressor` has one.
        """
        if not hasattr(self._unfitted(), "predict_interval"):
            raise AttributeError(
                f"{type(self._unfitted()).__name__} has no intervals. OnlineKernelRegressor has."
            )
        levels = asked_coverage(self._unfitted(), coverage)
        found = self._answer("predict_interval", x, key, levels)
        ends = np.array([-math.inf, math.inf])
        return np.tile(ends, (*np.shape(levels), 1)) if found is None else found


@inherit_documentation
@explained_by(RowRegressor)
class RowClassifier(RowByRow):
    """A classifier of rows that come one at a time, as dicts, and of labels that come later.

    Parameters
    ----------
    classes : array-like of shape (n_classes,)
        All labels: the first row shows one only.

    See Also
    --------
    RowRegressor : The same for numbers.
    KeyedClassifier : One model a key, as the estimator of this one.

    Notes
    -----
    *Cost.*

    *Late labels.*

    *River.*

    *Faults.* What of the estimator's probabilities is none, such as NaN, is the same for all.

    Examples
    --------
    >>> from sklearn_okl import RowClassifier
    >>> model = RowClassifier(classes=["low", "high"])
    >>> for t in range(60):
    ...     model = model.learn_one({"x": t % 10 - 4.5}, "high" if t % 10 > 4 else "low")
    >>> model.predict_one({"x": 4.0}), model.predict_one({"x": -4.0})
    ('high', 'low')
    """

    _kind = "classifier", is_classifier
    _parameter_constraints = {**RowByRow._parameter_constraints, "classes": ["array-like"]}

    def __init__(
        self,
        estimator: Any = None,
        *,
        classes: Any,
        max_pending: int = 10_000,
        max_age: int | None = None,
    ) -> None:
        super().__init__(estimator, max_pending=max_pending, max_age=max_age)
        self.classes = classes

    def _by_default(self):
        from ._estimators import KeyedClassifier

        return KeyedClassifier()

    def _label(self, y):
        return np.array([y])

    def _some_label(self):
        return self._classes()["classes"][:1]

    def _classes(self):
        with sorted_together():
            return {"classes": named_classes(self.classes)}

    @explained_by(RowRegressor.predict_one)
    def predict_one(self, x: Mapping, *, key: Any = None) -> Any:
        """Forecast the label of one row; changes nothing.

        Returns
        -------
        label : label
            None before the first row has been learnt.
        """
        return self._answer("predict", x, key)

    @explained_by(RowRegressor.predict_one)
    def predict_proba_one(self, x: Mapping, *, key: Any = None) -> dict:
        """Return the probability of each class for one row; changes nothing.

        Returns
        -------
        probabilities : dict of label to float
            Empty before the first row has been learnt.
        """
        found = self._answer("predict_proba", x, key)
        if found is None:
            return {}
        found = or_equal(found[None])[0]
        return dict(zip(self.estimator_.classes_.tolist(), found.tolist(), strict=True))
