"""List where scikit-learn documents its public names, for links into it without a network."""

import zlib
from pathlib import Path

from sklearn.utils import all_estimators
from sklearn.utils.discovery import all_functions

HEAD = """# Sphinx inventory version 2
# Project: scikit-learn
# Version: stable
# The remainder of this file is compressed using zlib.
"""


def public(thing):
    """Return the name under which scikit-learn documents a class or a function."""
    parts = thing.__module__.split(".")
    return ".".join([*(part for part in parts if not part.startswith("_")), thing.__name__])


def write(path):
    """Write an inventory in the format of Sphinx.

    Parameters
    ----------
    path : Path
    """
    names = {public(class_): "class" for _, class_ in all_estimators()}
    names |= {public(function): "function" for _, function in all_functions()}
    names |= {
        "sklearn.utils.Bunch": "class",
        "sklearn.gaussian_process.kernels.Matern": "class",
        "sklearn.metrics.get_scorer_names": "function",
        "sklearn.model_selection.ParameterGrid": "class",
        "sklearn.model_selection.ParameterSampler": "class",
    }
    lines = "".join(
        f"{name} py:{kind} 1 modules/generated/{name}.html#{name} -\n"
        for name, kind in sorted(names.items())
    )
    path = Path(path)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(HEAD.encode() + zlib.compress(lines.encode()))
