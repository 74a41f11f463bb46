"""The works that an estimator's page cites, as BibTeX."""

from __future__ import annotations

import inspect
import re
import unicodedata

from ._documentation import sections_of
from ._types import Any

_NAME = r"(?:[^\W\d_]\.[ -]?)+(?:(?:van|von|de|der) )*[^\W\d_][\w'-]+(?: [A-Z][\w'-]+)*"
_WORK = re.compile(rf'({_NAME}(?:(?:,? and |, ){_NAME})*(?: et al\.)?), "([^"]+)",?')
_YEAR = re.compile(r"^(?P<where>.*?),? ?\(?\b(?P<year>(?:19|20)\d\d)\b")
_VOLUME = re.compile(r"^(?P<journal>.*?),? (?P<volume>\d+)(?:\((?P<number>\d+)\))?$")
_PUBLISHER = re.compile(r"^(?:.* )?(?:Press|Springer|Wiley)$")


def cite(estimator: Any) -> str:
    r"""Return the works that an estimator is built on as BibTeX.

    Parameters
    ----------
    estimator : estimator object or class
        One of this package, or whatever has a section References in its docstring as these have.

    Returns
    -------
    bibtex : str
        An entry for each work of the section References, in its order. Which theorem or equation
        is meant, the docstring says.

    Raises
    ------
    ValueError
        If the docstring cites no work.

    Examples
    --------
    >>> from sklearn_okl import OGDRegressor, cite
    >>> print(cite(OGDRegressor()).split("\n\n")[0])
    @inproceedings{zinkevich2003online,
      author = {M. Zinkevich},
      title = {{Online convex programming and generalized infinitesimal gradient ascent}},
      booktitle = {International Conference on Machine Learning},
      year = {2003}
    }
    """
    part = estimator if inspect.isclass(estimator) else type(estimator)
    lines = sections_of(part.__doc__ or "")[1].get("References", [])
    text = re.sub(r"\s+", " ", " ".join(lines))
    _, *parts = _WORK.split(text)  # authors, title and what follows, one after the other
    entries = dict.fromkeys(map(_entry, parts[::3], parts[1::3], parts[2::3]))
    if not entries:
        raise ValueError(
            f"The docstring of {part.__name__} cites no work: give an estimator whose page has a "
            "section References."
        )
    return "\n\n".join(entries)


def _entry(said, title, rest):
    """Write a work of some authors, of which the rest begins with where it stands, for BibTeX."""
    authors = re.split(r",? and |, ", said.replace(" et al.", ", others"))
    dated = _YEAR.match(rest)
    where = (dated["where"] if dated else rest.split(".")[0]).strip(" ,")
    fields = {"author": " and ".join(authors), "title": f"{{{title.rstrip(',')}}}"}
    numbered = _VOLUME.match(where)
    if _PUBLISHER.match(where):
        kind, fields["publisher"] = "book", where
    elif numbered and "Neural Information Processing" not in where:
        kind, fields["journal"], fields["volume"] = "article", numbered["journal"], numbered[2]
        fields |= {"number": numbered["number"]} if numbered["number"] else {}
    elif where and dated:
        kind, fields["booktitle"] = "inproceedings", where
    else:
        kind = "misc"
        fields |= {"howpublished": where} if where else {}
    fields |= {"year": dated["year"]} if dated else {}
    surname = unicodedata.normalize("NFKD", authors[0].split()[-1]).encode("ascii", "ignore")
    words = re.findall(r"[a-z]{3,}", title.lower())
    first = next((word for word in words if word not in ("the", "and", "for")), "")
    key = f"{surname.decode().lower()}{fields.get('year', '')}{first}"
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@{kind}{{{key},\n{lines}\n}}"
