"""Prequential evaluation, comparators in hindsight, regret and its bounds."""

from ._aggregation_report import aggregation_report
from ._backtest import backtest
from ._bounds import (
    concatenated_vaw_loss_bound,
    vaw2_loss_bound,
    vaw_ewa_loss_bound,
    vaw_logdet_bound,
    vaw_regret_bound,
)
from ._calibration import calibration_error
from ._classes_display import PrequentialCalibrationDisplay, PrequentialConfusionDisplay
from ._combinations import combination_comparator
from ._comparators import (
    effective_dimension,
    kernel_ridge_comparator,
    regret,
    ridge_comparator,
)
from ._compare import compare
from ._comparison import Comparison
from ._components_display import ForecastComponentsDisplay
from ._distribution_displays import CoverageDisplay, PITDisplay
from ._distribution_scores import (
    crps_from_distribution,
    crps_from_samples,
    log_score,
    weighted_interval_score,
)
from ._expert_losses_display import ExpertLossesDisplay
from ._fan_display import ForecastFanDisplay
from ._interval_scores import (
    coverage_by_group,
    coverage_by_window,
    crps_from_quantiles,
    interval_coverage,
    interval_score,
    interval_width,
    quantiles_from_intervals,
)
from ._kernel_bounds import (
    kernel_vaw_regret_bound,
    pkawv_regret_bound,
    pkawv_taylor_degree,
)
from ._laws import check_online_estimator, online_checks
from ._loss_monitor import LossMonitor
from ._path_bounds import (
    discounted_vaw_aa_regret_bound,
    discounted_vaw_path_bound,
    discounted_vaw_regret_bound,
    strongly_adaptive_regret_bound,
)
from ._paths import (
    dynamic_regret,
    fused_ridge_comparator,
    path_length,
    strongly_adaptive_regret,
)
from ._prequential import prequential
from ._prequential_display import PrequentialDisplay
from ._probability_integral import pit_from_distribution, pit_from_quantiles, pit_from_samples
from ._regret_display import RegretCurveDisplay
from ._search import PrequentialSearch
from ._sequential import SequentialComparison, e_benjamini_hochberg
from ._shapley_display import PartialEffectsDisplay, ShapleyDisplay
from ._weights_display import ExpertWeightsDisplay

for class_ in (
    Comparison,
    ExpertLossesDisplay,
    CoverageDisplay,
    ExpertWeightsDisplay,
    PITDisplay,
    PrequentialCalibrationDisplay,
    PrequentialConfusionDisplay,
    ForecastComponentsDisplay,
    ForecastFanDisplay,
    LossMonitor,
    PartialEffectsDisplay,
    PrequentialDisplay,
    PrequentialSearch,
    RegretCurveDisplay,
    SequentialComparison,
    ShapleyDisplay,
):
    class_.__module__ = __name__  # where it is public: pickles and files name no private module
del class_

__all__ = [
    "Comparison",
    "CoverageDisplay",
    "ExpertLossesDisplay",
    "ExpertWeightsDisplay",
    "ForecastComponentsDisplay",
    "ForecastFanDisplay",
    "LossMonitor",
    "PITDisplay",
    "PartialEffectsDisplay",
    "PrequentialCalibrationDisplay",
    "PrequentialConfusionDisplay",
    "PrequentialDisplay",
    "PrequentialSearch",
    "RegretCurveDisplay",
    "SequentialComparison",
    "ShapleyDisplay",
    "aggregation_report",
    "backtest",
    "calibration_error",
    "check_online_estimator",
    "combination_comparator",
    "compare",
    "concatenated_vaw_loss_bound",
    "coverage_by_group",
    "coverage_by_window",
    "crps_from_distribution",
    "crps_from_quantiles",
    "crps_from_samples",
    "discounted_vaw_aa_regret_bound",
    "discounted_vaw_path_bound",
    "discounted_vaw_regret_bound",
    "dynamic_regret",
    "e_benjamini_hochberg",
    "effective_dimension",
    "fused_ridge_comparator",
    "interval_coverage",
    "interval_score",
    "interval_width",
    "kernel_ridge_comparator",
    "kernel_vaw_regret_bound",
    "log_score",
    "online_checks",
    "path_length",
    "pit_from_distribution",
    "pit_from_quantiles",
    "pit_from_samples",
    "pkawv_regret_bound",
    "pkawv_taylor_degree",
    "prequential",
    "quantiles_from_intervals",
    "regret",
    "ridge_comparator",
    "strongly_adaptive_regret",
    "strongly_adaptive_regret_bound",
    "vaw2_loss_bound",
    "vaw_ewa_loss_bound",
    "vaw_logdet_bound",
    "vaw_regret_bound",
    "weighted_interval_score",
]
