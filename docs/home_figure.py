"""Draw the figure of the home page and the README: python docs/home_figure.py."""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import (
    OnlineKernelRegressor,
    RefitRegressor,
)
from sklearn_okl.datasets import make_friedman_stream

FILE = Path(__file__).parent / "_static" / "home.svg"
N_ROWS, WINDOW, STEP = 4000, 200, 10
MODELS = {
    "boosted trees, fitted anew on the last 500 rows": RefitRegressor(window=500),
    "boosted trees, fitted anew on all rows": RefitRegressor(),
    "OnlineKernelRegressor()": OnlineKernelRegressor(random_state=0),
}
COLOURS = ["#9aa5b1", "#d98c3f", "#0a7d91"]  # told apart without red and green, too


def main():
    """Write the figure."""
    X, y = make_friedman_stream(N_ROWS, drift="jump", random_state=0)
    matplotlib.rcParams.update({"font.size": 11, "svg.hashsalt": "home"})
    fig, ax = plt.subplots(figsize=(8.2, 3.3), layout="constrained")
    for colour, (name, model) in zip(COLOURS, MODELS.items(), strict=True):
        errors = (model.prequential_predict(X, y) - y) ** 2
        latest = np.convolve(errors, np.full(WINDOW, 1.0 / WINDOW), mode="valid")
        rows = np.arange(WINDOW, N_ROWS + 1, STEP)
        ax.plot(rows, np.sqrt(latest[::STEP]), color=colour, lw=2, label=name)
    ax.axvline(N_ROWS / 2, color="0.6", lw=1, ls=":")
    ax.text(N_ROWS / 2 + 30, 0.3, "what is to be learnt jumps", color="0.4", fontsize=10)
    ax.set(
        xlabel="rows, each forecast before it is learnt",
        ylabel=f"error of the last {WINDOW} (RMSE)",
        xlim=(WINDOW, N_ROWS),
        ylim=(0, None),
    )
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left", fontsize=9)
    fig.savefig(FILE, metadata={"Date": None})


if __name__ == "__main__":
    main()
