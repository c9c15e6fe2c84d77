"""Python code with the numbers of a screen, for a file of its own, a notebook or a grader."""

from crfviz.chain.edits import Edits
from crfviz.chain.potentials import Potentials
from crfviz.views.exports.live import Live

_END = """\
sums, best = crfviz.forward_backward(potentials), crfviz.viterbi(potentials)
print([potentials.tag_names[tag] for tag in best.path], best.score, best.probability)
print(sums.log_partition, sums.entropy)
print(sums.marginals)  # sums.log_alpha, sums.log_beta, best.best, best.backpointers
"""


def script(live: Live) -> str:
    """Return Python code that prints the numbers on the screen, with crfviz alone.

    The scores are those of the model if it comes with crfviz, else they are written out.
    """
    lines = ["import crfviz", "from math import inf", ""]
    if live.origin.model:
        rules = "" if live.origin.constrained else ", constrained=False"
        lines += [
            f"tagger = crfviz.load_tagger({live.origin.model!r})",
            f"words = tagger.split({live.origin.sentence!r})[:{live.potentials.num_tokens}]",
            f"potentials = tagger.potentials(words{rules})",
        ]
    else:
        lines.append(f"potentials = {source_of(live.potentials)}")
    lines += _changes(live)
    if "inf" not in "\n".join(lines[2:]):
        del lines[1]
    return "\n".join([*lines, _END + live.code])


def _changes(live: Live) -> list[str]:
    edits = live.edits
    parts = {
        "transitions": dict(edits.transitions),
        "emissions": dict(edits.emissions),
        "strength": edits.strength,
    }
    usual = vars(Edits())
    fields = [f"{name}={value!r}" for name, value in parts.items() if value != usual[name]]
    lines = [f"potentials = crfviz.Edits({', '.join(fields)}).apply(potentials)"] if fields else []
    if live.pins:
        lines.append(f"potentials = potentials.pin({dict(live.pins)!r})")
    return lines


def source_of(potentials: Potentials) -> str:
    """Return Python code that makes these potentials."""
    names = ("emissions", "transitions", "start", "end")
    tables = [f"    {name}={getattr(potentials, name).tolist()!r}," for name in names]
    texts = [
        f"    {name}={getattr(potentials, name)!r},"
        for name in ("tags", "tokens")
        if getattr(potentials, name) is not None
    ]
    return "\n".join(["crfviz.Potentials(", *tables, *texts, ")"])
