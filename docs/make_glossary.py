"""The words of our own in the estimators without tuning, made a table for the documentation.

Where the field has a word, the code uses it: buffer, snapshot, prior, burn-in, lag, specialist.
What is left is here. `tests/test_docs.py` looks each word up in the file that it is said to be in.
"""

# word -> (what it means, what the field would call it or what it is akin to, file)
WORDS = {
    "row": (
        "One line of X with its target; the first axis of every array.",
        "sample, instance",
        "rounds/_rounds.py",
    ),
    "round": (
        "A row is forecast, its target comes, it is learnt. Late labels part the two ends.",
        "trial, time step",
        "rounds/_rounds.py",
    ),
    "layout": (
        "Which columns are categories, have indicators, go to a tree, or say what is missing.",
        "schema",
        "rows/_layout.py",
    ),
    "gap": ("A missing number in a row.", "missing value", "rows/_gaps.py"),
    "steady": (
        "In units that stay as they were first known, so that a line stays a line.",
        "frozen standardisation",
        "rows/_inputs.py",
    ),
    "strange": (
        "Of a row: far from the row before in some column, so that it may explain its target.",
        "covariate shift, leverage point",
        "rows/_inputs.py",
    ),
    "bank": (
        "Experts of one shape, whose arrays have a leading axis and are learnt by one product.",
        "batch of models",
        "experts/_banks.py",
    ),
    "born": (
        "Of an expert: begun in mid-stream, near the best ones so far.",
        "sleeping expert that awakes",
        "experts/_plan.py",
    ),
    "heard": (
        "Of an expert, a twin or a chain: past its burn-in, so that it has a say.",
        "awake",
        "experts/_experts.py",
    ),
    "walk": (
        "The last target, with or without its mean step on top, as a forecast.",
        "naive forecast, drift method",
        "rows/_inputs.py",
    ),
    "reference": (
        "The best kernel that sees no lags: a line through its forecasts tells a new unit.",
        "",
        "experts/_numbers.py",
    ),
    "chain": (
        "Links of kernels, each of which learns what those before it leave.",
        "boosting stages",
        "experts/_boosting.py",
    ),
    "kind": (
        "Numbers or classes: what experts are scored and mixed by.",
        "task",
        "experts/_experts.py",
    ),
    "silent": (
        "Of a batch model: without a fit yet, so that it forecasts NaN and has no weight.",
        "sleeping expert",
        "experts/_trees.py",
    ),
    "guard": (
        "What watches the targets while rows are learnt.",
        "outlier and change detection",
        "rounds/_guard.py",
    ),
    "fence": (
        "How far from its forecast a target may be before it is in doubt.",
        "outlier threshold (Tukey's fences)",
        "rounds/_targets.py",
    ),
    "doubt": (
        "Of a target: it may be a fault or the first of a new level, and nobody knows yet.",
        "suspected outlier",
        "rounds/_targets.py",
    ),
    "dispute": (
        "Rows in a row in doubt that agree with each other.",
        "suspected level shift",
        "rounds/_targets.py",
    ),
    "level": (
        "What targets are measured from, where it moves: sensors are replaced, prices are reset.",
        "level shift",
        "rounds/_targets.py",
    ),
    "unit": (
        "The distance in which targets are measured.",
        "scale",
        "rounds/_targets.py",
    ),
    "none": (
        "A number that comes again and again where targets are absent, such as -9999.",
        "sentinel value",
        "rounds/_targets.py",
    ),
    "twin": (
        "A copy of the model that goes on beside it and believes every target.",
        "challenger model",
        "rounds/_trust.py",
    ),
    "beside": (
        "Learning the same rows, while odds say which of two models is to be heard.",
        "champion and challenger",
        "rounds/_trust.py",
    ),
    "anew": (
        "Of a model: without a past, begun where a change is suspected.",
        "reset, restart",
        "rounds/_renewal.py",
    ),
    "restless": (
        "Of a target: its level moved often within a block; columns may say what it follows.",
        "",
        "rounds/_blocks.py",
    ),
    "former": (
        "The model before it learnt its first rows again, kept while its forecasts have no labels.",
        "snapshot",
        "rounds/_restarts.py",
    ),
    "latest": (
        "Rows as they came, as many as may have to be learnt again.",
        "buffer",
        "rounds/_restarts.py",
    ),
    "forgive": (
        "Of intervals: let misses not widen them that had a cause which is gone.",
        "",
        "../conformal/_running_errors.py",
    ),
}


def glossary():
    """Return the table in Markdown, in the order of the alphabet."""
    lines = ["| word | what it means | in the field | first seen in |", "|---|---|---|---|"]
    for word, (meaning, field, file) in sorted(WORDS.items()):
        lines.append(f"| **{word}** | {meaning} | {field or 'no word that we know'} | `{file}` |")
    return "\n".join(lines)
