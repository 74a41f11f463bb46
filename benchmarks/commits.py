"""Speed over commits: python -m benchmarks.commits v0.1.0 HEAD~10 HEAD [--turns 5].

Each commit is checked out beside the clone and measured in processes of its own, in turns, so that
what else the machine does meets all of them alike; the least processor time of all turns counts.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMPORT = "import"


def measure():
    """Return milliseconds of processor time of this tree by name: the import, rows, single rows."""
    import sklearn.linear_model  # noqa: F401  what everybody has loaded

    seconds = {IMPORT: _seconds(lambda: __import__("sklearn_okl"))}
    import sklearn_okl
    from sklearn_okl.datasets import make_friedman_stream

    X, y = make_friedman_stream(1500, n_features=8, random_state=0)
    models = {
        "OnlineKernelRegressor": {"budget": "fast", "random_state": 0},
        "VAWRegressor": {},
        "VAW2Regressor": {"n_components": 50, "random_state": 0},
        "RakerRegressor": {"random_state": 0},
        "RFOKSPlusPlusRegressor": {"random_state": 0},
    }
    for name, arguments in models.items():
        model = getattr(sklearn_okl, name)(**arguments).fit(X[:500], y[:500])
        # twice: what is imported with its first use is no cost of a row
        calls = [_seconds(lambda m=model: m.partial_fit(X[500:], y[500:])) for _ in range(2)]
        seconds[f"{name}, a row of 1000"] = min(calls) / 1000
        rows = [slice(i, i + 1) for i in range(100)]
        alone = min(_seconds(lambda m=model, r=r: m.partial_fit(X[r], y[r])) for r in rows)
        seconds[f"{name}, a row alone"] = alone
    return {name: 1e3 * value for name, value in seconds.items()}


def _seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def main(arguments=None):
    """Measure some commits and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.commits", description=__doc__)
    parser.add_argument("commits", nargs="+", help="anything that git knows by name")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args(arguments)
    least = {commit: {} for commit in options.commits}
    with checked_out(options.commits) as trees:
        for _ in range(options.turns):
            for commit, tree in trees.items():
                for name, value in _measured(tree).items():
                    least[commit][name] = min(value, least[commit].get(name, value))
    print(table(least))


@contextmanager
def checked_out(commits):
    """Give a dict of commit to its tree, in a folder that is there for a while."""
    with tempfile.TemporaryDirectory() as folder:
        trees = {commit: Path(folder, str(i)) for i, commit in enumerate(dict.fromkeys(commits))}
        try:
            for commit, tree in trees.items():
                _git("worktree", "add", "--detach", str(tree), commit)
            yield trees
        finally:
            for tree in trees.values():
                if tree.exists():
                    _git("worktree", "remove", "--force", str(tree))


def table(least):
    """Return milliseconds as Markdown, and the last commit's as a multiple of the first one's."""
    commits = list(least)
    lines = ["| ms | " + " | ".join(commits) + " | last / first |"]
    lines.append("|---|" + "--:|" * (len(commits) + 1))
    for name in least[commits[-1]]:
        values = [least[commit].get(name) for commit in commits]
        known = [value for value in values if value is not None]
        cells = ["" if value is None else f"{value:.3g}" for value in values]
        lines.append(f"| {name} | {' | '.join(cells)} | {known[-1] / known[0]:.2f} |")
    return "\n".join(lines)


def _measured(tree):
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    program = f"import sys; sys.path.insert(1, {str(Path(__file__).parent)!r})\n"
    program += "import json, commits; print(json.dumps(commits.measure()))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=tree, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def _git(*arguments):
    subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True)


if __name__ == "__main__":
    main()
