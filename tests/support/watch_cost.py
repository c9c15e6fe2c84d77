"""Cost of `crfviz.watch`: the time of a forward pass, and the memory of the recorded scores."""

import statistics
import time

import torch

import crfviz
from tests.support import unknown_layers as layers

TAGS = {"B": 0, "I": 1, "O": 2, layers.START: 3, layers.STOP: 4}
KINDS = {  # layer factory, form of its arguments, and calls per pass over 16 sentences
    "BiLSTM-CRF, one sentence a call": (lambda: layers.OneByOne(TAGS), "sentence", 16),
    "start and end vectors, masks": (layers.Constrained, "mask", 4),
    "padded paths, START and STOP": (layers.TwoMore, "mask", 4),
}


def cost(name, rounds):
    """Measure median CPU times with and without the recorder, alternately, and its memory."""
    torch.manual_seed(0)
    make, arguments, number = KINDS[name]
    model = make().eval()
    calls = list(layers.batches(arguments, number))
    times = {False: [], True: []}
    with torch.no_grad():
        for _ in range(rounds):
            times[False].append(_pass(model, calls))
            with crfviz.watch(model) as seen:
                times[True].append(_pass(model, calls))
    scores = [t for call in seen._search.calls for each in call.scores.values() for t in each]
    begin = time.process_time()
    found = len(seen.potentials)
    alone, recorded = (statistics.median(times[watched]) for watched in (False, True))
    return {
        "layer": name,
        "sentences": found,
        "ms": 1e3 * alone,
        "ratio": recorded / alone,
        "kept_mb": sum(t.numel() * t.element_size() for t in scores) / 1e6,
        "search_ms": 1e3 * (time.process_time() - begin),
    }


def _pass(model, calls):
    begin = time.process_time()
    for call in calls:
        model(*call)
    return time.process_time() - begin
