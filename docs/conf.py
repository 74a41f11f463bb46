"""Configuration of Sphinx: python -m sphinx -W --keep-going -b html docs docs/_build/html."""

import os
import re
import shutil
import sys
import tomllib
from functools import partial
from pathlib import Path

import matplotlib
from docutils.nodes import SkipNode
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from numpydoc.docscrape_sphinx import SphinxDocString
from sphinx.util import logging

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]
matplotlib.use("agg")

import make_glossary
import make_inventory
import make_reference
import make_table
import sklearn_okl
import thumbnails

project = "sklearn_okl"
author = "The sklearn_okl developers"
project_copyright = author
version = release = sklearn_okl.__version__

# the one place where the project's addresses stand; until it has some, sources are shown as pages
project_file = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))
addresses = project_file["project"].get("urls", {})

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.viewcode",
    "matplotlib.sphinxext.plot_directive",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "show_outputs",
]
exclude_patterns = ["_build", "examples", "paper"]
templates_path = ["_templates"]
html_theme = "pydata_sphinx_theme"
html_title = "sklearn_okl"
html_short_title = "sklearn_okl"
# pages without siblings have nothing to list beside them
html_sidebars = {path.stem: [] for path in DOCS.glob("*.md")} | {"search": [], "genindex": []}
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_theme_options = {
    "show_prev_next": False,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 6,
    "show_nav_level": 1,
    "external_links": [{"name": name, "url": url} for name, url in addresses.items()],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
copybutton_selector = "div:not(.output) > div.highlight > pre"
pages_that_run = ["index", "getting_started", "explaining", "extending", "files", "questions"]
pages_that_run += ["coming_from_opera", "coming_from_sklearn", "day_ahead", "verified"]
pages_that_run += ["theory/first_lecture", "many_devices", "coming_from_river"]

# Links into other documentations: from the network where the documentation is published, and from a
# list of scikit-learn's public names everywhere else, so that a build needs no network.
if os.environ.get("READTHEDOCS"):
    intersphinx_mapping = {
        "sklearn": ("https://scikit-learn.org/stable", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "python": ("https://docs.python.org/3", None),
    }
else:
    inventory = DOCS / "_build" / "sklearn.inv"
    make_inventory.write(inventory)
    intersphinx_mapping = {"sklearn": ("https://scikit-learn.org/stable", str(inventory))}

# The reference: everything public gets a page, without being listed anywhere. Pages of what is no
# longer there would be built again, so then all that is generated is made anew.
API, GALLERY, EXAMPLES = DOCS / "api", DOCS / "auto_examples", DOCS / "examples"
stale = {path.stem for path in API.glob("sklearn_okl*.rst")} - set(make_reference.pages())
scripts = {path.stem for path in EXAMPLES.glob("*.py")}
stale |= {path.stem for path in GALLERY.glob("plot_*.rst")} - scripts
if stale:
    shutil.rmtree(API, ignore_errors=True)
    shutil.rmtree(GALLERY, ignore_errors=True)
API.mkdir(exist_ok=True)
index, text = API / "index.rst", make_reference.reference()
if not index.exists() or index.read_text(encoding="utf-8") != text:  # else it would look new
    index.write_text(text, encoding="utf-8")
autosummary_generate = True
autosummary_context = {"own_methods": make_reference.methods()}
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["colon_fence", "dollarmath", "substitution"]
myst_heading_anchors = 3


def _link(match):
    return f"[`{match[1]}`](api/sklearn_okl.{match[1]}.rst)"


_public = "|".join(make_table.estimators())
myst_substitutions = {
    "algorithms": re.sub(rf"`({_public})`", _link, make_table.table()),
    "cost": {
        name: cost for family in make_table.FAMILIES.values() for name, cost in family.items()
    },
    "glossary": make_glossary.glossary(),
    "n_estimators": str(len(make_table.estimators())),
}

plot_html_show_source_link = False
plot_html_show_formats = False
plot_formats = [("svg", 100)]

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "image_scrapers": ("thumbnails",),
    "within_subsection_order": "FileNameSortKey",
    "doc_module": ("sklearn_okl",),
    "backreferences_dir": "api/backreferences",
    "reference_url": {"sklearn_okl": None},
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,
}

if "OKL_BROWSER" in os.environ:  # examples that run in the browser; `browser` builds them
    import browser

    extensions.append("jupyterlite_sphinx")
    jupyterlite_config = os.environ["OKL_BROWSER"]
    jupyterlite_dir = str(Path(jupyterlite_config).parent)
    jupyterlite_bind_ipynb_suffix = False
    sphinx_gallery_conf["jupyterlite"] = {
        "use_jupyter_lab": True,
        "notebook_modification_function": browser.install_first,
    }


# TeX sets a thin space between the name of a function and what is no bracket; docutils does not
THIN = '<mspace width="0.17em"></mspace>'
AFTER_NAME = r"(<mo>&ApplyFunction;</mo>)(?!\s*<mo)"
BEFORE_NAME = r"(</mi>|</mn>|</ms\w+>|>\)</mo>)(?=\s*<mi[^>]*>[a-z]{2,}</mi>)"
# and its fences are as high as a letter and close to it, unless \left and \right say otherwise
FENCE = r'<mo(?: stretchy="false"| class="mathopen")?>(?=[‖⟨⟩|]</mo>)'
ACCENT = r"\\(hat|tilde|bar|overline) ?(\{[^{}]*\}|\\[a-zA-Z]+|[a-zA-Z])(?=\s*[_^])"


def tidy(app, what, name, obj, options, lines):
    """Make docstrings fit for numpydoc: types on one line, ``n_features_in_`` no link."""
    text = "\n".join(lines)
    text = re.sub(r" *\\\n +", " ", text)
    text = re.sub(r"(?<=shape \()(\w+_)(?=,|\))", r"``\1``", text)
    text = re.sub(r"(?<=, )(\w+_)(?=\)(\n| or| if|,))", r"``\1``", text)
    lines[:] = text.split("\n")


def attribute(self, name, said, fake_autosummary, process=SphinxDocString._process_param):
    """Show what a class says of an attribute, where numpydoc takes a property's first line."""
    return process(self, name, said, fake_autosummary and not said)


SphinxDocString._process_param = attribute


def mathml(self, node, as_block):
    """Write a formula as MathML, which browsers show without a script or a network."""
    formula = node.astext()
    # docutils would set the t of \hat y_t under the y; with an empty group after the y it does not
    guarded = re.sub(ACCENT, r"{\\\1{\2}{}}", formula)
    # and takes the 12 of \frac12 for one number
    guarded = re.sub(r"(frac)\s*(\d)\s*(\d|\\[a-zA-Z]+)", r"\1{\2}{\3}", guarded)
    try:
        markup = tex2mathml(guarded, as_block=as_block)
        markup = re.sub(AFTER_NAME, rf"\1{THIN}", markup)
        markup = re.sub(BEFORE_NAME, rf"\1{THIN}", markup)
        markup = re.sub(FENCE, r'<mo stretchy="false" lspace="0" rspace="0">', markup)
    except MathError as error:
        logging.getLogger(__name__).warning("%s in %r", error, formula, location=node)
        markup = f"<code>{self.encode(formula)}</code>"
    self.body.append(f'<div class="math">{markup}</div>' if as_block else markup)
    raise SkipNode


def clickable(app, pagename, templatename, context, doctree):
    """Put the flowchart's drawing into its page: links in an image cannot be followed."""

    def drawing(match):
        (file,) = (Path(app.outdir) / "plot_directive").rglob("flowchart.svg")
        svg = file.read_text(encoding="utf-8")
        label = re.search(r'alt="([^"]*)"', match[0])[1]
        told = f'<svg role="group" tabindex="0" aria-label="{label}"'
        return svg[svg.index("<svg") :].replace("<svg", told, 1)

    if "body" in context:
        context["body"] = re.sub(r"<img [^>]*flowchart[^>]*\.svg[^>]*>", drawing, context["body"])


def breakable(app, pagename, templatename, context, doctree):
    """Let names break between their words, as they must in tables on a narrow screen."""

    def broken(match):
        return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[_(=,])(?=[^<)])", "<wbr>", match[0])

    if "body" in context:
        name = r'(?<=<span class="pre">)[^<]*(?=</span>)'
        context["body"] = re.sub(name, broken, context["body"])


def described(app, pagename, templatename, context, doctree):
    """Say of a figure without a title of its own which section of an example draws it."""
    if pagename.startswith("auto_examples/plot_") and "body" in context:
        parts = re.split(r"(?=<h[12]>)", context["body"])
        for i, part in enumerate(parts):
            heading = re.match(r"<h[12]>(.*?)<", part)
            if heading:
                alt = f'alt="Figure of the section: {heading[1]}"'
                parts[i] = re.sub(r'alt="plot \d[^"]*"', alt, part)
        context["body"] = "".join(parts)


def setup(app):
    """Tell Sphinx of the functions above."""
    app.connect("builder-inited", thumbnails.put_in_place, priority=900)  # the gallery is at 500
    app.connect("html-page-context", clickable)
    app.connect("html-page-context", breakable)
    app.connect("html-page-context", described)
    app.connect("autodoc-process-docstring", tidy, priority=400)  # numpydoc comes at 500
    visitors = [(partial(mathml, as_block=as_block), None) for as_block in (False, True)]
    app.add_html_math_renderer("mathml", *visitors)


html_math_renderer = "mathml"
