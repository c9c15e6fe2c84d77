"""The view Bring your own: upload files, show how they are read, store and remove models."""

from dataclasses import replace

import streamlit as st

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.files import keys_of, validate_files
from crfviz.taggers.brought.parsed_model import MAX_BYTES, MAX_SCORES, MAX_TAGS, Reading
from crfviz.taggers.brought.typed import SCORES, UNITS, TypedModel, read_typed
from crfviz.taggers.brought.validated_model import ValidatedModel, validate
from crfviz.taggers.registry import load_tagger, store_model
from crfviz.taggers.textbook import TEXTBOOK
from crfviz.taggers.user_models import own_models, remove_model
from crfviz.text.fasta import NAME, records
from crfviz.text.files import decoded, lines_of
from crfviz.text.formats import Sentences
from crfviz.text.schemes import could_be_bio
from crfviz.text.sentences import Sentence
from crfviz.ui import cached
from crfviz.ui.reading_panel import AS_READ, PICKER_WIDTH, SHOWN, show_reading
from crfviz.ui.session.bound_widgets import Options, Widget, bound_buttons, bound_draft
from crfviz.ui.session.page_state import request_page
from crfviz.ui.session.permission import uploads_allowed
from crfviz.ui.session.scenario_state import change, load_state, scenario
from crfviz.ui.session.session_store import errors_as_messages, notify, set_draft
from crfviz.ui.state.scenario import MAX_CHARACTERS, Scenario, with_sentence
from crfviz.ui.streamlit_compat import DeltaGenerator
from crfviz.ui.widgets import upload
from crfviz.ui.words import plain, quote
from crfviz.views.frames.chains import MAX_NAMES, axis_line, facts_frame, transition_frame

EXPLORE = "pages/explore.py"
OF_SEQUENCES = f"{TEXTBOOK}/cpg"  # the model for a sequence that the current one cannot read
EXAMPLE = """{"tags": ["DET", "NOUN", "VERB"],
 "transitions": [[-1, 2, -2], [0.5, -0.5, 1.5], [1, 0.3, -3]],
 "start": [1, 0, "-inf"],
 "sentences": [
  {"tokens": ["The", "dog", "barks"],
   "emissions": [[3, 0.5, -1], [-1, 2.5, 1], [-2, 1.2, 1.5]]}]}"""

TYPED_EXAMPLE = {
    "tags": "DET NOUN VERB",
    "words": "The dog barks",
    "transitions": "-1 2 -2\n0.5 -0.5 1.5\n1 0.3 -3",
    "emissions": "3 0.5 -1\n-1 2.5 1\n-2 1.2 1.5",
    "start": "1 0 -inf",
    "end": "",
}
LOGARITHMS, NATS = "Take logarithms", "They are scores (nats)"  # answers about probabilities
SHARES = "Divide by 100 and take logarithms"
PICKERS = {
    "emissions": "Emissions",
    "transitions": "Transitions",
    "tokens": "Words",
    "tags": "Tags",
    "sentences": "Sentences",
}
NO_TAGS, TAGS = "Start and end scores", "Tags of words"  # answers about boundary tags
AXES = ("(B, T, K)", "(T, B, K)")

_ROW_HEIGHT = 24


FILES, TABLES, TEXT = "files", "tables", "text"
WAYS = {FILES: "Upload files", TABLES: "Type tables", TEXT: "Paste a file’s text"}
_BOX_HEIGHT = 122  # pixels


def way_in() -> str:
    return bound_buttons("How", "way", WAYS, FILES, label_visibility="collapsed")


def uploaded_files() -> list[tuple[str, bytes]]:
    """Draw the file box; return names and contents."""
    files = upload(
        "A file, or two that belong together",
        accept_multiple_files=True,
        max_upload_size=MAX_BYTES // 1_000_000,
        help=f"At most {MAX_BYTES // 1_000_000} MB, {MAX_TAGS} tags, {MAX_SCORES:,} scores. "
        "Nothing is unpickled or run.",
        key="bring.files",
    )
    return [(file.name, file.getvalue()) for file in files or ()]


def pasted_files() -> list[tuple[str, bytes]]:
    """Draw a box for the text of a JSON file; return it as an uploaded one."""
    text = _box("The text of a .json file", "bring.text", placeholder="{…", height=2 * _BOX_HEIGHT)
    st.button("Fill in the example", on_click=set_draft, args=("bring.text", EXAMPLE))
    return [("pasted.json", text.encode())] if text.strip() else []


