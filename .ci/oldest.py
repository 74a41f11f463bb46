"""Print the oldest versions that pyproject.toml promises, as requirements for pip.

    python .ci/oldest.py > oldest.txt && python -m pip install -r oldest.txt

What the package needs, and what its tests compare it with; the test runner itself may be new.
"""

import re
import tomllib
from pathlib import Path

RUNNERS = {"pytest", "pytest-timeout", "pytest-xdist", "ruff"}

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]
for requirement in project["dependencies"] + project["optional-dependencies"]["test"]:
    name, version = re.fullmatch(r"([\w-]+)>=([\d.]+)", requirement).groups()
    print(requirement if name in RUNNERS else f"{name}=={version}")
