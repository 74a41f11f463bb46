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
    *("Parameters", "Attributes", "Methods", "Raises", "Warns", "See Also"),
    *("Notes", "References", "Examples"),
)
_DEFAULT = re.compile(r"default=(.+)$")


def inherit_documentation(cls):
    """Complete a class's docstring by what its bases say of its parameters and attributes.

    Parameters of the signature that the class does not explain are taken from its nearest base
    that does, with this signature's default; so are attributes. A section "References" is taken
    whole where the class has none.

    Parameters
    ----------
    cls : type
        A class with a docstring in the numpydoc format.

    Returns
    -------
    cls : type
        The same class.
    """
    if cls.__doc__ is None:  # python -OO
        return cls
    text, own = _parsed(cls.__doc__)
    sections = dict(own)
    bases = [_parsed(base.__doc__)[1] for base in cls.__mro__[1:-1] if base.__doc__]
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
            signature = inspect.signature(cls).parameters
            known = {
                name: _with_default(known[name], parameter.default)
                for name, parameter in signature.items()
                if name in known
            }
        lines = [line for entry in dict.fromkeys(known.values()) for line in entry]
        if lines:
            sections[title] = lines
    cls.__doc__ = _written(text, sections)
    return cls


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
        tuple(name.strip() for name in lines[i].split(" : ")[0].split(",")): _trimmed(lines[i:j])
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
    if said[1] == written or _value(said[1]) == default:
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
