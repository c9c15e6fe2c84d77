"""What `import crfviz` promises, and what it does not load."""

import re
import subprocess
import sys
from inspect import getdoc, isclass, isdatadescriptor, isfunction, ismethod, signature
from pathlib import Path

import crfviz
from crfviz.chain.array_arguments import CHAIN_NAMES

NAMES = [
    "AnswerScores",
    "Attribution",
    "CRF",
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


def test_public_names_are_complete():
    assert crfviz.__all__ == sorted(NAMES)
    assert all(hasattr(crfviz, name) for name in NAMES)


def test_stub_declares_that_functions_on_chains_take_arrays():
    stub = Path(crfviz.__file__).with_suffix(".pyi").read_text("utf-8")
    functions = {name: getattr(crfviz, name) for name in NAMES}
    first = {
        name: next(iter(signature(function).parameters), "")
        for name, function in functions.items()
        if isfunction(function)
    }
    on_chains = {name for name, argument in first.items() if argument in CHAIN_NAMES}
    assert {*re.findall(r"^(\w+) = _arrays\.of_chains\(_\1\)$", stub, re.M)} == on_chains


def test_public_errors_derive_from_crfviz_error():
    errors = [getattr(crfviz, name) for name in NAMES if name.endswith("Error")]
    assert all(issubclass(error, crfviz.CrfvizError) for error in errors)
    assert issubclass(crfviz.CrfvizError, ValueError)


def test_public_functions_and_their_methods_have_docstrings():
    documented = {name: getattr(crfviz, name) for name in NAMES}
    for name, kind in [*documented.items()]:
        for part in vars(kind) if isclass(kind) else ():
            method = getattr(kind, part)
            if not part.startswith("_") and (
                isfunction(method) or ismethod(method) or isdatadescriptor(method)
            ):
                documented[f"{name}.{part}"] = method
    assert not [name for name, thing in documented.items() if not getdoc(thing)]


def loaded_by(code):
    code = f"import sys; {code}; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_library_loads_neither_torch_nor_numpy():
    assert not {"torch", "numpy"} & loaded_by("import crfviz; crfviz.CrfvizError; crfviz.tokenize")


def test_using_the_library_loads_no_app():
    loaded = loaded_by("from crfviz import *")
    assert "torch" in loaded
    assert not {"streamlit", "plotly", "altair", "spacy"} & loaded
