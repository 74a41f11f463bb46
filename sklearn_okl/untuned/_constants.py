"""What somebody had to choose: every number that shapes the estimators without tuning."""

from dataclasses import dataclass, field
from typing import NamedTuple

from ..features._units import RunningUnits
from .rounds._renewal import Renewal
from .rounds._targets import TargetFence
from .rounds._trust import Trust


class Budget(NamedTuple):
    """What a row may cost.

    Attributes
    ----------
    frequencies : int
        Frequencies per kernel.
    work : float
        Largest sum of D^2 over all experts of D features, those that forget counted three times.
    memories : tuple of float
        Forgetting rates of the experts for drift.
    level_memories : tuple of float
        Those of further linear experts where there are no lags: within some twenty rows they find
        the level at which a drifting stream is.
    n_stacks : int or None
        How many of the regressions of the mixture, the first ones; None: all.
    ranks : bool
        Whether half of the kernels that never forget see ranks in place of the inputs.
    n_links : int
        Links of the chain that learns what the mixture leaves.
    sight : int
        How many of the latest rows are kept at most, of which it is asked whether they explain
        errors: about 17 times the features of a kernel, of which so many tell.
    compact : bool, default=False
        Whether memory counts more than time: no rows are kept from call to call but what targets in
        doubt ask for, and of each expert its sums alone. The work is then that of a plan of its
        own, see `small_plan`.
    n_near : int, default=0
        Of how many of the latest rows the nearest ones are sought, whose errors correct forecasts;
        0 is for none.
    logarithms : bool, default=False
        Whether experts learn logarithms of targets as well.
    """

    frequencies: int
    work: float
    memories: tuple
    level_memories: tuple
    n_stacks: int | None
    ranks: bool
    n_links: int
    sight: int
    compact: bool = False
    n_near: int = 0
    logarithms: bool = False


BUDGETS = {
    "tiny": Budget(18, 17_000, (0.998, 0.995), (), 1, False, 0, 0, compact=True),
    "fast": Budget(25, 0.08e6, (0.995,), (), 1, False, 0, 1024, n_near=2048),
    "balanced": Budget(
        60, 1.8e6, (0.998, 0.99), (0.95,), None, True, 12, 2048, n_near=8192, logarithms=True
    ),
    "accurate": Budget(
        140, 7e6, (0.998, 0.99), (0.95,), None, True, 12, 2048, n_near=16384, logarithms=True
    ),
}
# without a chain there is more for the others
CLASS_BUDGETS = {name: budget._replace(n_links=0) for name, budget in BUDGETS.items()}
CLASS_BUDGETS["balanced"] = CLASS_BUDGETS["balanced"]._replace(frequencies=70, work=2.2e6)


