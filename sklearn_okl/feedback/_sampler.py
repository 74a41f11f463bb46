"""Who is asked next under bandit feedback: the contract of samplers."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

import numpy as np

from .._types import Any

_OFF = 1e-3  # from 1: numbers may be of float32
_SIZES = "losses", "variance", "gradients_sq", "weights", "etas", "thresholds", "eta", "exploration"


class Sampler:
    """Base of the rules that draw one of K arms (kernels) per round and learn its loss alone.

    A sampler holds settings only; what it learns is a state, a dict of arrays and scalars. The
    engine draws by the law in it, and learns with the step that the sampler gives back: a round's
    loss and gradient are divided by the probability of the draw, so that the step size of the arm's
    own learner is part of the same analysis.

    See Also
    --------
    KernelSelector : Whose `_sampler` returns one.

    Examples
    --------
    Arms drawn evenly, whatever they lose, each with steps that shrink as the root of its draws:

    >>> import numpy as np
    >>> from sklearn_okl.base import Sampler
    >>> class EvenSampler(Sampler):
    ...     def __init__(self, n_arms):
    ...         self.n_arms = n_arms
    ...
    ...     def start(self):
    ...         law = np.full(self.n_arms, 1 / self.n_arms)
    ...         return {"probabilities": law, "draws": np.zeros(self.n_arms)}
    ...
    ...     def credit(self, state, arm, loss, gradient_sq):
    ...         state["draws"][arm] += 1
    ...         return 0.5 / state["draws"][arm] ** 0.5
    >>> sampler = EvenSampler(4)
    >>> state = sampler.start()
    >>> sampler.credit(state, 2, loss=0.3, gradient_sq=1.2)
    np.float64(0.5)
    """

    def start(self) -> Any:
        """Return the state before the first round.

        Returns
        -------
        dict
            With "probabilities" (K,), the law of the first draw; whatever else the rule keeps.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it starts.")

    def draw(self, state: dict[str, Any], uniform: float) -> int:
        """Draw the next arm by the law in the state.

        Parameters
        ----------
        state : dict
            As `start` returned it, and `credit` left it.
        uniform : float
            A number drawn from [0, 1).

        Returns
        -------
        arm : int
            The first arm at which the cumulated law exceeds the number.
        """
        cumulated = list(accumulate(state["probabilities"].tolist()))
        arm = bisect_right(cumulated, uniform * cumulated[-1])
        return min(arm, len(cumulated) - 1)  # u * total may round up to the total

    def credit(self, state: dict[str, Any], arm: int, loss: float, gradient_sq: float) -> float:
        """Learn the loss of the arm that was drawn, and set the law of the next draw.

        Parameters
        ----------
        state : dict
            To be edited in place; "probabilities" then are the law of the next draw.
        arm : int
            The arm drawn.
        loss : float
            Its loss.
        gradient_sq : float
            Squared norm of the loss's gradient in the arm's function space.

        Returns
        -------
        step : float
            What multiplies the gradient in the arm's own descent: its step size over the
            probability of the draw.
        """
        raise NotImplementedError(f"{type(self).__name__} does not learn.")


def is_sound(state):
    """Tell whether a part of a state, as from a file, may be a law of draws and sums of losses."""
    law, sizes = state["probabilities"], [state[name] for name in _SIZES if name in state]
    return bool((law >= 0.0).all() and abs(law.sum() - 1.0) <= _OFF) and all(
        bool((np.asarray(size) >= 0.0).all()) for size in sizes
    )
