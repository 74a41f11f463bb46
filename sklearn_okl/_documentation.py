"""A docstring says what is new; what a base or a sibling has explained is filled in here, once.

A family's base explains the parameters and attributes that its members share, in the sections of
numpydoc. A member says the rest, and ``help`` shows all of it.
"""

import ast
import inspect
import re
from collections.abc import Callable
from functools import cache
from itertools import chain, pairwise, product
from typing import Any, TypeVar

from ._literature import in_full

Same = TypeVar("Same")  # what is documented, and given back

_ENTRIES = "Parameters", "Attributes"  # entries that are missing are filled in
_OUTCOMES = "Returns", "Raises", "Warns"  # of functions, taken whole by one without them
HEADED = (*_ENTRIES, *_OUTCOMES)  # sections of entries, which have a head and words below it
_ORDER = (
    *("Parameters", "Attributes", "Methods", "Returns", "Raises", "Warns", "See Also"),
    *("Notes", "References", "Examples"),
)
_DEFAULT = re.compile(r"default=(.+)$")
NAME = re.compile(r"\*[^*]+\.\*")  # of a paragraph in the notes


def inherit_documentation(cls: Same) -> Same:
    """Complete a class's docstring, and those of its methods, by what its bases say.

    Parameters of the signature that the class does not explain are taken from its nearest base
    that does, with this signature's default; so are attributes. An entry that is nothing but its
    head, as ``eta0 : float, default=0.1``, takes the words below it, of an attribute last those of
    the class's own property. Sections "Raises" and "References" are taken whole where the class has
    none. A paragraph of the notes that is nothing but its name, as ``*Cost.*``, is that of the
    base.

    The same holds for public methods, which take "Returns" and "Warns" whole too, from those that
    they override.

    Parameters
    ----------
    cls : type
        A class with a docstring in the numpydoc format.

    Returns
    -------
    cls : type
        It, with its docstrings completed.
    """
    _complete(cls, cls.__mro__[1:-1], _ENTRIES, ("Raises", "References"))
    for name, method in vars(cls).items():
        if not name.startswith("_"):
            methods = (_function(vars(base).get(name)) for base in cls.__mro__[1:-1])
            _complete(_function(method), methods, ("Parameters",), (*_OUTCOMES, "References"))
    return cls


def explained_by(*others: Any) -> Callable[[Same], Same]:
    """Complete the docstring of a function, method or class by what others say.

    A class takes from its siblings the words of what it names, of entries that are nothing but
    their head and of paragraphs that are nothing but their name, and the entries of those of its
    parameters that neither it nor a base explains. They are asked before its bases, if this
    decorator is the inner one. A function takes the entries of its parameters, those of "Raises" if
    it has none, and "Returns" whole, from one of its own name if there is one: so does one without
    a docstring the words before the sections.

    Parameters
    ----------
    *others : functions, or classes
        Those that explain, the first one first.

    Returns
    -------
    decorator : callable
        It returns what it is given.
    """

    def decorator(part: Same) -> Same:
        of_class = inspect.isclass(part)
        bases = _explained(part.__mro__[1:-1]) if of_class else frozenset()
        added, whole = (("Parameters",), ()) if of_class else (("Parameters",), ("Returns",))
        found, explaining = _function(part), [_function(other) for other in others]
        if found.__doc__ is None:
            found.__doc__ = _first_words(found.__name__, explaining)
        if not of_class and "Raises" not in sections_of(found.__doc__ or "")[1]:
            added += ("Raises",)
        _complete(found, explaining, added, whole, bases)
        return part

    return decorator


def cites(part: Same) -> Same:
    """Complete the docstring of a class or a function by the works that it cites, in full.

    The other two decorators do so, too: this one is for what takes nothing else from others.

    Parameters
    ----------
    part : class or function
        Its section References names works by authors and year, as in `_literature`.

    Returns
    -------
    part : class or function
        It, with its docstring completed.
    """
    _complete(part, (), (), ())
    return part


def _function(part):
    """Return what holds the docstring: the function inside a class method, or one on condition."""
    for wrapped in "__func__", "fn":
        part = getattr(part, wrapped, part)
    return part if inspect.isfunction(part) or inspect.isclass(part) else None


def _first_words(name, others):
    """Return what the first other of a name says before its sections; None under python -OO."""
    docs = [other.__doc__ for other in others if other.__doc__ and other.__name__ == name]
    return "\n".join(sections_of(docs[0])[0]) if docs else None


