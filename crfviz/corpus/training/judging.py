"""How good averaged weights are on dev: words right for plain tags, entity F1 for BIO."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch

from crfviz.chain.constraints import bio_rules
from crfviz.chain.crf import CRF
from crfviz.corpus.training.batches import collate
from crfviz.corpus.training.optimisation import Corpus
from crfviz.taggers.neural.network import Network
from crfviz.text.schemes import is_bio, spans

SENTENCES_AT_ONCE = 64


def constrained_crf(crf: CRF, tags: Sequence[str]) -> CRF:
    """The CRF with what BIO forbids at -inf; the same one for plain tags."""
    if not is_bio(tags):
        return crf
    rules = bio_rules(tags)
    other = copy.deepcopy(crf)
    with torch.no_grad():
        device = crf.transitions.device
        other.transitions.masked_fill_(~rules.transitions.to(device), -torch.inf)
        other.start_transitions.masked_fill_(~rules.start.to(device), -torch.inf)
    return other


def dev_score(network: Network, corpus: Corpus, device: torch.device) -> float:
    """Share of words that Viterbi gets right, or entity F1 by constrained Viterbi: in [0, 1]."""
    crf = constrained_crf(network.crf, corpus.tags)
    gold: list[list[str]] = []
    guess: list[list[str]] = []
    ordered = sorted(corpus.dev, key=lambda sentence: len(sentence.tokens))
    with torch.no_grad():
        for start in range(0, len(ordered), SENTENCES_AT_ONCE):
            group = ordered[start : start + SENTENCES_AT_ONCE]
            inputs = collate(group, corpus.vocabulary).inputs.to(device)
            paths = crf.decode(network.emissions(inputs), inputs.mask)
            guess += [[corpus.tags[tag] for tag in path] for path in paths]
            gold += [[corpus.tags[tag] for tag in sentence.tags or ()] for sentence in group]
    if is_bio(corpus.tags):
        return entity_f1(gold, guess)
    right = sum(a == b for x, y in zip(gold, guess, strict=True) for a, b in zip(x, y, strict=True))
    return right / sum(map(len, gold))


def entity_f1(gold: Sequence[Sequence[str]], guess: Sequence[Sequence[str]]) -> float:
    """F1 of entities that agree in type and both ends; 0 where there is none to find or found."""
    truth = {(i, span) for i, tags in enumerate(gold) for span in spans(tags)}
    found = {(i, span) for i, tags in enumerate(guess) for span in spans(tags)}
    return 2 * len(truth & found) / max(1, len(truth) + len(found))
