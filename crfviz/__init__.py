"""Linear-chain CRFs you can see: exact inference, pretrained taggers and figures."""

from crfviz.annotations.agreement import taggings_agreement as agreement
from crfviz.annotations.queue import doubt
from crfviz.chain.baum_welch import Iteration, baum_welch
from crfviz.chain.crf import CRF
from crfviz.chain.decoding.analysis import analyse, compare
from crfviz.chain.decoding.decoders import greedy, max_marginal
from crfviz.chain.decoding.k_best import k_best
from crfviz.chain.decoding.viterbi import Viterbi, viterbi
from crfviz.chain.demonstrations.forward_variants import padded_batch, soft_forward
from crfviz.chain.demonstrations.log_space import log_sum_exp, underflow
from crfviz.chain.demonstrations.naive import enumerate_paths
from crfviz.chain.distribution import cumulated_mass, position_entropies, sample
from crfviz.chain.edits import Edits
from crfviz.chain.forward_backward import ForwardBackward, forward_backward
from crfviz.chain.homework.check import WrongCell, check_table
from crfviz.chain.homework.grade import Grade, Trace, grade, trace
from crfviz.chain.paths import Path
from crfviz.chain.potentials import Potentials
from crfviz.chain.questions.conditioning import condition, pin_probability, why_not
from crfviz.chain.questions.entities import (
    constraint_effect,
    entity_probability,
    entity_rivals,
    entity_shortcuts,
    illegal_mass,
)
from crfviz.chain.questions.flips import smallest_change_for, smallest_flips
from crfviz.chain.questions.gauge import shift_tag, shift_word
from crfviz.chain.questions.pieces import PieceReading, Pieces
from crfviz.chain.questions.rules import Match, match
from crfviz.chain.questions.sensitivity import (
    expected_counts,
    gradient_step,
    influence,
    observed_counts,
)
from crfviz.chain.questions.tipping import strength_intervals, tipping_points
from crfviz.chain.questions.triage import triage
from crfviz.corpus.tables.evaluation import evaluate
from crfviz.exceptions import (
    CrfvizError,
    EmptySentenceError,
    FormatError,
    ModelError,
    NoPathError,
    ScoreError,
    ShapeError,
    UnknownObservationError,
    UnknownTagError,
)
from crfviz.taggers.attribution import Attribution, attribute
from crfviz.taggers.brought.adapters import register_adapter
from crfviz.taggers.brought.parsed_model import Reading
from crfviz.taggers.conversions import from_crfsuite, from_hmm
from crfviz.taggers.perturbations import occlude, what_if
from crfviz.taggers.pieces import pieces
from crfviz.taggers.registry import bring, list_taggers, load_tagger, register, watch
from crfviz.taggers.tagger import Tagger
from crfviz.text.formats import read_sentences
from crfviz.text.sentences import Sentence
from crfviz.text.tokenizer import Token, tokenize
from crfviz.views.exports.notebook import show
from crfviz.views.exports.results import register as _draw_results_in_notebooks
from crfviz.views.exports.tables import export_table
from crfviz.views.exports.tikz import export_tikz
from crfviz.views.site.folder import export_html

__version__ = "0.2.0"

_draw_results_in_notebooks()

__all__ = [
    "CRF",
    "Attribution",
    "CrfvizError",
    "Edits",
    "EmptySentenceError",
    "FormatError",
    "ForwardBackward",
    "Grade",
    "Iteration",
    "Match",
    "ModelError",
    "NoPathError",
    "Path",
    "PieceReading",
    "Pieces",
    "Potentials",
    "Reading",
    "ScoreError",
    "Sentence",
    "ShapeError",
    "Tagger",
    "Token",
    "Trace",
    "UnknownObservationError",
    "UnknownTagError",
    "Viterbi",
    "WrongCell",
    "agreement",
    "analyse",
    "attribute",
    "baum_welch",
    "bring",
    "check_table",
    "compare",
    "condition",
    "constraint_effect",
    "cumulated_mass",
    "doubt",
    "entity_probability",
    "entity_rivals",
    "entity_shortcuts",
    "enumerate_paths",
    "evaluate",
    "expected_counts",
    "export_html",
    "export_table",
    "export_tikz",
    "forward_backward",
    "from_crfsuite",
    "from_hmm",
    "grade",
    "gradient_step",
    "greedy",
    "illegal_mass",
    "influence",
    "k_best",
    "list_taggers",
    "load_tagger",
    "log_sum_exp",
    "match",
    "max_marginal",
    "observed_counts",
    "occlude",
    "padded_batch",
    "pieces",
    "pin_probability",
    "position_entropies",
    "read_sentences",
    "register",
    "register_adapter",
    "sample",
    "shift_tag",
    "shift_word",
    "show",
    "smallest_change_for",
    "smallest_flips",
    "soft_forward",
    "strength_intervals",
    "tipping_points",
    "tokenize",
    "trace",
    "triage",
    "underflow",
    "viterbi",
    "watch",
    "what_if",
    "why_not",
]
