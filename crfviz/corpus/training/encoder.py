"""BERT encoder of word pieces, with the weights of a downloaded folder.

    x_0     = norm(piece + position + segment 0)
    h_l     = norm(x_l + attention(x_l))
    x_{l+1} = norm(h_l + gelu(h_l A + a) B + b)

Source:
    Devlin et al. (2019); Vaswani et al. (2017), section 3.2, for the attention.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from crfviz.exceptions import ModelError
from crfviz.taggers.storage import read_json_object

CONFIG_FILE = "config.json"
EMBEDDINGS, LAYERS = "embeddings", "encoder.layer"
NORM_EPSILON = 1e-12
PIECES_AT_ONCE = 4096  # limits the memory of a batch


class Encoder:
    """A BERT without dropout; its tensors keep the names of the file.

    Args:
        folder: folder with config.json, which has the number of attention heads.
        tensors: the weights, by name.

    Raises:
        ModelError: the number of heads is missing or does not divide the vectors' size.
    """

    def __init__(self, folder: Path, tensors: Mapping[str, Tensor]) -> None:
        path = folder / CONFIG_FILE
        self.tensors = {n: t.float() for n, t in tensors.items() if t.is_floating_point()}
        names = (n.removeprefix(f"{LAYERS}.") for n in tensors if n.startswith(f"{LAYERS}."))
        self.num_layers = len({name.split(".")[0] for name in names})
        heads = read_json_object(path).get("num_attention_heads") if self.num_layers else 1
        self.size = self.tensors[f"{EMBEDDINGS}.word_embeddings.weight"].shape[1]
        if type(heads) is not int or heads < 1 or self.size % heads:
            raise ModelError(
                f"{path}: num_attention_heads must divide {self.size}, got {repr(heads)[:80]}"
            )
        self.heads = heads

    @torch.no_grad()
    def means(self, rows: Sequence[Sequence[int]]) -> Tensor:
        """Return the mean of the last layer's vectors of each row, as unit vectors: (N, D)."""
        by_length = defaultdict(list)
        for number, row in enumerate(rows):
            by_length[len(row)].append(number)
        found = torch.zeros(len(rows), self.size)
        for length, numbers in by_length.items():
            at_once = max(1, PIECES_AT_ONCE // length)
            for start in range(0, len(numbers), at_once):
                group = numbers[start : start + at_once]
                pieces = torch.tensor([rows[number] for number in group])
                found[group] = functional.normalize(self.vectors(pieces).mean(dim=1), dim=1)
        return found

    def vectors(self, pieces: Tensor) -> Tensor:
        """Return the vector of each piece in the context of its row: (B, P) long -> (B, P, D)."""
        of = self.tensors
        values = functional.embedding(pieces, of[f"{EMBEDDINGS}.word_embeddings.weight"])
        values = values + of[f"{EMBEDDINGS}.position_embeddings.weight"][: pieces.shape[1]]
        values = values + of[f"{EMBEDDINGS}.token_type_embeddings.weight"][0]
        values = self._norm(values, EMBEDDINGS)
        for number in range(self.num_layers):
            layer = f"{LAYERS}.{number}"
            mixed = self._linear(self._mixed(values, layer), f"{layer}.attention.output.dense")
            values = self._norm(values + mixed, f"{layer}.attention.output")
            wide = functional.gelu(self._linear(values, f"{layer}.intermediate.dense"))
            values = self._norm(
                values + self._linear(wide, f"{layer}.output.dense"), f"{layer}.output"
            )
        return values

    def _mixed(self, values: Tensor, layer: str) -> Tensor:
        """Return the attention output of a layer, with its heads concatenated: (B, P, D)."""
        query, key, value = (
            self._linear(values, f"{layer}.attention.self.{part}")
            .view(*values.shape[:2], self.heads, -1)
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(query, key, value)
        return mixed.transpose(1, 2).flatten(2)

    def _linear(self, values: Tensor, name: str) -> Tensor:
        return functional.linear(
            values, self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]
        )

    def _norm(self, values: Tensor, name: str) -> Tensor:
        weight = self.tensors[f"{name}.LayerNorm.weight"]
        bias = self.tensors[f"{name}.LayerNorm.bias"]
        return functional.layer_norm(values, weight.shape, weight, bias, NORM_EPSILON)
