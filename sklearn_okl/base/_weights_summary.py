"""What an aggregator believes at present, in words."""

from __future__ import annotations

import numpy as np

from ._state import twin


class SummaryOfWeights:
    """Aggregators: a table of the experts and their weights."""

    def summary(self) -> str:
        """Say what each expert counts for in the next round, the largest weight first.

        Returns
        -------
        summary : str
            A line for each expert, under the name of its column in a frame, or its number. What
            was lost, and what the best combinations in hindsight would have lost, takes rows and
            targets: see :func:`~sklearn_okl.evaluation.aggregation_report`.

        Examples
        --------
        >>> import pandas as pd
        >>> from sklearn_okl import BOARegressor
        >>> experts = pd.DataFrame({"arima": [1.0, 2.0, 3.0], "forest": [1.5, 1.0, 3.5]})
        >>> print(BOARegressor().fit(experts, [1.0, 2.0, 3.0]).summary())
        After 3 rows:
        <BLANKLINE>
        expert  weight
        arima    0.934
        forest   0.066
        """
        model = twin(self)  # another thread may install a new state meanwhile
        weights, n_rows = model.weights_, model.n_samples_seen_
        names = [str(name) for name in getattr(model, "feature_names_in_", range(len(weights)))]
        width = max(6, *map(len, names))
        order = np.argsort(-weights, kind="stable")
        head = f"After {n_rows} row{'' if n_rows == 1 else 's'}:"
        lines = [head, "", f"{'expert':{width}}  weight"]
        return "\n".join([*lines, *(f"{names[k]:{width}}  {weights[k]:6.3f}" for k in order)])
