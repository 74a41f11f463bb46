"""Ghari, Shen (2023): Algorithms 1-6 as literal loops over rounds, nodes and kernels.

The uniform numbers of a round are drawn in this order: for OMKL-GF, while the graph is made
afresh, M for the first selective node, M for the second, and so on; then one for the node. For
OMKL-SFG and -R one for the node, while it is drawn.
"""

import numpy as np


def similarity_graph(distances, n_selected):
    """Algorithm 4; entry (i, j): whether i is an out-neighbour of j."""
    K = len(distances)
    graph = np.zeros((K, K), dtype=bool)
    for j in range(K):
        members = [j]
        while len(members) < min(n_selected, K):
            sums = [
                -1.0 if i in members else sum(distances[i, m] for m in members) for i in range(K)
            ]
            members.append(int(np.argmax(sums)))
        graph[members, j] = True
    return graph


def set_cover(graph):
    """Chvatal's greedy heuristic."""
    K = len(graph)
    uncovered, cover = set(range(K)), []
    while uncovered:
        gains = [sum(graph[i, j] for i in uncovered) for j in range(K)]
        cover.append(int(np.argmax(gains)))
        uncovered -= {i for i in range(K) if graph[i, cover[-1]]}
    return cover


def refined_graph(graph, distances, dominating):
    """Algorithm 6 with eq. (45)."""
    refined = graph.copy()
    members = [j for j in range(len(graph)) if dominating[j]]
    for i in range(len(graph)):
        if not dominating[i]:
            refined[i, max(members, key=lambda j, i=i: distances[i, j])] = True
    return refined


def _drawn(law, uniform):
    total = 0.0
    for index, probability in enumerate(law):
        total += probability
        if uniform < total:
            return index
    return len(law) - 1


def _features(x, omega):
    angles = x @ omega
    return np.concatenate([np.sin(angles), np.cos(angles)]) / np.sqrt(omega.shape[1])


def _learn(theta, w, x, y, frequencies, asked, q, eta, shrinkage, bound):
    """Eq. (14)-(16), or (35), (38), (39a); return the forecasts of the kernels asked."""
    forecasts = {}
    for i in asked:
        z = _features(x, frequencies[i])
        forecasts[i] = theta[i] @ z
        loss = (forecasts[i] - y) ** 2 + shrinkage * theta[i] @ theta[i]
        gradient = 2 * (forecasts[i] - y) * z + 2 * shrinkage * theta[i]
        theta[i] = theta[i] - eta * gradient / max(q[i], bound)
        w[i] *= np.exp(-eta * loss / max(q[i], bound))
    return forecasts


def _mean(w, forecasts, members):
    return sum(w[i] * forecasts[i] for i in members) / sum(w[i] for i in members)


def omkl_gf(
    X,
    y,
    frequencies,
    rng,
    J=2,
    M=10,
    eta0=0.1,
    power_t=0.5,
    shrinkage=1e-3,
    exploration0=0.1,
    freeze_after=300,
    bound=0.05,
):
    """Algorithm 3."""
    K, D = len(frequencies), 2 * frequencies[0].shape[1]
    theta, w = np.zeros((K, D)), np.ones(K)
    out = np.empty(len(y))
    for t in range(1, len(y) + 1):
        eta, eta_e = eta0 / t**power_t, exploration0 / t**power_t
        if t <= freeze_after:  # Algorithm 2
            pi, A = np.zeros((K, J)), np.zeros((K, J), dtype=bool)
            for j in range(J):
                for i in range(K):
                    pi[i, j] = (1 - eta_e ** (j + 1)) * w[i] / w.sum() + eta_e ** (j + 1) / K
            for j in range(J):
                for _ in range(M):
                    A[_drawn(pi[:, j], rng.random_sample()), j] = True
        u = np.array([w[A[:, j]].sum() for j in range(J)])  # eq. (18)
        p = (1 - eta_e) * u / u.sum() + eta_e / J  # eq. (19)
        node = _drawn(p, rng.random_sample())
        q = (1 - (1 - pi) ** M) @ p  # eq. (21)
        asked = [i for i in range(K) if A[i, node]]
        before = w.copy()
        forecasts = _learn(
            theta, w, X[t - 1], y[t - 1], frequencies, asked, q, eta, shrinkage, bound
        )
        out[t - 1] = _mean(before, forecasts, asked)  # eq. (17)
    return out, w / w.sum()


