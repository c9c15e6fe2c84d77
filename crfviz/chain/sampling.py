"""Exact samples from the distribution over paths."""

import torch
from torch import Tensor

from crfviz.chain import recursions
from crfviz.chain.paths import Path, probability, require_path
from crfviz.chain.potentials import Potentials
from crfviz.exceptions import CrfvizError


def sample(potentials: Potentials, n: int, generator: torch.Generator) -> list[Path]:
    """Paths drawn independently from p(y | x), by forward filtering and backward sampling.

    The last tag is drawn from p(y_T | x), then each tag before it from p(y_t | y_{t+1}, x), which
    is proportional to exp(α_t(y_t) + w(y_t, y_{t+1})).

    Args:
        potentials: scores of one sentence.
        n: how many paths, at least 0.
        generator: source of randomness, on the CPU.

    Raises:
        NoPathError: every path is forbidden.
        CrfvizError: `n` is negative.

    Source:
        Scott, "Bayesian Methods for Hidden Markov Models" (2002).

    Example:
        >>> coin = Potentials([[0.0, 0.0]] * 3, [[0.0, 0.0], [0.0, 0.0]])
        >>> [f"{path.probability:.3f}" for path in sample(coin, 2, torch.Generator())]
        ['0.125', '0.125']
    """
    if n < 0:
        raise CrfvizError(f"n must be 0 or more, got {n}")
    with torch.no_grad():
        transitions, end = potentials.transitions, potentials.end
        log_alpha = recursions.forward(potentials.emissions, transitions, potentials.start)
        final = log_alpha[-1] + end
        require_path(log_alpha, final)

        def draw(scores: Tensor) -> Tensor:
            chances = torch.softmax(scores, -1).expand(n, -1)
            return torch.multinomial(chances, 1, generator=generator).squeeze(-1)

        tags = torch.stack(recursions.walk_back(log_alpha, transitions, end, draw), -1)
        scores = recursions.path_score(
            potentials.emissions, transitions, potentials.start, end, tags
        )
        log_partition = torch.logsumexp(final, -1).item()
    return [
        Path(path, score, probability(score, log_partition))
        for path, score in zip(tags.tolist(), scores.tolist(), strict=True)
    ]
