"""Linear-chain CRFs you can see: exact inference, pretrained taggers and figures."""

import crfviz.chain.array_arguments as _arrays

from .annotations.agreement import agreement
from .annotations.queue import doubt as _doubt
from .chain.baum_welch import Iteration, baum_welch
from .chain.crf import CRF
from .chain.decoding.analysis import (
    analyse as _analyse,
)
from .chain.decoding.analysis import (
    compare,
)
from .chain.decoding.analysis import (
    greedy as _greedy,
)
from .chain.decoding.analysis import (
    max_marginal as _max_marginal,
)
from .chain.decoding.viterbi import Viterbi
from .chain.decoding.viterbi import k_best as _k_best
from .chain.decoding.viterbi import viterbi as _viterbi
from .chain.demonstrations.log_space import (
    log_sum_exp,
    padded_batch,
)
from .chain.demonstrations.log_space import (
    soft_forward as _soft_forward,
)
from .chain.demonstrations.log_space import (
    underflow as _underflow,
)
from .chain.demonstrations.naive import enumerate_paths as _enumerate_paths
from .chain.distribution import Path, cumulated_mass, position_entropies
from .chain.distribution import sample as _sample
from .chain.edits import Edits
from .chain.forward_backward import ForwardBackward
from .chain.forward_backward import forward_backward as _forward_backward
from .chain.homework.answers import Verdict
from .chain.homework.check import WrongCell
from .chain.homework.check import check_table as _check_table
from .chain.homework.exercise import Exercise, Step, exercise
from .chain.homework.grade import Grade, Trace, grade, trace
from .chain.potentials import Potentials
from .chain.questions.conditioning import (
    condition as _condition,
)
from .chain.questions.conditioning import (
    pin_probability as _pin_probability,
)
from .chain.questions.conditioning import (
    why_not as _why_not,
)
from .chain.questions.costs import (
    LeastCost,
)
from .chain.questions.costs import (
    cost_intervals as _cost_intervals,
)
from .chain.questions.costs import (
    least_cost as _least_cost,
)
from .chain.questions.entities import (
    constraint_effect as _constraint_effect,
)
from .chain.questions.entities import (
    entity_probability as _entity_probability,
)
from .chain.questions.entities import (
    entity_rivals as _entity_rivals,
)
from .chain.questions.entities import (
    entity_shortcuts as _entity_shortcuts,
)
from .chain.questions.entities import (
    illegal_mass as _illegal_mass,
)
from .chain.questions.flips import (
    smallest_change_for as _smallest_change_for,
)
from .chain.questions.flips import (
    smallest_flips as _smallest_flips,
)
from .chain.questions.gauge import shift_tag as _shift_tag
from .chain.questions.gauge import shift_word as _shift_word
from .chain.questions.path_sets import Calibration
from .chain.questions.path_sets import path_set as _path_set
from .chain.questions.pieces import PieceReading, Pieces
from .chain.questions.rules import Match
from .chain.questions.rules import match as _match
from .chain.questions.sensitivity import (
    expected_counts as _expected_counts,
)
from .chain.questions.sensitivity import (
    gradient_step as _gradient_step,
)
from .chain.questions.sensitivity import (
    influence as _influence,
)
from .chain.questions.sensitivity import (
    observed_counts as _observed_counts,
)
from .chain.questions.tipping import (
    strength_intervals as _strength_intervals,
)
from .chain.questions.tipping import (
    tipping_points as _tipping_points,
)
from .chain.questions.triage import triage as _triage
from .corpus.answer_scores import AnswerScores, score_answers
from .corpus.tables.coverage import calibrate, coverage
from .corpus.tables.evaluation import evaluate
from .corpus.tables.inconsistent_names import InconsistentName, inconsistent_names
from .corpus.tables.label_errors import SuspectLabel, label_errors
from .corpus.tables.learning_curve import LearningCurve, learning_curve
from .corpus.training.crf_gain import CRFGain, crf_gain
from .corpus.training.transitions import FittedTransitions, fit_transitions
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
from .taggers.pieces import pieces as _pieces
from .taggers.registry import bring, list_taggers, load_tagger, register, watch
from .taggers.tagger import Tagger
from .text.formats import read_sentences
from .text.sentences import Sentence
from .text.tokenizer import Token, tokenize
from .ui.guest.public import st_labeller
from .ui.guest.public import st_lattice as _st_lattice
from .ui.guest.records import Labelled, Shown
from .views.exports.notebook import show as _show
from .views.exports.tables import export_table as _export_table
from .views.exports.tikz import export_tikz as _export_tikz
from .views.site.folder import export_html as _export_html

__version__: str

# Functions whose first argument is a chain; `crfviz.__getattr__` lets them take arrays.
analyse = _arrays.of_chains(_analyse)
check_table = _arrays.of_chains(_check_table)
condition = _arrays.of_chains(_condition)
constraint_effect = _arrays.of_chains(_constraint_effect)
cost_intervals = _arrays.of_chains(_cost_intervals)
doubt = _arrays.of_chains(_doubt)
entity_probability = _arrays.of_chains(_entity_probability)
entity_rivals = _arrays.of_chains(_entity_rivals)
entity_shortcuts = _arrays.of_chains(_entity_shortcuts)
enumerate_paths = _arrays.of_chains(_enumerate_paths)
expected_counts = _arrays.of_chains(_expected_counts)
export_html = _arrays.of_chains(_export_html)
export_table = _arrays.of_chains(_export_table)
export_tikz = _arrays.of_chains(_export_tikz)
forward_backward = _arrays.of_chains(_forward_backward)
gradient_step = _arrays.of_chains(_gradient_step)
greedy = _arrays.of_chains(_greedy)
illegal_mass = _arrays.of_chains(_illegal_mass)
influence = _arrays.of_chains(_influence)
k_best = _arrays.of_chains(_k_best)
least_cost = _arrays.of_chains(_least_cost)
match = _arrays.of_chains(_match)
max_marginal = _arrays.of_chains(_max_marginal)
observed_counts = _arrays.of_chains(_observed_counts)
path_set = _arrays.of_chains(_path_set)
pieces = _arrays.of_chains(_pieces)
pin_probability = _arrays.of_chains(_pin_probability)
sample = _arrays.of_chains(_sample)
shift_tag = _arrays.of_chains(_shift_tag)
shift_word = _arrays.of_chains(_shift_word)
show = _arrays.of_chains(_show)
smallest_change_for = _arrays.of_chains(_smallest_change_for)
smallest_flips = _arrays.of_chains(_smallest_flips)
soft_forward = _arrays.of_chains(_soft_forward)
st_lattice = _arrays.of_chains(_st_lattice)
strength_intervals = _arrays.of_chains(_strength_intervals)
tipping_points = _arrays.of_chains(_tipping_points)
triage = _arrays.of_chains(_triage)
underflow = _arrays.of_chains(_underflow)
viterbi = _arrays.of_chains(_viterbi)
why_not = _arrays.of_chains(_why_not)

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
    "InconsistentName",
    "Iteration",
    "Labelled",
    "LearningCurve",
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
    "inconsistent_names",
    "influence",
    "k_best",
    "label_errors",
    "learning_curve",
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
