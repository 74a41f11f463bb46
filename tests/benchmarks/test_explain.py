import sys
from types import SimpleNamespace

import numpy as np

from benchmarks import explain as job
from sklearn_okl.inspection import explain


class Explainer:
    """As shap's, with errors that fade as coalitions grow."""

    def __init__(self, predict, background):
        self.model, self.background = predict.__self__, background

    def shap_values(self, rows, nsamples, l1_reg, silent):
        exact = explain(self.model, rows, self.background).values
        return exact + np.abs(exact).mean() / nsamples


def test_the_job_stops_where_the_error_is_small():
    found = job.on_columns(4, 2, SimpleNamespace(KernelExplainer=Explainer), 1 << 9)
    assert found["coalitions"] == 128  # at 64 the error is 1.6 %
    assert found["error"] < job.ERROR
    assert found["rounding"] < 1e-12


def test_the_job_says_what_it_lacks(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(sys.modules, "shap", None)
    assert job.run(tmp_path) == 2
    assert "needs shap" in capsys.readouterr().err
