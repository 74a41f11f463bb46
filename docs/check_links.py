"""Follow every local link of the built pages: python docs/check_links.py [FOLDER].

FOLDER has the pages, docs/_build/html by default. A link, picture, script or style leads to a file
that is there, and what stands behind # is the name of a place on its page. Sphinx looks at links
in the sources alone; what the theme, the gallery and the reference write is looked at here.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

DOCS = Path(__file__).resolve().parent


class Page(HTMLParser):
    """Where the links of a page lead, and the names of its places."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), {"", "top"}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        """Keep what an element says of itself."""
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.places.add(value)


read = cache(Page)


def broken(folder):
    """Yield a sentence on each local link of a folder's pages that leads nowhere."""
    for path in sorted(folder.rglob("*.html")):
        if "_static" in path.relative_to(folder).parts:
            continue
        for link in sorted(read(path).links):
            scheme, host, file, _, place = urlsplit(link)
            if scheme or host:
                continue
            goal = (path.parent / unquote(file)).resolve() if file else path
            where = path.relative_to(folder)
            if not goal.is_relative_to(folder) or not goal.is_file():
                yield f"{where}: there is no {link}"
            elif goal.suffix == ".html" and unquote(place) not in read(goal).places:
                yield f"{where}: no place of that name, {link}"


def main(folder=DOCS / "_build" / "html"):
    """Look at all pages; return the exit status."""
    folder = Path(folder).resolve()
    n_pages, faults = sum(1 for _ in folder.rglob("*.html")), list(broken(folder))
    print(*faults, f"{n_pages} pages: {len(faults)} local links lead nowhere", sep="\n")
    return 1 if faults or not n_pages else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
