"""
Cost and loss
=============

What does a round cost, and what does it buy? Fifteen algorithms on one stream, most with the same
kernels. The losses are the same on every machine, the times are this machine's: read them as
ratios.
"""

# %%
# The stream
# ----------
# Friedman's function, targets scaled to [0, 1] and rows to norm at most one, as the first-order
# algorithms want them (over the whole file, as in the papers: for a comparison only).

import matplotlib.pyplot as plt

import sklearn_okl as okl
from sklearn_okl.datasets import make_friedman_stream, scale_as_published
from sklearn_okl.evaluation import prequential

X, y = scale_as_published(*make_friedman_stream(2000, n_features=5, random_state=0))
X = X - X.mean(axis=0)
gammas = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0]
many = dict(kernels={"gamma": gammas}, random_state=0)
mapped = dict(n_components=60, **many)
one = dict(gamma=3.0)

models = {
    "no tuning": {"no tuning": okl.OnlineKernelRegressor(budget="fast", random_state=0)},
    "all kernels": {
        "VAW²": okl.VAW2Regressor(**mapped),
        "concatenated VAW": okl.ConcatenatedVAWRegressor(**mapped),
        "VAW-BOA": okl.VAWBOARegressor(**mapped),
        "Raker": okl.RakerRegressor(**mapped),
        "RFOMKR": okl.RFOMKRRegressor(**mapped),
        "OMKR": okl.OMKRRegressor({"gamma": gammas}),
    },
    "some kernels": {
        "OMKL-GF": okl.OMKLGFRegressor(n_selected=2, **mapped),
        "OMKL-SFG": okl.OMKLSFGRegressor(n_selected=2, **mapped),
        "OKS++": okl.OKSPlusPlusRegressor(**many),
    },
    "one kernel": {
        "Fourier + VAW": okl.make_streaming_pipeline(
            okl.FourierFeatures(n_components=60, random_state=0, **one), okl.VAWRegressor(0.1)
        ),
        "kernel VAW": okl.KernelVAWRegressor(alpha=0.1, **one),
        "CON-KONS": okl.CONKONSRegressor(random_state=0, **one),
        "PKAWV": okl.PKAWVRegressor(alpha=0.1, random_state=0, **one),
        "FOGD": okl.FOGDRegressor(n_components=60, random_state=0, **one),
    },
}

# %%
# Loss against time
# -----------------

fig, ax = plt.subplots(figsize=(8, 5), layout="constrained")
for (family, members), marker in zip(models.items(), "*osD", strict=True):
    for place, (name, model) in enumerate(members.items()):
        result = prequential(model, X, y)
        print(f"{name:18} mean squared error {1e3 * result.mean_loss:6.2f}e-3")
        spot = (1e6 * result.seconds / len(y), 1e3 * result.mean_loss)
        ax.plot(*spot, marker, color=f"C{'osD*'.index(marker)}", label=None if place else family)
        ax.annotate(name, spot, xytext=(5, 3), textcoords="offset points", fontsize=8)
ax.set(xscale="log", yscale="log")
ax.set_xlabel("Time a row, in microseconds")
ax.set_ylabel("Mean squared error × 1000")
ax.margins(x=0.15)
ax.legend()
plt.show()
