"""A docstring says what is new in its class; what the bases explain is filled in here, once.

A family's base explains the parameters and attributes that its members share, in the sections of
numpydoc. A member says the rest, and ``help`` shows all of it.
"""

import ast
import inspect
import re
from functools import cache
from itertools import pairwise

_ENTRIES = "Parameters", "Attributes"  # sections that are filled in entry by entry
_WHOLE = ("References",)  # sections that a class without one takes from its nearest base
_ORDER = (
    *("Parameters", "Attributes", "Methods", "Returns", "Raises", "Warns", "See Also"),
    *("Notes", "References", "Examples"),
)
_DEFAULT = re.compile(r"default=(.+)$")


def inherit_documentation(cls):
    """Complete a class's docstring by what its bases say of its parameters and attributes.

    Parameters of the signature that the class does not explain are taken from its nearest base
    that does, with this signature's default; so are attributes. A section "References" is taken
    whole where the class has none. The same holds for its public methods, and those of its bases
    that they override.

    Parameters
    ----------
    cls : type
        A class with a docstring in the numpydoc format.

    Returns
    -------
    cls : type
        The same class.
    """
    _complete(cls, cls.__mro__[1:-1])
    for name, method in vars(cls).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            methods = [vars(base).get(name) for base in cls.__mro__[1:-1]]
            _complete(method, [base for base in methods if inspect.isfunction(base)])
    return cls


def explained_by(*others):
    """Complete a function's docstring by what others say of parameters of the same names.

    Parameters
    ----------
    *others : functions
        Those that explain them, the first one first.

    Returns
    -------
    decorator : callable
        It returns the function that it is given.
    """

    def decorator(function):
        _complete(function, others)
        return function

    return decorator


def _complete(part, bases):
    """Complete the docstring of a class or a function by those of others, the first one first."""
    bases = [_parsed(base.__doc__)[1] for base in bases if base.__doc__]
    if part.__doc__ is None or not bases:  # python -OO
        return
    text, own = _parsed(part.__doc__)
    sections = dict(own)
    for title in _WHOLE:
        given = [base[title] for base in bases if title in base]
        if given:
            sections.setdefault(title, given[0])
    for title in _ENTRIES:
        known = {}
        for section in [sections, *bases]:
            for names, entry in _entries(section.get(title, [])).items():
                if not any(name in known for name in names):
                    known |= dict.fromkeys(names, entry)
        if title == "Parameters":
            signature = inspect.signature(part).parameters
            known = {
                name: _with_default(known[name], parameter.default)
                for name, parameter in signature.items()
                if name in known
            }
        lines = [line for entry in dict.fromkeys(known.values()) for line in entry]
        if lines:
            sections[title] = lines
    part.__doc__ = _written(text, sections)


@cache  # a base is asked by each of its heirs
def _parsed(docstring):
    """Return the lines before the sections, and the lines of each section."""
    lines = inspect.cleandoc(docstring).splitlines()
    heads = [i for i, line in enumerate(lines[:-1]) if line in _ORDER and _rules(lines[i + 1])]
    heads.append(len(lines))
    sections = {lines[i]: lines[i + 2 : j] for i, j in pairwise(heads)}
    return lines[: heads[0]], sections


def _rules(line):
    return len(line) > 2 and set(line) == {"-"}


def _entries(lines):
    """Split a section into its entries, by the tuple of the names that each explains."""
    heads = [i for i, line in enumerate(lines) if line and not line[0].isspace()]
    return {
        tuple(name.strip(" *") for name in lines[i].split(" : ")[0].split(",")): _trimmed(
            lines[i:j]
        )
        for i, j in pairwise([*heads, len(lines)])
    }


def _trimmed(lines):
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return tuple(lines)


def _with_default(entry, default):
    """Write the default of a signature into the head of an entry, if it says another one."""
    said = _DEFAULT.search(entry[0])
    if said is None or default is inspect.Parameter.empty:
        return entry
    written = f'"{default}"' if isinstance(default, str) else repr(default)
    if said[1] == written or _value(said[1]) in (default, said[1]):  # or a formula, or a name
        return entry
    return (entry[0][: said.start(1)] + written, *entry[1:])


def _value(text):
    """Return what a text means, the text itself where it is no literal."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _written(text, sections):
    """Join the parts of a docstring again, indented as in a class."""
    parts = ["\n".join(_trimmed(text))]
    for title in _ORDER:
        if title in sections:
            parts.append("\n".join([title, "-" * len(title), *_trimmed(sections[title])]))
    return inspect.cleandoc("\n\n".join(parts)) + "\n"