@dataclass(frozen=True)
class Constants:
    """The constants of the estimators without tuning, for subclasses that want others.

    They were chosen on made streams, those of the chain on permuted tables (bias and calhousing
    first), and ``python -m benchmarks default`` varies most of them: forecasts depend little on any
    of them. A class of one's own sets them as its attribute ``constants``.

    Parameters
    ----------
    bandwidths : tuple of (str, tuple of float)
        Kernels and their bandwidths, those of most use first, in units that do not depend on the
        number d of inputs: of standardised rows, two have a squared distance of about 2d and an
        absolute one of about d. Half a decade apart, as a kernel ridge forecaster hardly notices
        less.
    refinement : float
        Factor between the bandwidth of a kernel and those born beside it: about the root of the
        ratio of neighbours, so between two of them.
    teachers : int
        From how many of the best experts a kernel to be born learns the scales of its inputs.
    least_scale : float
        The least of these scales, where the mean of their squares is 1: nothing is given up for
        good.
    n_quantiles : int
        Quantiles per column by which values get ranks.
    alphas : tuple of float
        Ridges of the kernels that never forget, the one of most use first. Those that forget take
        them in the other order: the shorter the past, the less of a ridge it can bear.
    linear_alphas : tuple of float
        Ridges of the linear experts that never forget.
    fading_alpha : float
        Ridge of the linear experts that forget.
    births : tuple of int
        Rounds at which new kernels are born: the best ones and their neighbours, which see each
        input scaled by how much the forecasts of the best so far depend on it. The chain begins
        with the first of them.
    burn_in : int
        Rounds that a kernel born so learns before it is heard, and the chain.
    frequencies : float
        Factor of the number of frequencies per kernel; the work stays the same.
    linear_share : float
        Largest share of the work for the linear experts of one forgetting rate.
    drift_share : float
        Largest share for the kernels of one forgetting rate.
    drift_kernels : int
        And how many these are at most.
    birth_share : float
        Largest share for the kernels to be born.
    link_bandwidths, link_alpha : tuple of float, float
        Bandwidths of the Laplacian kernels of the chain, which take turns, and their ridge.
    link_stride : int
        Links from one of its partial sums that are mixed to the next.
    link_share : float
        Prior weight of all these sums when they are first heard, beside the mixture alone; and of
        what neighbours say.
    neighbours : tuple of int
        Of how many of the nearest rows the errors are averaged, the fewest first.
    fadings, stacks, margin : tuple, tuple, float
        Those of :class:`~sklearn_okl.StackedBOARegressor`, which mixes the experts.
    class_fadings, pools : tuple, tuple
        What mixes experts that forecast classes: fadings of likelihoods, the slowest first, and
        ridge and forgetting of each logistic regression on their log-probabilities.
    units : RunningUnits
        When a column's unit counts as changed, and how far its values count: a dataclass, too.
    trust : Trust
        How long a twin that believes every target goes on, and by what it is judged.
    renewal : Renewal
        How far a model is to be trusted that begins anew where a change is suspected.
    fence : TargetFence
        When a target is not believed, and when their level or unit counts as changed: one more.
    budgets : dict of Budget
        What the names of budgets mean.

    See Also
    --------
    sklearn_okl.OnlineKernelRegressor : The regressor.
    sklearn_okl.OnlineKernelClassifier : The classifier.

    Examples
    --------
    >>> from sklearn_okl import OnlineKernelRegressor
    >>> from sklearn_okl.untuned import Constants
    >>> class WithoutBirths(OnlineKernelRegressor):
    ...     constants = Constants(births=())
    >>> WithoutBirths(budget="fast").fit([[0.0], [1.0]], [0.0, 1.0]).n_samples_seen_
    2
    """

    bandwidths: tuple = (
        ("rbf", (0.2, 0.06, 0.6, 0.02, 2.0)),
        ("laplacian", (0.5, 0.15, 1.5, 0.05)),
        ("matern32", (1.0, 0.3, 3.0, 0.1)),
    )
    refinement: float = 1.8
    teachers: int = 3
    least_scale: float = 0.05
    n_quantiles: int = 128
    alphas: tuple = (0.1, 0.03)
    linear_alphas: tuple = (0.1, 10.0)
    fading_alpha: float = 1.0
    births: tuple = (512, 2048, 8192)
    burn_in: int = 256
    frequencies: float = 1.0
    linear_share: float = 0.2
    drift_share: float = 0.1
    drift_kernels: int = 6
    birth_share: float = 0.3
    link_bandwidths: tuple = (5.0, 2.0)
    link_alpha: float = 3.0
    link_stride: int = 2
    link_share: float = 0.05
    neighbours: tuple = (4, 16)
    fadings: tuple = (0.95, 0.99)
    stacks: tuple = ((4.0, 0.998), (4.0, 1.0), (0.4, 0.99))
    margin: float = 0.1
    class_fadings: tuple = (0.99, 0.95)
    pools: tuple = ((40.0, 1.0), (4.0, 1.0), (40.0, 0.998))
    units: RunningUnits = RunningUnits()  # noqa: RUF009  it is frozen
    fence: TargetFence = TargetFence()  # noqa: RUF009
    trust: Trust = Trust()  # noqa: RUF009
    renewal: Renewal = Renewal()  # noqa: RUF009
    budgets: dict = field(default_factory=BUDGETS.copy)
