"""The CRF layer of a state_dict, saved by PyTorch and safetensors themselves."""

import math
import os
import pickle

import numpy as np
import pytest
import torch
import torchcrf
from safetensors.torch import save

from crfviz.chain.crf import CRF
from crfviz.chain.decoding.viterbi import viterbi
from crfviz.chain.forward_backward import forward_backward
from crfviz.exceptions import FormatError
from tests.support.brought import (
    TAGS,
    TRANSITIONS,
    as_checkpoint,
    as_json,
    as_npz,
    as_zip,
    understand,
)

LENGTHS = [2, 4, 3]


class Tagger(torch.nn.Module):
    """A network with a CRF inside."""

    def __init__(self, layer):
        super().__init__()
        self.encoder = torch.nn.Linear(4, 3)
        self.crf = layer


@pytest.fixture
def layer():
    torch.manual_seed(7)
    layer = torchcrf.CRF(3)
    for weights in layer.parameters():
        torch.nn.init.normal_(weights)
    return layer


@pytest.fixture
def emissions():
    """(T, B, K), as pytorch-crf takes it by default."""
    return torch.randn(4, 3, 3, generator=torch.Generator().manual_seed(3))


def with_emissions(emissions, **others):
    return as_npz(emissions=emissions.numpy(), lengths=np.array(LENGTHS), **others)


@pytest.mark.parametrize("kind", [".pt", ".safetensors"])
@pytest.mark.parametrize("whole", [False, True], ids=["layer", "whole model"])
@pytest.mark.parametrize("batch_first", [False, True], ids=["time first", "batch first"])
def test_pytorch_crf_layer_keeps_its_paths_and_scores(layer, emissions, kind, whole, batch_first):
    state = (Tagger(layer) if whole else layer).state_dict()
    file = as_checkpoint(state) if kind == ".pt" else ("model.safetensors", save(state))
    given = emissions.transpose(0, 1).contiguous() if batch_first else emissions
    found = understand(file, with_emissions(given, tags=np.array(TAGS)))
    mask = torch.arange(4)[:, None] < torch.tensor(LENGTHS)
    paths = layer.decode(emissions, mask)
    tags = torch.zeros(4, 3, dtype=torch.long)
    for n, path in enumerate(paths):
        tags[: len(path), n] = torch.tensor(path)
    scores = layer(emissions, tags, mask, reduction="none").tolist()
    assert found.tags == tuple(TAGS)
    for chain, path, score in zip(found.sentences, paths, scores, strict=True):
        assert viterbi(chain).path == path
        log_probability = chain.score(path) - forward_backward(chain).log_partition
        assert log_probability == pytest.approx(score, abs=1e-5)  # theirs is float32


def test_crfviz_layer_is_read(emissions):
    layer = CRF(3)
    found = understand(as_checkpoint({"state_dict": layer.state_dict()}), with_emissions(emissions))
    assert found.sentences[0].transitions.tolist() == layer.transitions.double().tolist()
    assert found.sentences[0].end.tolist() == layer.end_transitions.double().tolist()
    assert found.kind == "CRF layer of a state_dict, with Potentials as .npz"


def test_emissions_may_be_json(layer):
    file = as_json({"sentences": [{"emissions": [[1, 2, 3]]}]})
    found = understand(file, as_checkpoint(layer.state_dict()))
    assert found.sentences[0].start.tolist() == layer.start_transitions.double().tolist()


class Evil:
    """Runs a command where it is unpickled."""

    def __init__(self, witness):
        self.witness = witness

    def __reduce__(self):
        return os.mkdir, (str(self.witness),)


def test_pickle_with_code_is_rejected_and_not_run(tmp_path):
    witness = tmp_path / "ran"
    state = {"transitions": torch.zeros(2, 2), "more": Evil(witness)}
    emissions = as_npz(emissions=np.zeros((1, 2)))
    with pytest.raises(FormatError, match="holds more than tensors"):
        understand(as_checkpoint(state), emissions)
    with pytest.raises(FormatError, match="is a pickle, which may hold programs"):
        understand(("model.pt", pickle.dumps(Evil(witness))), emissions)
    with pytest.raises(FormatError, match="holds more than tensors"):
        understand(as_checkpoint(Tagger(CRF(2))), emissions)
    assert not witness.exists()


