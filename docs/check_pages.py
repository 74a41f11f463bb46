"""Open every built page in Chromium, wide and narrow: python docs/check_pages.py [FOLDER].

FOLDER has the pages, docs/_build/html by default. At 1400 pixels in light and at 420 in dark
colours, no page may be wider than its window, and axe may find no text of little contrast, no
picture without words and no part that only a mouse can scroll. Then the pages' own search is asked
for what people look for: the page that answers has to come first or second. Where the packages of
the extra `pages` or Chromium are not there, this says so and ends without an error.
"""

import argparse
import os
import shutil
import sys
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote_plus

DOCS = Path(__file__).resolve().parent
PACKAGES = "playwright", "axe_playwright_python"
BROWSERS = "chromium", "chromium-browser", "google-chrome", "chrome"
WINDOWS = {1400: "light", 420: "dark"}  # pixels: colours
RULES = ["image-alt", "svg-img-alt", "role-img-alt", "input-image-alt", "object-alt", "area-alt"]
RULES += ["link-name", "button-name", "scrollable-region-focusable"]
FOUND_WITHIN = 2

# What people look for, and the page whose title or headings answer it.
SOUGHT = {
    "churn": "questions",
    "daylight saving": "day_ahead",
    "learn_one": "coming_from_river",
    "glossary": "glossary",
    "deprecated": "versions",
    "security": "versions",
    "kernel trick": "theory/first_lecture",
    "feature importance": "explaining",
    "quantile": "questions",
    "per device": "many_devices",
    "categorical": "questions",
    "missing values": "questions",
    "delayed labels": "questions",
    "horizon": "questions",
    "without an order": "questions",
    "latency": "questions",
    "monitoring": "questions",
    "multi-class": "questions",
}

# elements that stick out to the right, the innermost ones of those that do not scroll by themselves
STICK_OUT = """() => {
    const root = document.documentElement, found = [];
    if (root.scrollWidth <= root.clientWidth) return found;
    for (const one of document.body.querySelectorAll("*")) {
        if (one.getBoundingClientRect().right <= root.clientWidth + 1) continue;
        let up = one.parentElement;
        while (up && getComputedStyle(up).overflowX === "visible") up = up.parentElement;
        if (up === document.body || up === root || !up) found.push(one.outerHTML.slice(0, 90));
    }
    return [`${root.scrollWidth} pixels: ${found.slice(-2).join(" and ")}`];
}"""

# Contrast takes axe seconds a page, and pages share their style: elements with words that look as
# one has looked before, in colour, ground, size and weight, are not looked at again.
NEW_LOOKS = """seen => {
    const known = new Set(seen), looks = [];
    for (const one of document.body.querySelectorAll("*")) {
        if (![...one.childNodes].some(each => each.nodeType === 3 && each.data.trim())) continue;
        const style = getComputedStyle(one), grounds = [];
        for (let up = one; up; up = up.parentElement) {
            const {backgroundColor, backgroundImage, opacity} = getComputedStyle(up);
            grounds.push(backgroundColor + backgroundImage + opacity);
        }
        const ground = grounds.filter(each => each !== "rgba(0, 0, 0, 0)none1").join();
        const look = [style.color, style.fontSize, style.fontWeight, ground].join();
        if (known.has(look) || !one.checkVisibility()) continue;
        known.add(look);
        looks.push(look);
        one.setAttribute("data-new-look", "");
    }
    return looks;
}"""


def browser():
    """Return the path of a Chromium, None where there is none."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, BROWSERS)), None)


def missing(packages=PACKAGES):
    """Return a sentence on what is not at hand, or None."""
    for package in packages:
        if find_spec(package) is None:
            return f"{package} is not installed: pip install -e '.[pages]'."
    return None if browser() else "There is no Chromium: install one, or name it in CHROMIUM."


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, as a web server would: a search reads the pages that it finds."""

    def log_message(self, *_):
        """Say nothing of each file."""


@contextmanager
def served(folder):
    """Serve a folder, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def faults_of(page, axe, looks):
    """Yield a sentence on each fault of the page that is open; looks are those that were seen."""
    yield from page.evaluate(STICK_OUT)
    found = axe.run(page, options={"runOnly": RULES}).response["violations"]
    if new := page.evaluate(NEW_LOOKS, sorted(looks)):
        looks.update(new)
        options = {"runOnly": ["color-contrast"]}
        found += axe.run(page, "[data-new-look]", options).response["violations"]
    for rule in found:
        nodes = rule["nodes"]
        yield f"{rule['id']}, {len(nodes)} times: {nodes[0]['html'][:90]}"


def places_of(page, address, words, answer):
    """Return at which place the search shows a page, counted from 1; None if it does not."""
    page.goto(f"{address}search.html?q={quote_plus(words)}", wait_until="load")
    # it says how many it has found when all are shown
    page.wait_for_function("document.querySelector('#search-results .search-summary')?.innerText")
    links = page.locator("#search-results ul.search > li > a")
    found = links.evaluate_all("links => links.map(link => link.pathname.slice(1))")
    place = found.index(f"{answer}.html") + 1 if f"{answer}.html" in found else None
    return place, found[:FOUND_WITHIN]


def run(folder, pages=None, pictures=None):
    """Look at all pages, print what is wrong, and return how many faults there are."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import sync_playwright

    folder, n_faults = Path(folder).resolve(), 0
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    names = [name for name in names if not name.startswith("_static/")]
    names = [name for name in names if pages is None or name.removesuffix(".html") in pages]
    with served(folder) as address, sync_playwright() as driver:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
        chromium = driver.chromium.launch(executable_path=browser(), args=flags)
        for width, colours in WINDOWS.items():
            window = {"width": width, "height": 900}
            page = chromium.new_page(viewport=window, color_scheme=colours, reduced_motion="reduce")
            looks, axe = set(), Axe()
            for name in names:
                page.goto(address + name, wait_until="load")
                for fault in faults_of(page, axe, looks):
                    print(f"{name} at {width}: {fault}", flush=True)
                    n_faults += 1
                if pictures:
                    file = Path(pictures) / f"{name.removesuffix('.html')}-{width}.png"
                    page.screenshot(path=file, full_page=True)
            page.close()
        print(f"{len(names)} pages at {' and '.join(map(str, WINDOWS))} pixels: {n_faults} faults")
        if pages is None:
            n_faults += n_lost(chromium.new_page(), address)
        chromium.close()
    return n_faults


def n_lost(page, address):
    """Search for all that people look for, and return how often the answer comes too late."""
    n = 0
    for words, answer in SOUGHT.items():
        place, first = places_of(page, address, words, answer)
        late = place is None or place > FOUND_WITHIN
        n += late
        print(f"search for {words!r}: {answer} is no. {place}" + f", behind {first}" * late)
    return n


def main(arguments=None):
    """Look at what the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DOCS / "_build" / "html")
    parser.add_argument("--pages", nargs="+", metavar="PAGE", help="only these, and no searches")
    parser.add_argument("--pictures", metavar="DIR", help="a folder for pictures of the pages")
    given = parser.parse_args(arguments)
    if reason := missing():
        print(f"Skipped. {reason}")
        return 0
    return 1 if run(given.folder, given.pages, given.pictures) else 0


if __name__ == "__main__":
    sys.exit(main())
