"""What of scikit-learn's own we trust in files besides what skops trusts, and why."""

from functools import cache
from importlib import import_module
from inspect import isfunction

# What fitted models of scikit-learn hold and skops does not trust by itself. All of these only keep
# attributes: making one runs no code but its own short `__init__`, calls nothing that the file does
# not name too, opens nothing, and hands no unchecked index to compiled code. The last is why trees,
# nearest neighbours and SciPy's splines are not among them.
PLAIN_TYPES = (
    # dicts whose keys are attributes too: named steps and estimators
    "sklearn.utils._bunch.Bunch",
    # classifiers and calibrators side by side; one or two coefficients; one label
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.calibration._TemperatureScaling",
    "sklearn.multiclass._ConstantPredictor",
    # a pattern and types that choose columns
    "sklearn.compose._column_transformer.make_column_selector",
    # a list of columns, in versions before 1.9
    "sklearn.compose._column_transformer._RemainderColsList",
    # lists of moments and step sizes
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
    # who wants which metadata: strings and booleans
    "sklearn.utils._metadata_requests.MetadataRequest",
    "sklearn.utils._metadata_requests.MethodMetadataRequest",
    # a function, its sign and its arguments; the function is asked about by its own name
    "sklearn.metrics._scorer._CurveScorer",
    "sklearn.metrics._scorer._MultimetricScorer",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.metrics._scorer._Scorer",
    # numbers of folds and random states, or the folds' indices, which NumPy checks
    "sklearn.model_selection._split.GroupKFold",
    "sklearn.model_selection._split.GroupShuffleSplit",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.LeaveOneGroupOut",
    "sklearn.model_selection._split.LeaveOneOut",
    "sklearn.model_selection._split.LeavePGroupsOut",
    "sklearn.model_selection._split.LeavePOut",
    "sklearn.model_selection._split.PredefinedSplit",
    "sklearn.model_selection._split.RepeatedKFold",
    "sklearn.model_selection._split.RepeatedStratifiedKFold",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.model_selection._split.StratifiedGroupKFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.model_selection._split.StratifiedShuffleSplit",
    "sklearn.model_selection._split.TimeSeriesSplit",
    "sklearn.model_selection._split._CVIterableWrapper",
    # names of kinds of numbers
    "builtins.object",
    "numpy.dtype",
    "numpy.floating",
    "numpy.integer",
    "numpy.number",
)
_SCORES = ("_score", "_loss", "_error", "_deviance", "_corrcoef")  # how their names end


@cache
def plain_functions():
    """Return the names of scikit-learn's scores and kernels: they compute and do nothing else."""
    metrics, selection, pairwise = (
        import_module(f"sklearn.{name}")
        for name in ("metrics", "feature_selection", "metrics.pairwise")
    )
    scores = [name for name in metrics.__all__ if name.endswith(_SCORES)]
    functions = [getattr(metrics, name) for name in scores]
    functions += [getattr(selection, name) for name in selection.__all__]
    functions += pairwise.kernel_metrics().values()
    return {f"{f.__module__}.{f.__name__}" for f in functions if isfunction(f)}
