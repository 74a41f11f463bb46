"""What forecasts of a series are made of, drawn: seasons, columns and the rest around the level."""

from __future__ import annotations

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support

from .._documentation import explained_by, inherit_documentation
from .._types import Any
from ._display_parts import Display, axes_of, draw_legend, draw_many
from ._fan_display import ForecastFanDisplay
from ._series_parts import place_of, rounds_of, series_of, write_dates_short


@inherit_documentation
@explained_by(ForecastFanDisplay)
class ForecastComponentsDisplay(Display):
    """The parts of forecasts of a series, over its level: seasons, columns, the rest, their sum.

    Use :meth:`from_forecaster` to create one.

    Parameters
    ----------
    components : dict of str to ndarray of shape (n,)
        The parts of one series, as :meth:`~sklearn_okl.OnlineForecaster.predict_components` has
        them, ``"level"`` among them.

    Attributes
    ----------
    lines_ : list of matplotlib Line2D, one for each part but the level
    sum_ : matplotlib Line2D
        The forecasts less their level.

    See Also
    --------
    ForecastFanDisplay : Forecasts with their intervals.

    Examples
    --------
    >>> from sklearn_okl import OnlineForecaster
    >>> from sklearn_okl.datasets import make_day_ahead
    >>> from sklearn_okl.evaluation import ForecastComponentsDisplay
    >>> X, y = make_day_ahead(24 * 8, random_state=0)
    >>> model = OnlineForecaster(24, windows=(4, 8, 24)).fit(y[:-24], X[:-24])
    >>> display = ForecastComponentsDisplay(model.predict_components(X[-24:]))
    >>> display.plot().figure_.savefig("components.png")  # doctest: +SKIP
    >>> ForecastComponentsDisplay.from_forecaster(model, X[-24:])  # doctest: +SKIP
    """

    def __init__(self, components: dict, *, times: Any = None) -> None:
        self.components = components
        self.times = times

    @explained_by(ForecastFanDisplay.plot)
    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw a line for each part, and their sum in black, all less the level.

        Parameters
        ----------
        **kwargs : dict of str to anything that ``plot`` of matplotlib takes
            For the lines of the parts.

        Returns
        -------
        display : ForecastComponentsDisplay
            The display, with ``ax_``, ``figure_``, ``lines_`` and ``sum_`` set.
        """
        ax, is_new = axes_of(self, ax, (8.0, 3.6))
        self.ax_, self.figure_ = ax, ax.figure
        parts = {name: part for name, part in self.components.items() if name != "level"}
        total = np.sum(list(parts.values()), axis=0)
        times, zone = rounds_of(ax, self.times, len(total))
        named = {name.capitalize().replace("_", " of "): part for name, part in parts.items()}
        self.lines_ = draw_many(ax, times, named, kwargs)
        black = {"color": "black", "linewidth": 1.0, "label": "Sum"}
        (self.sum_,) = ax.plot(times, total, **black)
        ax.set_ylabel("Beside the level")
        if is_new:
            write_dates_short(ax, zone)
        draw_legend(ax, is_new, [self.sum_, *self.lines_])
        return self

    @classmethod
    @explained_by(ForecastFanDisplay.from_forecaster)
    def from_forecaster(
        cls,
        forecaster: Any,
        X_future: Any = None,
        *,
        series: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Ask a forecaster for the parts of the next rows, and draw them; changes nothing.

        Parameters
        ----------
        forecaster : OnlineForecaster, or whatever has its ``predict_components``
            A fitted one.

        Returns
        -------
        display : ForecastComponentsDisplay of one series
        """
        check_matplotlib_support(f"{cls.__name__}.from_forecaster")
        found = forecaster.predict_components(X_future)
        place = place_of(found["level"], series)
        columns = {name: series_of(part, place) for name, part in found.items()}
        times = columns["level"][1]
        display = cls({name: part for name, (part, _) in columns.items()}, times=times)
        return display.plot(ax=ax, **kwargs)
