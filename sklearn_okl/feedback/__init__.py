"""Who answers a round: samplers of one kernel, and feedback graphs whose nodes ask several.

A sampler is a :class:`sklearn_okl.base.Sampler`, a graph a :class:`FeedbackGraph`.
"""

from ._bandits import AdaptiveExp3Sampler, Exp3Sampler, TsallisSampler
from ._bipartite import BipartiteGraph
from ._graphs import FeedbackGraph
from ._similarity import RefinedSimilarityGraph, SimilarityGraph

__all__ = [
    "AdaptiveExp3Sampler",
    "BipartiteGraph",
    "Exp3Sampler",
    "FeedbackGraph",
    "RefinedSimilarityGraph",
    "SimilarityGraph",
    "TsallisSampler",
]

for class_ in (
    AdaptiveExp3Sampler,
    BipartiteGraph,
    Exp3Sampler,
    FeedbackGraph,
    RefinedSimilarityGraph,
    SimilarityGraph,
    TsallisSampler,
):
    class_.__module__ = __name__
del class_
