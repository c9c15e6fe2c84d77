"""Linear-chain CRFs you can see: exact inference, pretrained taggers and figures."""

from .annotations.agreement import agreement
from .annotations.queue import doubt
from .chain.baum_welch import Iteration, baum_welch
from .chain.crf import CRF
from .chain.decoding.analysis import analyse, compare, greedy, max_marginal
from .chain.decoding.viterbi import Viterbi, k_best, viterbi
from .chain.demonstrations.log_space import log_sum_exp, padded_batch, soft_forward, underflow
from .chain.demonstrations.naive import enumerate_paths
from .chain.distribution import Path, cumulated_mass, position_entropies, sample
from .chain.edits import Edits
from .chain.forward_backward import ForwardBackward, forward_backward
from .chain.homework.answers import Verdict
from .chain.homework.check import WrongCell, check_table
from .chain.homework.exercise import Exercise, Step, exercise
from .chain.homework.grade import Grade, Trace, grade, trace
from .chain.potentials import Potentials
from .chain.questions.conditioning import condition, pin_probability, why_not
from .chain.questions.costs import LeastCost, cost_intervals, least_cost
from .chain.questions.entities import (
    constraint_effect,
    entity_probability,
    entity_rivals,
    entity_shortcuts,
    illegal_mass,
)
from .chain.questions.flips import smallest_change_for, smallest_flips
from .chain.questions.gauge import shift_tag, shift_word
from .chain.questions.path_sets import Calibration, path_set
from .chain.questions.pieces import PieceReading, Pieces
from .chain.questions.rules import Match, match
from .chain.questions.sensitivity import (
    expected_counts,
    gradient_step,
    influence,
    observed_counts,
)
from .chain.questions.tipping import strength_intervals, tipping_points
from .chain.questions.triage import triage
from .corpus.answer_scores import AnswerScores, score_answers
from .corpus.tables.coverage import calibrate, coverage
from .corpus.tables.evaluation import evaluate
from .corpus.tables.label_errors import SuspectLabel, label_errors
from .corpus.training.transitions import CRFGain, FittedTransitions, crf_gain, fit_transitions
from .exceptions import (
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
from .taggers.attribution import Attribution, attribute
from .taggers.brought.adapters import register_adapter
from .taggers.brought.parsed_model import Reading
from .taggers.conversions import from_crfsuite, from_hmm
from .taggers.perturbations import occlude, what_if
from .taggers.pieces import pieces
from .taggers.registry import bring, list_taggers, load_tagger, register, watch
from .taggers.tagger import Tagger
from .text.formats import read_sentences
from .text.sentences import Sentence
from .text.tokenizer import Token, tokenize
from .ui.guest.public import st_labeller, st_lattice
from .ui.guest.records import Labelled, Shown
from .views.exports.notebook import show
from .views.exports.tables import export_table
from .views.exports.tikz import export_tikz
from .views.site.folder import export_html

__version__: str

__all__ = [
    "CRF",
    "AnswerScores",
    "Attribution",
    "CRFGain",
    "Calibration",
    "CrfvizError",
    "Edits",
    "EmptySentenceError",
    "Exercise",
    "FittedTransitions",
    "FormatError",
    "ForwardBackward",
    "Grade",
    "Iteration",
    "Labelled",
    "LeastCost",
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
    "Shown",
    "Step",
    "SuspectLabel",
    "Tagger",
    "Token",
    "Trace",
    "UnknownObservationError",
    "UnknownTagError",
    "Verdict",
    "Viterbi",
    "WrongCell",
    "agreement",
    "analyse",
    "attribute",
    "baum_welch",
    "bring",
    "calibrate",
    "check_table",
    "compare",
    "condition",
    "constraint_effect",
    "cost_intervals",
    "coverage",
    "crf_gain",
    "cumulated_mass",
    "doubt",
    "entity_probability",
    "entity_rivals",
    "entity_shortcuts",
    "enumerate_paths",
    "evaluate",
    "exercise",
    "expected_counts",
    "export_html",
    "export_table",
    "export_tikz",
    "fit_transitions",
    "forward_backward",
    "from_crfsuite",
    "from_hmm",
    "grade",
    "gradient_step",
    "greedy",
    "illegal_mass",
    "influence",
    "k_best",
    "label_errors",
    "least_cost",
    "list_taggers",
    "load_tagger",
    "log_sum_exp",
    "match",
    "max_marginal",
    "observed_counts",
    "occlude",
    "padded_batch",
    "path_set",
    "pieces",
    "pin_probability",
    "position_entropies",
    "read_sentences",
    "register",
    "register_adapter",
    "sample",
    "score_answers",
    "shift_tag",
    "shift_word",
    "show",
    "smallest_change_for",
    "smallest_flips",
    "soft_forward",
    "st_labeller",
    "st_lattice",
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
