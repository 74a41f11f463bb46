"""The table of all algorithms, made for the documentation, and their families in README.md.

Run it from anywhere: python docs/make_table.py writes the families; with --check it only says
whether they are up to date. Either fails where an estimator has no row.
"""

import inspect
import re
import sys
from pathlib import Path

import sklearn_okl

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- families: start -->", "<!-- families: end -->"

# family -> (cost per round, classes); what is not in the package yet is marked as to come.
# n: rows so far; d: inputs; D: features; K: kernels or experts; B: atoms kept; C: classes.
FAMILIES = {
    "No tuning": {"OnlineKernelRegressor": "K D²", "OnlineKernelClassifier": "K D²"},
    "Series": {"OnlineForecaster": "m D²", "AdaptedForecaster": "m D²"},
    "Feature maps": {
        "FourierFeatures": "d D",
        "TaylorFeatures": "D",
        "MercerFeatures": "d D",
        "SectionFeatures": "D²",
        "OnlineNystroem": "B²",
        "BudgetNystroem": "B²",
        "ALDNystroem": "B²",
    },
    "Streams in practice": {
        "RunningStandardScaler": "d",
        "RunningRobustScaler": "d",
        "RunningMinMaxScaler": "d",
        "RunningMaxNormScaler": "d",
        "RunningPowerTransformer": "41 d",
        "RunningQuantileTransformer": "d log q",
        "LagFeatures": "k",
        "BackgroundReservoir": "d",
        "RunningImputer": "d",
        "RunningOneHotEncoder": "d",
        "CalendarFeatures": "d",
        "StreamingPipeline": "its steps'",
        "StreamingTransformedTargetRegressor": "its regressor's",
        "RefitRegressor": "its fits'",
        "RefitClassifier": "its fits'",
        "ResidualRegressor": "its parts'",
        "StronglyAdaptiveRegressor": "its copies', log n",
        "CertifiedRegressor": "its regressor's",
        "OnlineConformalRegressor": "its estimator's",
        "OnlineConformalClassifier": "its estimator's",
        "KeyedRegressor": "its models'",
        "KeyedClassifier": "its models'",
        "RowRegressor": "its estimator's",
        "RowClassifier": "its estimator's",
    },
    "Learners on features": {
        "VAWRegressor": "D²",
        "DiscountedVAWRegressor": "D²",
        "DiscountedVAWAARegressor": "D² log n",
        "OGDRegressor": "D",
        "ONSRegressor": "D²",
        "AIOLIClassifier": "D²",
        "ImproperLogisticClassifier": "C³ D²",
    },
    "Aggregators of forecasts": {
        "EWARegressor": "K",
        "AARegressor": "K",
        "BOARegressor": "K",
        "MLPolyRegressor": "K",
        "MLProdRegressor": "K",
        "SquintRegressor": "K",
        "FixedShareRegressor": "K",
        "StackedBOARegressor": "K²",
        "ExpertsRegressor": "its experts'",
        "ExpertsClassifier": "its experts'",
    },
    "Many kernels, all asked every round": {
        "VAW2Regressor": "K D²",
        "TVAWRegressor": "8 K D²",
        "ConcatenatedVAWRegressor": "K² D²",
        "MultiKernelRegressor": "its parts'",
        "VAWEWARegressor": "K D²",
        "VAWAARegressor": "K D²",
        "VAWBOARegressor": "K D²",
        "VAWMLPolyRegressor": "K D²",
        "VAWMLProdRegressor": "K D²",
        "OMKRRegressor": "K n",
        "RFOMKRRegressor": "K D",
        "RakerRegressor": "K D",
        "RakerClassifier": "K D",
        "AdaRakerRegressor": "K D log n",
        "AdaRakerClassifier": "K D log n",
    },
    "Many kernels, some asked every round": {
        "OMKLGFRegressor": "M D",
        "OMKLSFGRegressor": "M D",
        "OMKLSFGRRegressor": "M D",
    },
    "One kernel": {
        "HVAWDRegressor": "D² log n",
        "DVAWRegressor": "D² log n",
        "KernelVAWRegressor": "n²",
        "KernelAIOLIClassifier": "n²",
        "PKAWVRegressor": "D²",
        "PKAWVClassifier": "D²",
        "KOGDRegressor": "n",
        "AOGDALDRegressor": "B²",
        "KONSRegressor": "n²",
        "SketchedKONSRegressor": "n²",
        "PROSNKONSRegressor": "B²",
        "CONKONSRegressor": "B²",
        "NONSALDRegressor": "B²",
        "FOGDRegressor": "D",
        "FOGDClassifier": "D",
        "NOGDRegressor": "B",
        "NOGDClassifier": "B",
    },
    "Bandit kernel selection": {
        name + kind: cost
        for name, cost in {
            "OKS": "n",
            "OKSPlusPlus": "n",
            "IOKS": "n",
            "RFOKS": "D",
            "RFOKSPlusPlus": "D",
            "RFIOKS": "D",
            "LKMBooks": "K B",
        }.items()
        for kind in ("Regressor", "Classifier")
    }
    | {"BAO2KSClassifier": "K n"},
}


def estimators():
    """Return the public estimators by name; each of them has a row."""
    there = dict(sklearn_okl.all_estimators())
    for name in ("OnlineForecaster", "AdaptedForecaster"):  # which take series first
        there[name] = getattr(sklearn_okl, name)
    missing = set(there) - {name for members in FAMILIES.values() for name in members}
    if missing:
        raise SystemExit(f"Public estimators without a row in docs/make_table.py: {missing}")
    return there


def families():
    """Return the families as Markdown: a line each, with its members."""
    there = estimators()
    lines = ["| family | members |", "|---|---|"]
    for family, members in FAMILIES.items():
        names = ", ".join(f"`{name}`" for name in members if name in there)
        lines.append(f"| {family} | {names} |")
    return "\n".join(lines)


def table():
    """Return the table of all estimators as Markdown."""
    there = estimators()
    lines = ["| | cost per round | what it is |", "|---|---|---|"]
    for family, members in FAMILIES.items():
        lines.append(f"| **{family}** | | |")
        to_come = []
        for name, cost in members.items():
            if name in there:
                summary = inspect.getdoc(there[name]).splitlines()[0].rstrip(".")
                summary = re.sub(r":math:`([^`]*)`", r"$\1$", summary)
                lines.append(f"| `{name}` | {cost} | {summary} |")
            else:
                to_come.append(f"`{name}`")
        if to_come:
            lines.append(f"| *to come* | | {', '.join(to_come)} |")
    return "\n".join(lines)


def updated(text):
    """Return the README's text with the families as they should be."""
    before, rest = text.split(START)
    after = rest.split(END)[1]
    return f"{before}{START}\n{families()}\n{END}{after}"


if __name__ == "__main__":
    old = README.read_text(encoding="utf-8")
    new = updated(old)
    if "--check" in sys.argv:
        raise SystemExit(0 if new == old else "README.md is stale: run python docs/make_table.py")
    README.write_text(new, encoding="utf-8")