def omkl_sfg(
    X,
    y,
    frequencies,
    rng,
    distances,
    M=10,
    eta0=0.1,
    power_t=0.5,
    shrinkage=1e-3,
    exploration0=0.1,
    freeze_after=300,
    bound=0.1,
    node_bound=0.2,
    n_dominating=None,
    program=False,
):
    """Algorithm 5, and with `n_dominating` Algorithm 6.

    With `program` nodes are drawn as in the published program: the one after the one drawn; after
    `freeze_after` rounds node 0 in Algorithm 5, and in Algorithm 6 still a drawn one. And the first
    of the best nodes asks all kernels, for there all distances are NaN.
    """
    K, D = len(frequencies), 2 * frequencies[0].shape[1]
    graph = similarity_graph(distances, M)
    dominating = np.isin(np.arange(K), set_cover(graph))
    refined = graph
    theta, w, u = np.zeros((K, D)), np.ones(K), np.ones(K)
    out = np.empty(len(y))
    for t in range(1, len(y) + 1):
        eta, xi = eta0 / t**power_t, exploration0 / t**power_t
        if n_dominating is not None and t <= freeze_after:  # eq. (44) with the settings' beta
            dominating = u >= np.sort(u)[-min(n_dominating, K)]
            refined = refined_graph(graph, distances, dominating)
            if program:
                refined = graph.copy()
                refined[:, list(dominating).index(True)] = True
        p = (1 - xi) * u / u.sum() + xi / dominating.sum() * dominating  # eq. (33), (46)
        if t <= freeze_after or (program and n_dominating is not None):
            node = _drawn(p, rng.random_sample())
            if program:
                node = min(node + 1, K - 1)
        elif program:
            node = 0
        elif t == freeze_after + 1:
            node = int(np.argmax(u))
        q = [sum(p[j] for j in range(K) if refined[i, j]) for i in range(K)]  # eq. (36)
        asked = [i for i in range(K) if refined[i, node]]
        before = w.copy()
        forecasts = _learn(
            theta, w, X[t - 1], y[t - 1], frequencies, asked, q, eta, shrinkage, bound
        )
        combined = [i for i in range(K) if graph[i, node]]
        out[t - 1] = _mean(before, forecasts, combined)  # eq. (34), (47)
        loss = (out[t - 1] - y[t - 1]) ** 2
        u[node] *= np.exp(-eta * loss / max(p[node], node_bound))  # eq. (37), (39b)
    return out, w / w.sum()


def neighbours(X, y, frequencies, rng, exploration=0.2, eta0=0.1, power_t=0.5, shrinkage=1e-3):
    """A kernel drawn by its weight asks itself and those beside it; losses are divided by q."""
    K, D = len(frequencies), 2 * frequencies[0].shape[1]
    theta, w = np.zeros((K, D)), np.ones(K)
    out = np.empty(len(y))
    for t in range(1, len(y) + 1):
        p = (1 - exploration) * w / w.sum() + exploration / K
        node = _drawn(p, rng.random_sample())
        beside = [[j for j in (i - 1, i, i + 1) if 0 <= j < K] for i in range(K)]
        q = [sum(p[j] for j in beside[i]) for i in range(K)]
        eta, before = eta0 / t**power_t, w.copy()
        forecasts = _learn(
            theta, w, X[t - 1], y[t - 1], frequencies, beside[node], q, eta, shrinkage, 0.05
        )
        out[t - 1] = _mean(before, forecasts, beside[node])
    return out, w / w.sum()