def typed_model() -> TypedModel | None:
    """Draw the boxes of a typed model; return their texts, or None without emissions."""
    unit = bound_buttons("The numbers are", "numbers", UNITS, SCORES)
    names, words = st.columns(2)
    tags = _box("Tags (K names)", "bring.tags", names, st.text_input, placeholder="DET NOUN VERB")
    tokens = _box("Words (T)", "bring.words", words, st.text_input, placeholder="The dog barks")
    left, right = st.columns(2)
    options: Options = {"height": _BOX_HEIGHT, "placeholder": "a row a line; labels are allowed"}
    typed = TypedModel(
        tags=tags,
        words=tokens,
        transitions=_box("Transitions (K × K: from ↓ to →)", "bring.transitions", left, **options),
        emissions=_box("Emissions (T × K: a row a word)", "bring.emissions", right, **options),
        start=_box("Start (K numbers, or empty)", "bring.start", left, st.text_input),
        end=_box("End (K numbers, or empty)", "bring.end", right, st.text_input),
        unit=unit,
    )
    st.button("Fill in an example", on_click=_fill_example)
    return typed if typed.emissions.strip() else None


def _box(
    label: str,
    name: str,
    at: DeltaGenerator | None = None,
    widget: Widget = st.text_area,
    **options: Options,
) -> str:
    return bound_draft(widget, label, name, at=at, **options)


def _fill_example() -> None:
    for name, text in TYPED_EXAMPLE.items():
        set_draft(f"bring.{name}", text)


def is_fasta(files: list[tuple[str, bytes]]) -> bool:
    return len(files) == 1 and files[0][1].lstrip().startswith(NAME.encode())


def sequence_panel(name: str, content: bytes) -> None:
    """Draw the choice of a sequence in a FASTA file, and a button that opens it.

    It opens with the current model if that reads its letters, else with `OF_SEQUENCES`.

    Raises:
        FormatError: the file cannot be read, or holds no sequence.
    """
    sequences = list(records(lines_of(decoded(content, name=name)), name))
    if not sequences:
        raise FormatError(f"{name}: expected a sequence of letters, got none")
    titles = [f"{n}. {record.name or record.line}" for n, record in enumerate(sequences, start=1)]
    title = st.selectbox("Sequence", titles, key="bring.sequence")
    letters = "".join(sequences[titles.index(title)].letters)
    if len(letters) > MAX_CHARACTERS:
        st.info(f"A link holds {MAX_CHARACTERS:,} letters: the rest of {len(letters):,} is cut.")
    current = cached.known_tagger(scenario().model)
    knows = current is not None and current.observations and current.reads(letters)
    model = scenario().model if knows else OF_SEQUENCES
    state = replace(with_sentence(scenario(), letters), model=model)
    st.button(f"Open with {model}", on_click=_open, args=(state,), key="bring.sequence.open")


def _open(state: Scenario) -> None:
    load_state(state)
    request_page("")


def understood(files: list[tuple[str, bytes]] | TypedModel) -> ValidatedModel:
    """Draw the options for ambiguous parts, and return the model read with the choices.

    Raises:
        FormatError: the files cannot be read.
    """
    with st.container(key="bring-reading", horizontal=True):
        reading = Reading(
            to_from=st.toggle(
                "Rows are “to”", help="Turn the matrices: [to, from] → [from, to]", key="bring.turn"
            ),
            normalise=st.toggle(
                "Divide rows by their sum", help="Of probabilities", key="bring.normalise"
            ),
            bio=st.toggle("BIO rules", help="Let them act in decoding", key="bring.bio"),
        )
    source = files if isinstance(files, TypedModel) else tuple(files)
    if not isinstance(source, TypedModel):
        reading = replace(reading, keys=_picked_keys(source))
    validated = _understood(source, reading)
    if question := validated.question:
        answer = st.radio(
            question,
            [SHARES if validated.has_percentages else LOGARITHMS, NATS],
            index=None,
            horizontal=True,
            key=f"bring.probabilities.{question}",
        )
        if answer is not None:
            reading = replace(reading, probabilities=answer != NATS)
            validated = _understood(source, reading)
    if validated.batch_first is not None:
        answer = st.radio(
            "What are the axes of the emissions? B sentences, T words, K tags",
            AXES,
            index=0 if validated.batch_first else 1,
            horizontal=True,
            key=f"bring.axes.{validated.batch_first}",
        )
        reading = replace(reading, batch_first=answer == AXES[0])
        validated = _understood(source, reading)
    if not validated.boundary_tags:
        return validated
    left_out = not set(validated.boundary_tags) & set(validated.tags)
    answer = st.radio(
        f"What are {', '.join(validated.boundary_tags)}?",
        [NO_TAGS, TAGS],
        index=0 if left_out else 1,
        horizontal=True,
        key=f"bring.boundary.{','.join(validated.boundary_tags)}",
    )
    return _understood(source, replace(reading, keep_boundary_tags=answer == TAGS))


@st.cache_resource(max_entries=3, show_spinner=False)
def _keys(source: tuple[tuple[str, bytes], ...]) -> dict[str, list[str]]:
    return keys_of(source)


