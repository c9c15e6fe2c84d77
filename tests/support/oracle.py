"""Brute-force oracle: enumerates every path of a small chain, in plain Python floats.

Shares no code and no algorithm with crfviz; it only knows the score of one path. A chain is any
object with emissions, transitions, start and end that can be converted to lists.
"""

import itertools
import math
from collections import defaultdict
from functools import lru_cache

NEVER = -math.inf


def paths(chain):
    """Return all K^T paths with their scores, including forbidden ones, as {path: score}."""
    return _paths(*map(_frozen, (chain.emissions, chain.transitions, chain.start, chain.end)))


def allowed(chain):
    """Return the paths with a finite score, best first."""
    finite = [(score, path) for path, score in paths(chain).items() if score > NEVER]
    return [(path, score) for score, path in sorted(finite, reverse=True)]


def log_partition(chain):
    return _log_sum(paths(chain).values())


def best_score(chain):
    return max(paths(chain).values())


def best_paths(chain, within=1e-9):
    best = best_score(chain)
    return [path for path, score in paths(chain).items() if score >= best - within]


def probability(chain, path):
    return math.exp(paths(chain)[tuple(path)] - log_partition(chain))


def marginals(chain):
    """Return {(t, k): probability} for the cells on allowed paths."""
    return _mass(chain, lambda path: enumerate(path))


def edge_marginals(chain):
    """Return {(t, (j, k)): probability} for the transitions on allowed paths."""
    return _mass(chain, lambda path: enumerate(itertools.pairwise(path)))


def entropy(chain):
    total = log_partition(chain)
    return math.fsum(math.exp(score - total) * (total - score) for _, score in allowed(chain))


def log_alpha(chain, t, k):
    """Return the log-sum of prefixes that end in k at t: paths of a chain cut off after t."""
    return _log_sum(_prefixes(chain, t, k))


def best_prefix(chain, t, k):
    return max(_prefixes(chain, t, k))


def log_beta(chain, t, k):
    """Return the log-sum of the suffixes after t, over paths with tag k at t."""
    emissions, transitions, end = map(_frozen, (chain.emissions, chain.transitions, chain.end))
    num_tokens, num_tags = len(emissions), len(end)
    steps = _steps(transitions, num_tokens)
    scores = []
    for suffix in itertools.product(range(num_tags), repeat=num_tokens - t - 1):
        path = (k, *suffix)
        score = end[path[-1]]
        for i in range(1, len(path)):
            score += emissions[t + i][path[i]]
            score += steps[t + i - 1][path[i - 1]][path[i]]
        scores.append(score)
    return _log_sum(scores)


def _mass(chain, parts):
    """Return, for each part, the total probability of the paths that contain it."""
    total = log_partition(chain)
    masses = defaultdict(float)
    for path, score in allowed(chain):
        for part in parts(path):
            masses[part] += math.exp(score - total)
    return masses


def _prefixes(chain, t, k):
    emissions, transitions, start = map(_frozen, (chain.emissions, chain.transitions, chain.start))
    free = (0.0,) * len(start)
    steps = transitions[:t] if _is_per_step(transitions) else transitions
    prefixes = _paths(emissions[: t + 1], steps, start, free)
    return [score for path, score in prefixes.items() if path[-1] == k]


@lru_cache(maxsize=64)
def _paths(emissions, transitions, start, end):
    scores = {}
    steps = _steps(transitions, len(emissions))
    for path in itertools.product(range(len(start)), repeat=len(emissions)):
        score = start[path[0]] + end[path[-1]]
        for emission, tag in zip(emissions, path, strict=True):
            score += emission[tag]
        for step, move in zip(steps, itertools.pairwise(path), strict=True):
            score += step[move[0]][move[1]]
        scores[path] = score
    return scores


def _steps(transitions, num_tokens):
    return transitions if _is_per_step(transitions) else (transitions,) * (num_tokens - 1)


def _is_per_step(transitions):
    return not transitions or isinstance(transitions[0][0], tuple)


def _log_sum(scores):
    scores = list(scores)
    best = max(scores)
    if best == NEVER:
        return NEVER
    return best + math.log(math.fsum(math.exp(score - best) for score in scores))


def _frozen(scores):
    """Convert scores to nested tuples of floats."""

    def freeze(value):
        return tuple(map(freeze, value)) if isinstance(value, list) else value

    return freeze(scores.tolist())
