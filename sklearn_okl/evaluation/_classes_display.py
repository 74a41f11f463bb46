"""Progressive forecasts of classes, drawn: how far probabilities hold, and what is confused."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.utils import check_consistent_length, check_scalar
from sklearn.utils._optional_dependencies import check_matplotlib_support

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from ._calibration import by_bins, calibration_error, error_of, known_rows, of_the_likeliest
from ._display_parts import COLORS, Display, axes_of, draw_legend, named_estimators, named_forecasts
from ._prequential import prequential
from ._prequential_display import PrequentialDisplay


@inherit_documentation
@explained_by(PrequentialDisplay)
class PrequentialCalibrationDisplay(Display):
    """Whether progressive probabilities hold: how often is right what is said to be so likely.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create one.

    Parameters
    ----------
    curves : dict of str to tuple of (ndarray, ndarray, ndarray)
        Name of each learner, and by bins with rows in them: mean probability, share of rows in
        which it came true, and number of rows.
    class_label : label, default=None
        The class whose probabilities they are; None: the likeliest of each row.

    Attributes
    ----------
    errors : dict of str to float
        Name of each learner and its expected calibration error: the mean distance of the two over
        the rows, by bins.
    displays_ : list of sklearn.calibration.CalibrationDisplay
        What draws the curves, in their order.

    See Also
    --------
    PrequentialDisplay : With ``loss="log_loss"``, how good probabilities are, round after round.
    sklearn.calibration.CalibrationDisplay : For data that were held out.

    References
    ----------
    Guo et al. 2017, equation (3), for the error.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn_okl import OnlineKernelClassifier
    >>> from sklearn_okl.evaluation import PrequentialCalibrationDisplay
    >>> X, y = make_classification(300, flip_y=0.2, random_state=0)
    >>> model = OnlineKernelClassifier(budget="fast", random_state=0)
    >>> display = PrequentialCalibrationDisplay.from_estimator(model, X, y)  # doctest: +SKIP
    >>> display.errors  # doctest: +SKIP
    {'OnlineKernelClassifier': 0.05...}
    """

    def __init__(self, curves: dict[str, Any], *, class_label: Any = None) -> None:
        self.curves = curves
        self.class_label = class_label

    @property
    def errors(self) -> dict[str, float]:
        """Expected calibration error of each learner."""
        return {name: error_of(*curve) for name, curve in self.curves.items()}

    @explained_by(PrequentialDisplay.plot)
    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the curves.

        Returns
        -------
        display : PrequentialCalibrationDisplay
            The display, with ``ax_``, ``figure_`` and ``displays_`` set.
        """
        from sklearn.calibration import CalibrationDisplay  # slow to import

        ax, is_new = axes_of(self, ax, (6.4, 4.4))
        self.ax_, self.figure_, self.displays_ = ax, ax.figure, []
        for i, (name, error) in enumerate(self.errors.items()):
            said, came, _ = self.curves[name]
            style = {"color": COLORS[i % len(COLORS)], "marker": "o", "markersize": 4}
            part = CalibrationDisplay(came, said, said, estimator_name=name)
            label = f"{name} (calibration error {error:.3f})"
            self.displays_.append(part.plot(ax=ax, name=label, **{**style, **kwargs}))
        what = "the likeliest class" if self.class_label is None else f"{self.class_label}"
        ax.set(xlabel=f"Probability of {what}", ylabel="Share of rows in which it came true")
        draw_legend(ax, is_new, ax.get_legend_handles_labels()[0])
        return self

    @classmethod
    @explained_by(PrequentialDisplay.from_estimator)
    @explained_by(plot)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        delay: int | ArrayLike | None = None,
        **kwargs: Any,
    ) -> Any:
        """Run :func:`prequential` for each classifier and draw how its probabilities hold.

        Parameters
        ----------
        estimator : estimator object, dict of str to estimator, or list of (str, estimator)
            One classifier with probabilities, named after its class, or several with their names.
            They are cloned and start from nothing.
        y : array-like of shape (n_samples,)
            Labels.
        **kwargs : dict
            Keywords for :meth:`from_predictions`, such as ``class_label``.

        Raises
        ------
        ImportError
        TypeError
            If a classifier has no probabilities.
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        forecasts = {
            name: prequential(learner, X, y, delay=delay, loss="log_loss").forecasts
            for name, learner in named_estimators(estimator).items()
        }
        return cls.from_predictions(y, forecasts, **kwargs)

    @classmethod
    @explained_by(PrequentialDisplay.from_predictions)
    @explained_by(from_estimator, calibration_error)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        forecasts: ArrayLike | dict[str, Any],
        *,
        class_label: Any = None,
        n_bins: int = 15,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Draw how probabilities hold that are already there.

        Parameters
        ----------
        forecasts : array-like of shape (n_samples, n_classes), or dict of str to such
            Probabilities of one classifier, or of several with their names, each made before its
            label was seen; columns in the order of ``np.unique(y_true)``. Rows of NaN are left out.
        class_label : label, default=None
            The class whose probabilities are drawn; None: the likeliest of each row.
        n_bins : int, default=15
            Number of bins, of equal width, of the probabilities.
        **kwargs : dict
            Keywords for :meth:`plot`.

        Raises
        ------
        ImportError
        ValueError
            If probabilities and labels do not fit each other, or there is no such class.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        check_scalar(n_bins, "n_bins", Integral, min_val=1)
        classes = np.unique(np.asarray(y_true))
        if class_label is not None and class_label not in classes:
            raise ValueError(f"class_label={class_label!r} is none of the labels {classes}.")
        curves = {}
        for name, P in named_forecasts(forecasts).items():
            P, places = known_rows(y_true, P, classes)
            if class_label is None:
                said, came = of_the_likeliest(P, places)
            else:
                place = np.searchsorted(classes, class_label)
                said, came = P[:, place], places == place
            curves[name] = by_bins(said, came, n_bins)
        return cls(curves, class_label=class_label).plot(ax=ax, **kwargs)


@inherit_documentation
@explained_by(PrequentialCalibrationDisplay)
class PrequentialConfusionDisplay(Display):
    """Which labels were forecast in place of which, in the last rows of a stream.

    Use :meth:`from_estimator` or :meth:`from_predictions` to create one.

    Parameters
    ----------
    confusion_matrix : ndarray of shape (n_classes, n_classes)
        A row for each label and a column for each forecast.
    labels : ndarray of shape (n_classes,)
        The labels that came or were forecast, sorted.

    Attributes
    ----------
    display_ : sklearn.metrics.ConfusionMatrixDisplay
        What draws it.

    See Also
    --------
    PrequentialDisplay : With ``loss="zero_one"``, the share of errors, round after round.
    sklearn.metrics.ConfusionMatrixDisplay : For data that were held out.

    References
    ----------
    Gama et al. 2013, section 3, on windows.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_okl import FOGDClassifier
    >>> from sklearn_okl.evaluation import PrequentialConfusionDisplay
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FOGDClassifier(gamma=0.001, random_state=0)
    >>> PrequentialConfusionDisplay.from_estimator(model, X, y, window=200)  # doctest: +SKIP
    """

    def __init__(self, confusion_matrix: Any, labels: Any) -> None:
        self.confusion_matrix = confusion_matrix
        self.labels = labels

    @explained_by(PrequentialDisplay.plot)
    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the matrix.

        Parameters
        ----------
        **kwargs : dict
            Keywords for ``plot`` of :class:`sklearn.metrics.ConfusionMatrixDisplay`.

        Returns
        -------
        display : PrequentialConfusionDisplay
            The display, with ``ax_``, ``figure_`` and ``display_`` set.
        """
        from sklearn.metrics import ConfusionMatrixDisplay

        ax, _ = axes_of(self, ax, (5.2, 4.4))
        part = ConfusionMatrixDisplay(self.confusion_matrix, display_labels=self.labels)
        self.display_ = part.plot(ax=ax, **{"cmap": "Blues", **kwargs})
        ax.set(xlabel="Forecast", ylabel="Label")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    @explained_by(PrequentialCalibrationDisplay.from_estimator)
    @explained_by(plot)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        y: ArrayLike,
        *,
        delay: int | ArrayLike | None = None,
        **kwargs: Any,
    ) -> Any:
        """Run :func:`prequential` and draw what was confused in the last rows.

        Parameters
        ----------
        estimator : estimator object
            A classifier. It is cloned and starts from nothing.
        **kwargs : dict
            Keywords for :meth:`from_predictions`, such as ``window``.

        Raises
        ------
        ImportError
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        result = prequential(estimator, X, y, delay=delay, loss="zero_one")
        return cls.from_predictions(y, result.forecasts, **kwargs)

    @classmethod
    @explained_by(PrequentialCalibrationDisplay.from_predictions)
    @explained_by(from_estimator)
    def from_predictions(
        cls,
        y_true: ArrayLike,
        forecasts: ArrayLike,
        *,
        window: int = 500,
        normalize: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Draw what was confused in the last rows by forecasts that are already there.

        Parameters
        ----------
        forecasts : array-like of shape (n_samples,)
            Labels forecast, each before its own was seen. NaN, where there was no forecast, is left
            out.
        window : int, default=500
            Number of last rows that count.
        normalize : {"true", "pred", "all"}, default=None
            Shares of the labels, of the forecasts, or of all; None: numbers of rows.
        **kwargs : dict
            Keywords for :meth:`plot`.

        Raises
        ------
        ImportError
        ValueError
            If the lengths differ, no row of the window has a forecast, or forecasts are of another
            kind than labels.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        check_scalar(window, "window", Integral, min_val=1)
        y_true, forecasts = np.asarray(y_true), np.asarray(forecasts)
        check_consistent_length(y_true, forecasts)
        labels = np.unique(y_true)
        y_true, forecasts = y_true[-window:], forecasts[-window:]
        scored = forecasts == forecasts  # no NaN, also among labels
        if not scored.any():
            raise ValueError(f"None of the last {window} rows has a forecast.")
        forecasts = _of_the_type_of(y_true, forecasts[scored])
        labels = np.union1d(labels, forecasts)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A single label was found", UserWarning)
            matrix = confusion_matrix(y_true[scored], forecasts, labels=labels, normalize=normalize)
        return cls(matrix, labels).plot(ax=ax, **kwargs)


def _of_the_type_of(y_true, forecasts):
    """Return labels that were forecast in the type of those that came, each as it was."""
    try:
        found = forecasts.astype(y_true.dtype.type)  # of text as long as it is
        is_same = found == forecasts
    except (TypeError, ValueError):
        is_same = np.zeros(len(forecasts), dtype=bool)
    if not np.all(is_same):
        raise ValueError(
            f"forecasts holds {forecasts[~is_same][0]!r}, which is of another kind than the labels "
            f"in y_true, {y_true.dtype}: give labels of one kind."
        )
    return found