def _picked_keys(source: tuple[tuple[str, bytes], ...]) -> tuple[tuple[str, str], ...]:
    """Draw select boxes for the keys of a JSON file, or for arrays; return the chosen ones."""
    picked = []
    with st.container(horizontal=True):
        for name, keys in _keys(source).items():
            options = [AS_READ, *keys]
            chosen = st.selectbox(
                PICKERS[name], options, key=f"bring.key.{name}.{'.'.join(keys)}", width=PICKER_WIDTH
            )
            picked += [(chosen, name)] if chosen != AS_READ else []
    return tuple(picked)


@st.cache_resource(max_entries=3, show_spinner="Reading …")
def _understood(
    source: tuple[tuple[str, bytes], ...] | TypedModel, reading: Reading
) -> ValidatedModel:
    if isinstance(source, TypedModel):
        return validate(read_typed(source), reading)
    return validate_files(source, reading, load_tagger)


def show_understood(validated: ValidatedModel) -> None:
    """Draw the facts and assumptions about a model, and its first transition matrix."""
    if validated.unnormalised:
        st.warning(
            plain(
                f"Not every row of probabilities sums to one: {'; '.join(validated.unnormalised)}. "
                "They are taken as weights of a CRF; or switch on “Divide rows by their sum”."
            )
        )
    if validated.left_out:
        st.warning(plain(f"{validated.left_out[0]} {'; '.join(validated.left_out[1:])}"))
    if could_be_bio(validated.tags) and validated.scheme is None:
        st.info("These are BIO tags: with “BIO rules” the rules act in decoding.")
    found = Sentences(Sentence(s.tokens or ()) for s in validated.sentences[:SHOWN])
    count = len(validated.sentences)
    scheme = validated.scheme or f"{len(validated.tags)} tags"
    found.reading = f"{scheme}; {count:,} sentence{'s' * (count > 1)}"
    show_reading(validated.kind, found)
    left, right = st.columns([2, 3])
    with left:
        st.dataframe(facts_frame(validated), hide_index=True, row_height=_ROW_HEIGHT)
        for note in validated.notes:
            st.text(note)
    with right:
        first = validated.sentences[0]
        matrix = transition_frame(first).iloc[: MAX_NAMES + 1, : MAX_NAMES + 1]
        st.dataframe(matrix.style.format(precision=3), row_height=_ROW_HEIGHT)
        st.text(axis_line(first))


def use_button(validated: ValidatedModel, suggestion: str) -> None:
    """Draw a box for the model's name, and the button that stores and opens the model.

    It waits for the answer to a question about the numbers.
    """
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left.container(key="bring-name"):
        # the key has the file's name, so another file resets the box
        name = st.text_input("Name", suggestion, max_chars=80, key=f"bring.name.{suggestion}")
    unanswered = bool(validated.question)
    hint = "Answer the question above first." if unanswered else None
    if right.button(
        "Use this model", type="primary", key="bring.use", disabled=unanswered, help=hint
    ):
        stored = store_model(validated, name)
        change(model=stored)
        notify(f"{quote(stored)} is in the list of models.")
        st.switch_page(EXPLORE)


def own_panel() -> None:
    """Draw the list of uploaded models, each with buttons to open and remove it."""
    names = own_models()
    if not names:
        return
    st.subheader("Uploaded models")
    with st.container(key="bring-own", horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Model", names, key="bring.own", label_visibility="collapsed")
        if st.button("Open", key="bring.open"):
            change(model=name)
            st.switch_page(EXPLORE)
        if uploads_allowed():
            with st.popover("Remove"):
                st.text(f"Delete {name} for everyone? This cannot be undone.")
                st.button("Remove for good", on_click=_remove, args=(name,), key="bring.remove")


def _remove(name: str) -> None:
    with errors_as_messages():
        remove_model(name)
        cached.tagger.clear(name)
        if scenario().model == name:
            change(model=cached.default_model(cached.models()))
        notify(f"{quote(name)} is gone.")


def what_can_be_brought() -> None:
    """List the kinds of files, with an example."""
    st.markdown(
        "- scores of sentences: **.json**, **.npz**, **.safetensors** or **.parquet** with "
        "emissions (or logits), and with transitions if the model has a CRF\n"
        "- a CRF layer: the `state_dict` of pytorch-crf or crfviz as **.safetensors** or **.pt**, "
        "and the emissions as .npz or .json\n"
        "- a **CRFsuite** model, and the attributes of each word as **.jsonl**\n"
        "- a model folder that `python -m crfviz train` wrote, as **.zip**\n"
        "- a textbook chain: **.json** with `states`, `observations` and probabilities\n"
        "- a sequence of letters, such as DNA, as **.fasta**: the explorer opens it"
    )
    st.code(EXAMPLE, language=None)
    st.caption("[The guide](guides?v.guide=bring-your-own) has names, shapes and other kinds.")
