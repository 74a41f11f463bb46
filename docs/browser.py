"""Build the documentation with examples that run in the browser: python docs/browser.py FOLDER.

FOLDER is an unpacked distribution of Pyodide with all its packages, from the page of its releases.
The pages are JupyterLite's and ask nobody else at run time: Pyodide and the wheel of this package
are put beside them. Where something is not at hand this says what, and ends without an error.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).resolve().parent
WORK = DOCS / "_build" / "browser"
BUILDERS = "sphinx", "sphinx_gallery", "jupyterlite_sphinx", "jupyterlite_pyodide_kernel"
NEEDED = "numpy", "scipy", "scikit-learn", "joblib", "threadpoolctl", "pandas", "matplotlib"


def missing(folder, builders=BUILDERS):
    """Return a sentence on what is not at hand, or None."""
    for package in builders:
        if find_spec(package) is None:
            return f"{package} is not installed: pip install -e '.[docs,browser]'."
    if folder is None:
        return "No folder of Pyodide's packages is given."
    lock = Path(folder) / "pyodide-lock.json"
    if not lock.is_file():
        return f"There is no file {lock}: unpack a distribution of Pyodide there."
    packages = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    for name in NEEDED:
        if name not in packages or not (lock.parent / packages[name]["file_name"]).is_file():
            return f"There is no wheel of {name} in {folder}: it is not the full distribution."
    return None


def settings(folder, wheel, work=WORK):
    """Return what JupyterLite is told, the wheel of this package; Pyodide is where it looks."""
    place = work / "static" / "pyodide"
    place.parent.mkdir(parents=True, exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(Path(folder).resolve(), target_is_directory=True)
    return {"PipliteAddon": {"piplite_urls": [str(wheel)]}}


def install_first(notebook, name):
    """Let a notebook of the gallery begin with what a browser's Python has to load."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    notebook["cells"].insert(0, cell | {"source": ["%pip install -q pandas sklearn_okl"]})


def main(folder=None):
    """Build the pages, or say why not; return the exit status."""
    if reason := missing(folder):
        print(f"Skipped. {reason}")
        return 0
    WORK.mkdir(parents=True, exist_ok=True)
    make = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "-q",
        "--no-deps",
        "-w",
        str(WORK),
        str(DOCS.parent),
    ]
    subprocess.run(make, check=True)
    wheel = max(WORK.glob("sklearn_okl-*-py3-none-any.whl"), key=os.path.getmtime)
    told = WORK / "jupyter_lite_config.json"
    told.write_text(json.dumps(settings(folder, wheel), indent=2), encoding="utf-8")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-b", "html", str(DOCS)]
    environment = {**os.environ, "OKL_BROWSER": str(told)}
    return subprocess.run([*build, str(DOCS / "_build" / "html")], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
