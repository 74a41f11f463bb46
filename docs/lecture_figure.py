"""Draw the figure of the first lecture: python docs/lecture_figure.py."""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np

from sklearn_okl import FourierFeatures

FILE = Path(__file__).parent / "_static" / "random_features.svg"
COLOURS = {4: "#d98c3f", 20: "#7a6fb0", 200: "#0a7d91"}  # told apart without red and green, too


def main():
    """Write the figure."""
    x = np.linspace(-4, 4, 401)[:, None]
    matplotlib.rcParams.update({"font.size": 11, "svg.hashsalt": "lecture"})
    fig, ax = plt.subplots(figsize=(8.2, 2.8), layout="constrained")
    ax.plot(x, np.exp(-(x**2)), color="0.75", lw=6, label="the kernel")
    for n_components, colour in COLOURS.items():
        features = FourierFeatures(n_components=n_components, gamma=1.0, random_state=0)
        Z = features.fit_transform(x)
        ax.plot(x, Z @ Z[200], color=colour, lw=1.6, label=f"{n_components} features")
    ax.set(xlabel="x", ylabel="likeness of x and 0", xlim=(-4, 4))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, fontsize=10)
    fig.savefig(FILE, metadata={"Date": None})


if __name__ == "__main__":
    main()
