"""Write the pages of the API reference: everything public, found by looking, not by listing."""

import inspect
from importlib import import_module

import make_table

# Pages beside the package's own names; what is public in them is what they say is.
MODULES = {
    "sklearn_okl.base": "Bases for estimators of your own",
    "sklearn_okl.feedback": "Samplers and feedback graphs",
    "sklearn_okl.conformal": "Trackers of conformal prediction",
    "sklearn_okl.untuned": "Constants of the estimators without tuning",
    "sklearn_okl.inspection": "Inspection",
    "sklearn_okl.evaluation": "Evaluation",
    "sklearn_okl.datasets": "Datasets",
    "sklearn_okl.kernels": "Kernels",
    "sklearn_okl.losses": "Losses",
    "sklearn_okl.sktime": "Among the forecasters of sktime",
}


def public_names(module_name):
    """Return the public names of a module: its `__all__`, or what is defined in it.

    Parameters
    ----------
    module_name : str
        Full name of a module.

    Returns
    -------
    list of str
        In alphabetical order, capitals first.
    """
    module = import_module(module_name)
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return sorted(
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module_name
    )


def sections():
    """Return the sections of the reference: (title, module, names), every public name in one."""
    named = rest = public_names("sklearn_okl")
    found = []
    for family, members in make_table.FAMILIES.items():
        names = [name for name in members if name in rest]
        rest = [name for name in rest if name not in names]
        if names:
            found.append((family, "sklearn_okl", names))
    found.append(("Functions of the package", "sklearn_okl", rest))
    for module, title in MODULES.items():
        found.append((title, module, [name for name in public_names(module) if name not in named]))
    return found


def pages():
    """Return the names of all pages but the index: the full names of what is public."""
    return [f"{module}.{name}" for _, module, names in sections() for name in names]


def methods():
    """Return the methods on the page of each class: those that this package has written.

    Returns
    -------
    dict of str to list of str
        Full name of each public class, and its methods, those that learn first.
    """
    order = ["fit", "partial_fit", "prequential_predict", "predict"]
    return {
        f"{module}.{name}": sorted(
            _own_methods(getattr(import_module(module), name)),
            key=lambda method: (order.index(method) if method in order else len(order), method),
        )
        for _, module, names in sections()
        for name in names
        if inspect.isclass(getattr(import_module(module), name))
    }


def reference():
    """Return the reference's index as reStructuredText; autosummary makes a page of each name."""
    lines = [
        ":html_theme.sidebar_secondary.remove:",
        "",
        "API reference",
        "=============",
        "",
        "Everything public, found at build time. What a class inherits from scikit-learn, such as",
        "``get_params`` and ``score``, works as it does there and is not repeated.",
        "",
    ]
    begun = set()
    for title, module, names in sections():
        data = [name for name in names if _is_data(module, name)]
        lines += [title, "-" * len(title), ""]
        if module not in begun:
            lines += [f".. py:module:: {module}", ""]
            begun.add(module)
        lines += [f".. currentmodule:: {module}", ""]  # what autosummary looks for
        lines += [".. autosummary::", "   :toctree: .", f"   :caption: {title}", ""]
        lines += [f"   {name}" for name in names if name not in data]
        for name in data:
            kind = type(getattr(import_module(module), name)).__name__
            lines += ["", f".. py:data:: {name}", f"   :type: {kind}", ""]
        lines.append("")
    return "\n".join(lines)


def _own_methods(class_):
    for name in dir(class_):
        makers = [base for base in class_.__mro__ if name in vars(base)]
        ours = makers and makers[0].__module__.split(".")[0] == "sklearn_okl"
        hidden = name.startswith("_") or name.endswith("_request")
        if ours and not hidden and callable(getattr(class_, name, None)):
            yield name


def _is_data(module, name):
    thing = getattr(import_module(module), name)
    return not (inspect.isclass(thing) or inspect.isroutine(thing))
