"""Run the code of pages while they are read, and show below each block what it printed."""

import contextlib
import io
import os
import re
import sys
import tempfile
from types import ModuleType

BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
SHOWN = "{block}\n```{{code-block}} none\n:class: output\n\n{printed}```\n"


def run(text, name="page"):
    """Return a page's source with the output of its Python blocks, which share their names.

    Parameters
    ----------
    text : str
        Source in Markdown.
    name : str
        Of the page, for messages.

    Returns
    -------
    str
        The source; a block that prints something is followed by one that shows it.
    """
    main = ModuleType("__main__")  # as if run by itself: what it pickles is looked for there
    before = sys.modules["__main__"]

    def shown(match):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(match[1], f"<{name}>", "exec"), vars(main))
        lines = printed.getvalue().rstrip()
        return SHOWN.format(block=match[0], printed=lines + "\n") if lines else match[0]

    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:  # for the files that pages write
        os.chdir(folder)
        sys.modules["__main__"] = main
        try:
            return BLOCK.sub(shown, text)
        finally:
            sys.modules["__main__"] = before
            os.chdir(here)


def _on_source_read(app, name, source):
    if name in app.config.pages_that_run:
        source[0] = run(source[0], name)


def setup(app):
    """Tell Sphinx."""
    app.add_config_value("pages_that_run", [], "env")
    app.connect("source-read", _on_source_read)
    return {"parallel_read_safe": False}
