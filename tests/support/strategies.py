"""Hypothesis strategies: chains of many shapes and score scales, small enough to enumerate."""

import math

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from crfviz.chain.potentials import Potentials

SCALES = {
    "exact": 1 / 8,  # sums of these are exact: many ties to the last bit
    "rounded": 1 / 7,  # sums of these are rounded: ties that differ in the last bit
    "huge": 25.0,  # up to ±1000
}

fewer_examples = settings(max_examples=settings.default.max_examples // 4)  # for laws, not oracles


@st.composite
def chains(draw, max_tokens=6, max_tags=5, min_tokens=1, *, forbidden=True):
    """Potentials of 1 to `max_tokens` words and 1 to `max_tags` tags.

    Transitions are one matrix or one per step. With `forbidden`, some scores are -inf, so there may
    be no allowed path. Scores are multiples of a scale, so that different sums differ clearly.
    """
    T = draw(st.integers(min_tokens, max_tokens), label="T")
    K = draw(st.integers(1, max_tags), label="K")
    per_step = draw(st.booleans(), label="transitions per step")
    scale = SCALES[draw(st.sampled_from(sorted(SCALES)), label="scale")]
    reach = draw(st.sampled_from([40, 1]), label="reach")  # 1: a few scores only, so many ties
    wall = draw(st.sampled_from([256, 240, 200]) if forbidden else st.just(256), label="wall")
    shapes = [(T, K), (T - 1, K, K) if per_step else (K, K), (K,), (K,)]
    sizes = [math.prod(shape) for shape in shapes]
    drawn = np.frombuffer(draw(st.binary(min_size=sum(sizes), max_size=sum(sizes))), np.uint8)
    steps = (drawn.astype(float) + reach) % (2 * reach + 1) - reach  # -reach to reach; byte 0 is 0
    scores = np.where(drawn >= wall, -np.inf, steps * scale)
    parts = np.split(scores, np.cumsum(sizes)[:-1])
    return Potentials(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))


def random_chain(seed, num_tokens, num_tags, scale=2.0):
    """Return a chain with normally distributed scores; it may be too large to enumerate."""
    generator = np.random.default_rng(seed)
    shapes = [(num_tokens, num_tags), (num_tags, num_tags), (num_tags,), (num_tags,)]
    return Potentials(*(generator.normal(0, scale, shape) for shape in shapes))
