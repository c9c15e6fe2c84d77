"""Reader of scores without a CRF from .safetensors and .parquet.

The tensors of a .safetensors file are named as the arrays of an .npz (see `scores_file`); tags,
id2label, tokens and gold are JSON in its metadata. A .parquet file has a row for each sentence,
with emissions or logits as lists of lists, tokens, gold and word_ids; tags or id2label are JSON in
the metadata of its schema.
"""

import io
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import safetensors
import safetensors.torch
from safetensors import SafetensorError

from crfviz.exceptions import FormatError
from crfviz.taggers.brought.layer_file import LONGEST_HEADER
from crfviz.taggers.brought.parsed_model import (
    MAX_SCORES,
    MAX_UNPACKED,
    ParsedModel,
    Reading,
    precision_notes,
)
from crfviz.taggers.brought.scores_file import (
    NO_KEYS,
    OF_SENTENCE,
    arrays_in,
    in_order,
    read_arrays_of,
    read_sentences_of,
)
from crfviz.text.jsonl import MAX_JSON, json_value

SCORES = ("emissions", "logits")
TEXTS = ("tags", "id2label", "tokens", "gold")  # fields of metadata, as JSON
COLUMN_TYPES = {  # of a .parquet file, as pyarrow writes them
    "emissions": re.compile(r"list<.*list<.*(float|double)>+"),
    "tokens": re.compile("list<[^<]*string>"),
}
PARQUET_MAGIC = b"PAR1"
PARQUET_KIND = "Scores as .parquet"
SAFETENSORS_KIND = "Scores as .safetensors"


def has_scores(data: bytes) -> bool:
    """Return whether a .safetensors file has scores of words, rather than a CRF layer."""
    names = _header(data)
    return any(name.split("_")[0] in SCORES for name in names)


def _header(data: bytes) -> dict[str, Any]:
    """Return the header; empty if it is damaged or too long, which the reader reports."""
    length = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + length]) if length <= LONGEST_HEADER else {}
    except (ValueError, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def read_score_tensors(data: bytes, reading: Reading) -> ParsedModel:
    """Return the scores in a .safetensors file.

    Raises:
        FormatError: it is damaged, or its tensors are not scores.
    """
    try:
        tensors = safetensors.torch.load(data)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise FormatError(f"The .safetensors file is damaged ({str(error)[:80]}).") from error
    if wrong := next((name for name, tensor in tensors.items() if tensor.is_complex()), None):
        raise FormatError(f"The tensor {wrong[:60]} has complex numbers.")
    dtypes = [str(tensor.dtype).removeprefix("torch.") for tensor in tensors.values()]
    arrays: dict[str, Any] = {
        name: (tensor.double() if tensor.is_floating_point() else tensor).numpy()
        for name, tensor in tensors.items()
    }
    metadata = _header(data).get("__metadata__")
    for name, value in _texts(metadata if isinstance(metadata, Mapping) else {}).items():
        try:
            names = in_order(value) if name == "id2label" else value
            arrays[name] = np.array(names, dtype=str)
        except ValueError as error:  # rows of different lengths
            raise FormatError(
                f"“{name}” in the metadata must have the words of one sentence, or rows of one "
                "length, padded with empty strings."
            ) from error
    draft = read_arrays_of(arrays, reading)
    return replace(
        draft, kind=SAFETENSORS_KIND, notes=[*draft.notes, *precision_notes(sorted(set(dtypes)))]
    )


def arrays_of_tensors(data: bytes) -> dict[str, list[str]]:
    """Return the tensors that may have scores, by usual name; see `scores_file.arrays_in`."""
    rows = {name: row for name, row in _header(data).items() if name != "__metadata__"}
    return arrays_in(
        {
            name: ("f" if "F" in str(row.get("dtype")) else "i", tuple(row.get("shape", ())))
            for name, row in rows.items()
            if isinstance(row, dict)
        }
    )


def columns_of_parquet(data: bytes) -> dict[str, list[str]]:
    """Return the columns that may have scores and words, by usual name.

    Returns:
        Nothing if each column has a usual name of its own, or the file is damaged.
    """
    import pyarrow  # slow to load
    from pyarrow import parquet

    try:
        fields = list(parquet.read_schema(io.BytesIO(data)))
    except (pyarrow.ArrowException, OSError, ValueError):
        return {}
    names = {field.name for field in fields}
    if names <= {*OF_SENTENCE, *SCORES} and len(names & {*SCORES}) == 1:
        return {}
    found = {
        usual: [field.name for field in fields if column_type.fullmatch(str(field.type))]
        for usual, column_type in COLUMN_TYPES.items()
    }
    return {usual: columns for usual, columns in found.items() if columns}


def read_parquet(data: bytes, keys: Mapping[str, str] = NO_KEYS) -> ParsedModel:
    """Return the scores in a .parquet file, one sentence per row.

    Args:
        data: the file.
        keys: usual names of columns that the caller chooses; others are then left out.

    Raises:
        FormatError: it is damaged or too large, or has no scores.
    """
    import pyarrow  # slow to load
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        groups = range(file.metadata.num_row_groups)
        unpacked = sum(file.metadata.row_group(n).total_byte_size for n in groups)
        if unpacked > MAX_UNPACKED:
            raise FormatError(
                f"The .parquet file unpacks to {unpacked:,} bytes, at most {MAX_UNPACKED:,} are "
                "read."
            )
        table = file.read()
        if table.nbytes > 16 * MAX_SCORES:
            raise FormatError(f"The .parquet file has more than {MAX_SCORES:,} scores.")
        rows = table.to_pylist()
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise FormatError(f"The .parquet file is damaged ({str(error)[:80]}).") from error
    known = (*OF_SENTENCE, *SCORES)
    left = [name for name in table.column_names if keys and name not in (*known, *keys)]
    if not any(keys.get(name, name) in SCORES for name in table.column_names):
        held = ", ".join(table.column_names)
        raise FormatError(
            f"The .parquet file has no column “logits” or “emissions”; it holds {held[:200]}. "
            "Choose the column of the emissions, or rename it."
        )
    read = [name for name in table.column_names if name not in left]
    unknown = next((name for name in read if keys.get(name, name) not in known), None)
    if unknown is not None:
        raise FormatError(f"There is no field {unknown[:60]!r}; known: {', '.join(known)}.")
    metadata = table.schema.metadata or {}
    texts = _texts({k.decode("utf-8", "replace"): v for k, v in metadata.items()})
    sentences = [{n: row[n] for n in read if row[n] is not None} for row in rows]
    content = {n: v for n, v in texts.items() if n in ("tags", "id2label")}
    draft = read_sentences_of(PARQUET_KIND, {**content, "sentences": sentences}, keys)
    notes = [f"Other columns were chosen in place of {', '.join(left)[:200]}."] * bool(left)
    return replace(draft, notes=[*notes, *draft.notes])


def _texts(metadata: Mapping[str, str | bytes]) -> dict[str, Any]:
    """Return the fields `TEXTS` of the metadata.

    Raises:
        FormatError: a field is not JSON.
    """
    texts = {}
    for name in TEXTS:
        if name in metadata:
            text = metadata[name]
            text = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
            try:
                texts[name] = json_value(text, MAX_JSON)
            except ValueError as error:
                raise FormatError(f"“{name}” in the metadata must be JSON: {error}") from error
    return texts
