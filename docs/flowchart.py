"""The flowchart of "Choosing an algorithm"; Sphinx draws it at build time."""

import matplotlib.pyplot as plt

QUESTION, ANSWER = "#eaf1fb", "#e8f5e9"
# name -> (x, y, text, colour); x and y in units of a box
BOXES = {
    "start": (0, 0.95, "Do you want to choose\nand tune something?", QUESTION),
    "default": (
        1,
        0.95,
        "numbers: OnlineKernelRegressor\nclasses: OnlineKernelClassifier\n"
        "a series: OnlineForecaster\nboosted trees too: trees=True",
        ANSWER,
    ),
    "others": (0, 0, "Do you have models or\nforecasts to combine?", QUESTION),
    "linear": (0, -1, "Is a linear model of your\nfeatures good enough?", QUESTION),
    "kernel": (0, -2, "Do you know\nthe kernel?", QUESTION),
    "all": (0, -3, "Can you afford to ask\nall kernels every round?", QUESTION),
    "models": (1, 0, "Models: ExpertsRegressor\nforecasts: BOARegressor", ANSWER),
    "D2": (1, -1, "Are D² operations a\nround too many?", QUESTION),
    "long": (1, -2, "Is the stream longer than\nsome thousand rows?", QUESTION),
    "KD2": (1, -3, "Are K D² operations a\nround too many?", QUESTION),
    "few": (
        0,
        -4,
        "A few kernels per round\nOMKLGFRegressor\none kernel per round\nRFOKSPlusPlusRegressor",
        ANSWER,
    ),
    "vaw": (2, -0.72, "VAWRegressor", ANSWER),
    "ogd": (2, -1.25, "OGDRegressor", ANSWER),
    "exact": (2, -1.78, "KernelVAWRegressor", ANSWER),
    "pkawv": (2, -2.31, "FourierFeatures + VAWRegressor\nPKAWVRegressor\nNONSALDRegressor", ANSWER),
    "vaw2": (2, -2.92, "VAW2Regressor\nVAWBOARegressor", ANSWER),
    "raker": (2, -3.45, "RakerRegressor", ANSWER),
}
ARROWS = [
    ("start", "default", "no"),
    ("start", "others", "yes"),
    ("others", "models", "yes"),
    ("others", "linear", "no"),
    ("linear", "D2", "yes"),
    ("linear", "kernel", "no"),
    ("D2", "vaw", "no"),
    ("D2", "ogd", "yes"),
    ("kernel", "long", "yes"),
    ("kernel", "all", "no"),
    ("long", "exact", "no"),
    ("long", "pkawv", "yes"),
    ("all", "KD2", "yes"),
    ("all", "few", "no"),
    ("KD2", "vaw2", "no"),
    ("KD2", "raker", "yes"),
]
LINKED = {
    "numbers: OnlineKernelRegressor": "OnlineKernelRegressor",
    "classes: OnlineKernelClassifier": "OnlineKernelClassifier",
    "a series: OnlineForecaster": "OnlineForecaster",
    "FourierFeatures + VAWRegressor": "FourierFeatures",
    "Models: ExpertsRegressor": "ExpertsRegressor",
    "forecasts: BOARegressor": "BOARegressor",
}
WIDTH, HEIGHT = 3.6, 1.7  # inches from box to box

fig, ax = plt.subplots(figsize=(10.4, 9.6))
patches, centres, boxes = {}, {}, {}
for name, (x, y, text, color) in BOXES.items():
    centres[name] = (WIDTH * x, HEIGHT * y)
    box = {"boxstyle": "round,pad=0.5", "facecolor": color, "edgecolor": "0.4"}
    drawn = ax.text(*centres[name], text, ha="center", va="center", fontsize=9.5, bbox=box)
    patches[name] = drawn.get_bbox_patch()
    if color == ANSWER:
        boxes[name] = drawn
for start, end, label in ARROWS:
    ends = {"patchA": patches[start], "patchB": patches[end], "shrinkA": 2, "shrinkB": 2}
    style = {"arrowstyle": "->", "color": "0.35", "linewidth": 1.2}
    ax.annotate("", centres[end], centres[start], arrowprops=style | ends)
    middle = [(a + b) / 2 for a, b in zip(centres[start], centres[end], strict=True)]
    plain = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    ax.text(*middle, label, ha="center", va="center", fontsize=9, bbox=plain)
ax.set_xlim(-1.5, 2 * WIDTH + 1.7)
ax.set_ylim(-4 * HEIGHT - 0.6, 0.95 * HEIGHT + 0.6)
ax.set_aspect("equal")
ax.axis("off")
fig.subplots_adjust(0, 0, 1, 1)

# a link on each line that names a class: the text is drawn again, line by line, over the box
fig.canvas.draw()
for name, drawn in boxes.items():
    lines = drawn.get_text().split("\n")
    extent = drawn.get_window_extent().transformed(ax.transData.inverted())
    step = extent.height / len(lines)
    for i, line in enumerate(lines):
        target = LINKED.get(line, line)
        if target.isidentifier():
            place = centres[name][0], extent.y1 - (i + 0.5) * step
            url = f"api/sklearn_okl.{target}.html"
            ax.text(*place, line, ha="center", va="center", fontsize=9.5, alpha=0, url=url)