def _explained(bases):
    """Return the names of the parameters that bases explain."""
    entries = (_entries_of(base.__doc__, "Parameters") for base in bases if base.__doc__)
    return frozenset(name for found in entries for names in found for name in names)


def _complete(part, others, added, whole, elsewhere=frozenset()):
    """Complete the docstring of a class or a function by those of others, the first one first.

    `added` are the titles of sections to which entries are added, but for names that are explained
    `elsewhere`; `whole` those of sections that are taken whole where there is none.
    """
    others = [other for other in others if other is not None and other.__doc__]
    if part is None or part.__doc__ is None:  # python -OO
        return
    text, own = sections_of(part.__doc__)
    given = [sections_of(other.__doc__)[1] for other in others]
    sections = dict(own)
    namesakes = sorted(others, key=lambda other: other.__name__ != part.__name__)
    for title, other in product(whole, namesakes):
        found = sections_of(other.__doc__)[1]
        if title in found:
            sections.setdefault(title, found[title])
    if "Notes" in own:
        sections["Notes"] = _with_paragraphs(own["Notes"], [s.get("Notes", []) for s in given])
    for title in HEADED:
        said = _entries(own.get(title, []))
        if title not in added and all(len(entry) > 1 for entry in said.values()):
            continue
        others_say = [_entries_of(other.__doc__, title) for other in others]
        if title == "Attributes":
            others_say.append(_of_properties(part, said))
        entries = _with_entries(said, others_say, title in added, elsewhere)
        if title == "Parameters":
            entries = _in_order(entries, inspect.signature(part), chain.from_iterable(said))
        if entries:
            sections[title] = [line for entry in dict.fromkeys(entries.values()) for line in entry]
    if "References" in sections:
        sections["References"] = in_full(sections["References"])
    part.__doc__ = _written(text, sections)


def _with_entries(own, given, adds, elsewhere):
    """Return entries by each name: heads without words with those of others, and missing ones.

    Missing are those that are not explained `elsewhere`.
    """
    known = {name: entry for names, entry in own.items() for name in names}
    for entries in given:
        for names, entry in entries.items():
            said = [name for name in names if name in known]
            if adds and not said and elsewhere.isdisjoint(names):
                known |= dict.fromkeys(names, entry)
            elif said and len(known[said[0]]) == 1:
                known |= dict.fromkeys(said, (known[said[0]][0], *entry[1:]))
    return known


def _of_properties(cls, entries):
    """Return entries by what the class's own properties of their names say."""
    properties = {names: vars(cls).get(names[0]) for names in entries}
    return {
        names: (names[0], *(f"    {line}" for line in inspect.cleandoc(found.__doc__).splitlines()))
        for names, found in properties.items()
        if isinstance(found, property) and found.__doc__
    }


def _in_order(entries, signature, own):
    """Return the entries of a signature's parameters, with its defaults, in its order.

    Its own ones are kept by a class that stands before another, whose signature it is.
    """
    ordered = {
        name: _with_default(entries[name], parameter.default)
        for name, parameter in signature.parameters.items()
        if name in entries
    }
    return ordered | {name: entries[name] for name in own if name not in ordered}


def _with_paragraphs(own, given):
    """Return the lines of notes; a paragraph that is nothing but its name is taken from others."""
    known = {}
    for lines in given:
        for paragraph in _paragraphs(lines):
            known.setdefault(_named(paragraph), paragraph)
    lines = []
    for paragraph in _paragraphs(own):
        bare = _trimmed(paragraph)[:1] if len(_trimmed(paragraph)) == 1 else ()
        if bare and bare[0] == _named(paragraph):
            paragraph = known.get(bare[0], paragraph)
        lines += [*_trimmed(paragraph), ""]
    return lines


def _paragraphs(lines):
    """Split notes where a name stands, and leave what comes before the first one together."""
    starts = [i for i, line in enumerate(lines) if NAME.match(line)]
    return [tuple(lines[i:j]) for i, j in pairwise([0, *starts, len(lines)]) if j > i]


def _named(paragraph):
    name = NAME.match(paragraph[0])
    return name and name[0]


@cache  # a base is asked by each of its heirs
def sections_of(docstring):
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


@cache
def _entries_of(docstring, title):
    """Return the entries of a section, by the tuple of the names that each explains."""
    return _entries(sections_of(docstring)[1].get(title, []))


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
