"""Words of the sentences that users read."""


def counted(n, what):
    """Return a number of things by their name in the singular: "1 row", "2 rows"."""
    return f"{n} {what}{'' if n == 1 else 's'}"
