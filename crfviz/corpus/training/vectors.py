"""Word vectors of an encoder, for words that are not in the training data.

    word_t = A e(word_t) + a        e fixed, A and a learnt; an unknown word has e = 0

The encoder is a BERT with an uncased WordPiece vocabulary. Its folder has config.json,
tokenizer.json and model.safetensors. The vector e is the mean of the word's pieces in the input
table. If the file has layers, their output for the word alone follows: the mean of the last vectors
from [CLS] to [SEP], scaled to length 1. After training, the product is stored as one table: a model
folder does not need the encoder.

Source:
    The mean of the last vectors: Reimers and Gurevych (2019), section 3; of single words as their
    fixed vectors: Bommasani, Davis and Cardie (2020), section 2, "decontextualized".
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from crfviz.corpus.training.encoder import Encoder
from crfviz.exceptions import ModelError
from crfviz.taggers.neural.network import NUM_SPECIAL, PADDING
from crfviz.taggers.pieces import UNKNOWN, split_word
from crfviz.taggers.storage import read_json_object

TOKENIZER_FILE, ENCODER_FILE = "tokenizer.json", "model.safetensors"
TABLE = "embeddings.word_embeddings.weight"
FIRST, LAST = "[CLS]", "[SEP]"  # first and last piece of a text
MAX_PIECES = 30  # pieces of a word that the encoder reads
SCALE = 0.1  # root mean square of the vectors, as of random embeddings

_WHOLE = re.compile(r"[a-z]{3,}")  # entries that are whole words
_PARTS = re.compile(r"\w+|[^\w\s]")


def read_pieces(folder: Path) -> dict[str, int]:
    """Return the pieces of an encoder with their ids.

    Raises:
        ModelError: the folder has no tokenizer.json with a WordPiece vocabulary.
    """
    path = folder / TOKENIZER_FILE
    model = read_json_object(path).get("model")
    pieces = model.get("vocab") if isinstance(model, dict) else None
    if not isinstance(pieces, dict) or UNKNOWN not in pieces:
        raise ModelError(f"{path}: expected model.vocab, WordPiece pieces with their ids")
    return pieces


def whole_words(pieces: Mapping[str, int]) -> list[str]:
    """Return the pieces that are words of three letters or more."""
    return [piece for piece in pieces if _WHOLE.fullmatch(piece)]


def read_vectors(folder: Path, words: Sequence[str]) -> Tensor:
    """Return a vector for each row of a word embedding: (2 + words, D), 0 for special rows.

    Args:
        folder: the encoder's folder.
        words: dictionary keys, in id order.

    Raises:
        ModelError: the folder has no WordPiece vocabulary or no input table.
    """
    pieces = read_pieces(folder)
    path = folder / ENCODER_FILE
    try:
        tensors = load_file(path)
        table = tensors[TABLE].float()
    except (OSError, SafetensorError, KeyError) as error:
        raise ModelError(f"{path}: expected a tensor {TABLE} ({error})") from error
    ids = [_ids(word, pieces) for word in words]
    parts = [torch.stack([table[row].mean(dim=0) for row in ids])]
    encoder = Encoder(folder, tensors)
    if encoder.num_layers:
        first, last = (pieces[piece] for piece in (FIRST, LAST))
        parts.append(encoder.means([[first, *row[:MAX_PIECES], last] for row in ids]))
    rows = torch.cat([_scaled(part) for part in parts], dim=1)
    return torch.cat([rows.new_zeros(NUM_SPECIAL, rows.shape[1]), rows])


def _scaled(rows: Tensor) -> Tensor:
    """Return the rows with mean 0 and root mean square `SCALE`."""
    rows = rows - rows.mean(dim=0)
    return rows * (SCALE / rows.square().mean().sqrt())


def _ids(word: str, pieces: Mapping[str, int]) -> list[int]:
    plain = unicodedata.normalize("NFD", word)
    plain = "".join(letter for letter in plain if unicodedata.category(letter) != "Mn")
    parts = _PARTS.findall(plain) or [UNKNOWN]
    return [pieces[piece] for part in parts for piece in split_word(part, pieces.keys())]


class Projected(nn.Module):
    """A word embedding that is a learnt projection of fixed vectors."""

    vectors: Tensor

    def __init__(self, vectors: Tensor, size: int) -> None:
        super().__init__()
        self.register_buffer("vectors", vectors, persistent=False)  # not learnt, so not saved
        self.projection = nn.Linear(vectors.shape[1], size)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the embedding of words: (B, T) -> (B, T, size)."""
        rows: Tensor = self.projection(self.vectors[ids])
        return rows

    def table(self) -> nn.Embedding:
        """Return the same embedding as one table, (V, size)."""
        with torch.no_grad():
            rows = self.projection(self.vectors)
            rows[PADDING] = 0.0
        embedding: nn.Embedding = nn.Embedding.from_pretrained(  # type: ignore[no-untyped-call]  # torch's
            rows, freeze=False, padding_idx=PADDING
        )
        return embedding