def bad_state(**changes):
    state = dict(CRF(3).state_dict())
    return as_checkpoint({name: t for name, t in {**state, **changes}.items() if t is not None})


def cut(file, at):
    return file[0], file[1][:at]


def pt(program):
    """A .pt with these bytes for its pickle."""
    return as_zip({"archive/data.pkl": program})


SAFE = ("model.safetensors", save(dict(CRF(3).state_dict())))
BAD = {
    "no layer": (as_checkpoint({"weight": torch.zeros(3)}), "Expected one CRF layer, .* got 0"),
    "two layers": (
        bad_state(**{"other.start_transitions": torch.zeros(3)}),
        "Expected one CRF layer, .* got 2",
    ),
    "no transitions": (bad_state(transitions=None), "tensor transitions is missing"),
    "wrong shape": (
        bad_state(transitions=torch.zeros(3, 2)),
        r"must be \(K, K\), \(K,\), \(K,\), got \(3, 2\)",
    ),
    "NaN": (bad_state(end_transitions=torch.full((3,), math.nan)), r"end\[0\] .* got nan"),
    "+inf": (bad_state(transitions=torch.full((3, 3), math.inf)), r"transitions\[0, 0\] .* inf"),
    "other number of tags": (
        as_checkpoint(dict(CRF(2).state_dict())),
        r"transitions must be \(3, 3\)",
    ),
    "no numbers": (
        bad_state(transitions=torch.zeros(3, 3, dtype=torch.complex64)),
        "tensor transitions is missing",
    ),
    "a view of anything": (
        bad_state(
            transitions=torch.zeros(1, 1).expand(100_000, 100_000),
            start_transitions=torch.zeros(1).expand(100_000),
            end_transitions=torch.zeros(1).expand(100_000),
        ),
        "100000 tags, more than can be drawn",
    ),
    "sparse": (bad_state(transitions=torch.zeros(3, 3).to_sparse()), "transitions is missing"),
    "cut .pt": (cut(bad_state(), 900), "damaged or cut off"),
    "cut .safetensors": (cut(SAFE, 150), r"\.safetensors file is damaged|none of the files"),
    "no dictionary": (as_checkpoint(torch.zeros(3)), "must hold a state_dict"),
    "a .pt that unpacks to much": (
        as_zip({"archive/data.pkl": b"x", "archive/data/0": bytes(70_000_000)}),
        "unpacks to 70,000,001 bytes",
    ),
    "a .pt of nothing": (pt(b"x"), r"\.pt"),
    "a .pt whose text is cut off": (pt(b"X\x09\0\0\0transit"), r"its data\.pkl is cut off"),
    "a .pt whose number is cut off": (pt(b"J\x09"), r"its data\.pkl is cut off"),
    "a .pt whose name is cut off": (pt(b"ctorch"), "holds more than tensors"),
    "a .pt without an end": (pt(b"X\x03\0\0\0abc"), r"its data\.pkl is cut off"),
}


@pytest.mark.parametrize(("file", "message"), BAD.values(), ids=BAD)
def test_invalid_layer_is_rejected_with_its_reason(file, message):
    with pytest.raises(FormatError, match=message):
        understand(file, as_npz(emissions=np.zeros((2, 3))))


def test_layer_without_emissions_or_with_other_transitions_is_rejected():
    with pytest.raises(FormatError, match="A CRF layer says nothing without the emissions"):
        understand(SAFE)
    with pytest.raises(FormatError, match="Both files have transitions"):
        understand(SAFE, as_json(transitions=TRANSITIONS))
    with pytest.raises(FormatError, match="do not belong together"):
        understand(SAFE, bad_state(), as_json())


