"""Who answers a round when a drawn node asks several kernels: the contract of feedback graphs.

A graph is a boolean array (K, J): ``graph[i, j]`` tells whether node j asks kernel i.
"""

from __future__ import annotations

import numpy as np

from .._types import Any, Array, Seed


class FeedbackGraph:
    """Base of the rules that draw one of J nodes per round, which asks its kernels.

    A graph holds settings only; what it makes and learns is a state, a dict of arrays and scalars.
    After a draw the engine finds in it

    - "node", the node drawn, and "probabilities" (J,), the law of the draw;
    - "asked", the kernels to be taught, of which the first "n_combined" make the forecast;
    - "chances", the probability of each kernel asked to be asked, by which losses are divided.

    See Also
    --------
    BipartiteGraph : Nodes that draw kernels by their weights.
    SimilarityGraph : Nodes that are kernels, and ask others far from them.

    Examples
    --------
    Every node asks two kernels, and is as likely as any other:

    >>> import numpy as np
    >>> from sklearn_okl.feedback import FeedbackGraph
    >>> class Pairs(FeedbackGraph):
    ...     def start(self, kernels):
    ...         return {"probabilities": np.full(len(kernels), 1 / len(kernels))}
    ...
    ...     def draw(self, state, log_weights, t, rng):
    ...         n_kernels = len(log_weights)
    ...         node = rng.randint(n_kernels)
    ...         state["node"] = node
    ...         state["asked"] = np.array([node, (node + 1) % n_kernels])
    ...         state["n_combined"] = 2
    ...         state["chances"] = np.full(2, 2 / n_kernels)
    ...
    ...     def edges(self, state):
    ...         nodes = np.eye(len(state["probabilities"]), dtype=bool)
    ...         return nodes | np.roll(nodes, 1, axis=0)
    >>> graph = Pairs()
    >>> state = graph.start([{}, {}, {}, {}])
    >>> graph.draw(state, np.zeros(4), 1, np.random.RandomState(0))
    >>> graph.edges(state)[state["asked"], state["node"]]
    array([ True,  True])
    """

    def start(self, kernels: Any) -> Any:
        """Return the state before the first draw.

        Parameters
        ----------
        kernels : list of dict
            The dictionary: "kernel" and "gamma" of each, a number.

        Returns
        -------
        dict
            What the rule keeps.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say how it starts.")

    def draw(self, state: dict[str, Any], log_weights: Any, t: int, rng: Seed) -> None:
        """Draw the node of a round, at the end of the round before.

        Parameters
        ----------
        state : dict
            To be edited in place.
        log_weights : ndarray of shape (K,)
            Logarithms of the kernels' weights, up to a constant.
        t : int
            The number of the round, from 1.
        rng : RandomState
            The source of draws.
        """
        raise NotImplementedError(f"{type(self).__name__} does not draw.")

    def edges(self, state: Any) -> Any:
        """Return which kernels (K, J) each node asks in the round drawn for."""
        raise NotImplementedError(f"{type(self).__name__} does not show its edges.")

    def credit(self, state: dict[str, Any], eta: float, loss: float) -> None:
        """Learn the loss of the forecast that the node drawn has made; by default nothing.

        Parameters
        ----------
        state : dict
            To be edited in place.
        eta : float
            The round's learning rate.
        loss : float
            The loss.
        """

    def pool(self, state: Any, t: Any) -> tuple[Array, bool]:
        """Return the kernels that round t and those after it may ask, as far as that is known.

        Returns
        -------
        kernels : ndarray of int
            At least those that round t asks.
        stays : bool
            Whether later rounds will ask none but these: features are then computed for blocks of
            rows. By default not.
        """
        return state["asked"], False


def draw(probabilities, uniforms):
    """Turn uniform numbers into indices drawn from a law, by the inverse of its distribution.

    Parameters
    ----------
    probabilities : ndarray of shape (J,)
        The law; a factor common to all is allowed.
    uniforms : float or ndarray
        Numbers from [0, 1).

    Returns
    -------
    int or ndarray of int
        For each number u the first index at which the cumulated law exceeds u.
    """
    cumulated = probabilities.cumsum()
    indices = cumulated.searchsorted(uniforms * cumulated[-1], side="right")
    return np.minimum(indices, len(cumulated) - 1)  # u * total may round up to the total
