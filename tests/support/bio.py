"""Random small BIO chains, and a plain-Python reader of entities as the oracle."""

from dataclasses import replace

from hypothesis import strategies as st

from crfviz.chain.constraints import constrain
from tests.support import oracle
from tests.support.strategies import chains

NAMES = ["B-X", "I-X", "O", "I-Y", "B-Y"]  # four of them have an I-Y that never continues anything


@st.composite
def bio_chains(draw, max_tokens=4):
    """Draw a chain with BIO tags and at least one allowed path, with or without constraints."""
    constrained = draw(st.booleans(), label="constrained")

    def named(chain):
        chain = replace(chain, tags=NAMES[: chain.num_tags])
        return constrain(chain) if constrained else chain

    return draw(chains(max_tokens=max_tokens, max_tags=5).map(named).filter(oracle.allowed))


def entities(tags):
    """Return (label, first, last) of each entity in tag names; an orphan I-X belongs to none."""
    found = []
    for t, tag in enumerate(tags):
        if tag.startswith("B-"):
            found.append((tag[2:], t, t))
        elif tag.startswith("I-") and found and found[-1][0::2] == (tag[2:], t - 1):
            found[-1] = (*found[-1][:2], t)
    return found


def is_legal(tags):
    """Return whether every I-X directly follows a B-X or I-X."""
    return all(
        not tag.startswith("I-") or before in (f"B-{tag[2:]}", tag)
        for before, tag in zip(["", *tags], tags, strict=False)
    )