@pytest.mark.parametrize("kind", ["float64", "float32", "float16", "bfloat16", "int64"])
def test_every_number_type_is_read_as_by_torch(kind):
    torch.manual_seed(3)
    numbers = (torch.randn(3, 4) * 5).to(getattr(torch, kind))
    state = {
        "transitions": numbers[:, :3],  # a view with strides of its own
        "start_transitions": numbers[:, 3],
        "end_transitions": torch.nn.Parameter(torch.ones(3)).detach(),
    }
    (chain,) = understand(as_checkpoint(state), as_npz(emissions=np.zeros((2, 3)))).sentences
    assert chain.transitions.tolist() == numbers[:, :3].double().tolist()
    assert chain.start.tolist() == numbers[:, 3].double().tolist()


@pytest.mark.parametrize("kind", [".pt", ".safetensors", "emissions"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_half_precision_is_noted(layer, kind, dtype):
    state = {n: t.to(getattr(torch, dtype)) for n, t in layer.state_dict().items()}
    numbers = np.float16 if kind == "emissions" else np.float32
    file = ("model.safetensors", save(state)) if kind == ".safetensors" else as_checkpoint(state)
    notes = understand(file, as_npz(emissions=np.zeros((2, 3), numbers))).notes
    half = {dtype, "float16" if kind == "emissions" else ""} & {"float16", "bfloat16"}
    said = [note for note in notes if "2 or 3 digits" in note]
    assert sorted(note.split(",")[0] for note in said) == [
        f"The scores are {d}" for d in sorted(half)
    ]


@pytest.mark.parametrize("kind", [".pt", ".safetensors"])
def test_masks_beside_the_layer_forbid_their_steps(layer, kind):
    forbidden = torch.tensor([[0, 1, 0], [0, 0, 0], [1, 0, 0]]).bool()
    ends = {"start": torch.tensor([False, True, False]), "end": torch.tensor([True, False, False])}
    state = {f"crf.{name}": tensor for name, tensor in layer.state_dict().items()}
    state |= {f"crf.{name}_forbidden_transitions": mask for name, mask in ends.items()}
    state |= {"crf.forbidden_transitions": forbidden, "crf.linear.weight": torch.zeros(2)}
    file = as_checkpoint(state) if kind == ".pt" else ("model.safetensors", save(state))
    (chain,) = understand(file, as_npz(emissions=np.zeros((2, 3)))).sentences
    expected = layer.transitions.double().masked_fill(forbidden, -math.inf)
    assert chain.transitions.tolist() == expected.tolist()
    for name, mask in ends.items():
        weights = layer.get_parameter(f"{name}_transitions").double().masked_fill(mask, -math.inf)
        assert getattr(chain, name).tolist() == weights.tolist()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("scale", "scale stands beside the transitions"),
        ("forbidden_transitions", r"must be \(3, 3\), got \(2,\)"),
    ],
)
def test_tensor_that_may_change_the_layer_is_rejected(layer, name, said):
    state = layer.state_dict() | {name: torch.zeros(2)}
    with pytest.raises(FormatError, match=said):
        understand(as_checkpoint(state), as_npz(emissions=np.zeros((2, 3))))


def test_other_checkpoint_contents_are_ignored():
    layer = CRF(3)
    more = {
        "epoch": 7,
        "lr": 0.1,
        "optimizer": {"state": {0: {"step": torch.tensor(1.0)}}, "betas": (0.9, 0.999)},
        "sparse": torch.eye(3).to_sparse(),
        "device": torch.device("cpu"),
        "size": torch.Size([2, 3]),
        "kind": torch.float32,
        "parameter": torch.nn.Parameter(torch.zeros(2)),
        "state_dict": layer.state_dict(),
    }
    (chain,) = understand(as_checkpoint(more), as_npz(emissions=np.zeros((2, 3)))).sentences
    assert chain.transitions.tolist() == layer.transitions.double().tolist()
