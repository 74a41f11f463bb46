"""By what a small model learns units and doubts targets: blocks of fewer rows, which it keeps."""

from dataclasses import replace


def units_of(budget, constants):
    """Return how units are learnt: by a small model in blocks of fewer rows, which it keeps."""
    units = constants.units
    if not budget.compact:
        return units
    block, patience, rare = units.block // 4, 4 * units.patience, units.rare // 4
    return replace(units, block=block, patience=patience, rare=rare)


def fence_of(budget, constants):
    """Return what doubts targets: a small model judges its first two blocks as a whole.

    Others judge later ones, too, and keep rows until then.
    """
    fence = constants.fence
    if not budget.compact:
        return fence
    reviews = tuple(age for age in fence.reviews if age <= 2 * fence.block)
    return replace(fence, reviews=reviews, latest=(fence.latest + 1) // 2)
