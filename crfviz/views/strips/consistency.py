"""Z at every word, and the same table without logarithms, as strips under alpha and beta."""

import math

from crfviz.chain.decoding.analysis import Analysis
from crfviz.chain.demonstrations.log_space import consistency, float32_products
from crfviz.views.stage.parts import Row


def consistency_rows(analysis: Analysis) -> list[Row]:
    """Log Z read at each word, and the forward table as plain float32 products, summed."""
    readings = consistency(analysis.potentials, analysis.forward_backward)
    products = float32_products(analysis.potentials, analysis.forward_backward)
    sums = products.alpha.sum(dim=1).tolist()
    lost = products.lost.sum(dim=1).tolist()
    return [
        Row("log_z", "log Σ α·β", None, texts=[_log(z) for z in readings.at_positions.tolist()]),
        Row("float32", "Σ α, float32", None, texts=[_product(value) for value in sums]),
        Row("lost", "cells lost", None, texts=[str(count) for count in lost]),
    ]


def consistency_note(analysis: Analysis) -> str:
    """Z from alpha, from beta and at every word, and how far they lie apart."""
    readings = consistency(analysis.potentials, analysis.forward_backward)
    if analysis.forward_backward.log_partition == -math.inf:
        return "No tag sequence is allowed: Z is 0 however it is read, and log Z is −∞."
    tokens = analysis.potentials.num_tokens
    return (
        f"log Z from α {_log(readings.from_alpha, 9)}, from β {_log(readings.from_beta, 9)}, "
        f"and at each of the {tokens} words: largest deviation {readings.largest_deviation:.0e}."
    )


def _log(value: float, digits: int = 4) -> str:
    return "−∞" if value == -math.inf else f"{value:.{digits}f}".replace("-", "−")


def _product(value: float) -> str:
    return "0" if value == 0 else f"{value:.0e}"
