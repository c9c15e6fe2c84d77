"""One training run: loss, noise, schedule, averaged weights, and checkpoints.

    loss = -sum over sentences of log p(allowed tags | words) / words
           + auxiliary * cross entropy of the second tag column

Every epoch draws its order and noise from a generator seeded with (seed, epoch). So a run resumed
from a checkpoint gets exactly the same numbers as an uninterrupted one.

The checkpoint is one safetensors file with tensors and a JSON text, which is replaced atomically. A
reader sees the old epoch or the new one, never a mixture.

Source:
    AdamW: Loshchilov and Hutter (2019); averaged weights: Polyak and Juditsky (1992);
    variational dropout: Gal and Ghahramani (2016); word dropout: Kiperwasser and Goldberg (2016),
    section 4.5.
"""

import copy
import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.optim.adamw import adamw

from crfviz.corpus.training.labelled import (
    NO_TAG,
    Corpus,
    Labelled,
    LabelledBatch,
    bucket,
    collate,
)
from crfviz.corpus.training.recipe import Recipe
from crfviz.corpus.training.vectors import Projected
from crfviz.exceptions import ModelError
from crfviz.taggers.features import key
from crfviz.taggers.neural.network import NUM_SPECIAL, UNKNOWN, Network, initialise

SLOTS = ("step", "exp_avg", "exp_avg_sq")  # AdamW's state of a parameter
EPSILON = 1e-8  # added to AdamW's divisor
AVERAGE_LAG = 10  # after n steps the average's decay is at most (1 + n) / (lag + n)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a run after an epoch, from which it can be resumed."""

    fingerprint: str  # digest of recipe and data, so that no other run resumes
    epoch: int  # finished epochs
    history: list[dict[str, float]]  # one row per finished epoch
    tensors: Mapping[str, Tensor]  # weights, averages, optimiser and best averages, by prefix

    def part(self, prefix: str) -> dict[str, Tensor]:
        start = f"{prefix}."
        return {n.removeprefix(start): t for n, t in self.tensors.items() if n.startswith(start)}


class TrainingNoise:
    """Word dropout and variational dropout from one generator; see `Noise`."""

    def __init__(self, recipe: Recipe, drop_word: Tensor, generator: torch.Generator) -> None:
        self.recipe = recipe
        self.drop_word = drop_word  # (V,) probability that a word becomes unknown
        self.generator = generator

    def words(self, ids: Tensor) -> Tensor:
        """Return the ids, (B, T) long, with some replaced by `UNKNOWN`."""
        chance = torch.rand(ids.shape, generator=self.generator, device=ids.device)
        return torch.where(chance < self.drop_word[ids], UNKNOWN, ids)

    def drop(self, values: Tensor, where: Literal["characters", "inputs", "outputs"]) -> Tensor:
        """Zero some of the D columns of (B, T, D), the same in a whole sentence; scale the rest."""
        keep: float = 1.0 - getattr(self.recipe, f"drop_{where}")
        shape = (values.shape[0], 1, values.shape[2])
        chance = torch.rand(shape, generator=self.generator, device=values.device)
        return values * ((chance < keep) / keep)


class AdamW:
    """AdamW with torch's fused function; importing `torch.optim.AdamW` takes over a second."""

    def __init__(self, recipe: Recipe, parameters: Mapping[str, Tensor]) -> None:
        self.recipe, self.parameters = recipe, parameters
        self.slots: dict[str, dict[str, Tensor]] = {
            slot: {
                name: torch.zeros((), device=p.device) if slot == "step" else torch.zeros_like(p)
                for name, p in parameters.items()
            }
            for slot in SLOTS
        }

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Update all parameters that have a gradient, in place, with a learning rate."""
        moved = {name: p for name, p in self.parameters.items() if p.grad is not None}
        steps, means, squares = ([self.slots[slot][name] for name in moved] for slot in SLOTS)
        adamw(
            params=list(moved.values()),
            grads=[p.grad for p in moved.values() if p.grad is not None],
            exp_avgs=means,
            exp_avg_sqs=squares,
            max_exp_avg_sqs=[],
            state_steps=steps,
            fused=True,
            amsgrad=False,
            beta1=self.recipe.momentum,
            beta2=self.recipe.second_momentum,
            lr=rate,
            weight_decay=self.recipe.weight_decay,
            eps=EPSILON,
            maximize=False,
        )


class Run:
    """Weights, optimiser and averaged weights of one training run."""

    def __init__(self, recipe: Recipe, corpus: Corpus, device: torch.device) -> None:
        self.recipe, self.corpus, self.device = recipe, corpus, device
        self.network = Network(
            recipe.architecture, recipe.sizes, corpus.vocabulary, len(corpus.tags)
        )
        if corpus.vectors is not None:
            self.network.words = Projected(corpus.vectors, recipe.sizes.word)
        modules: dict[str, nn.Module] = {"network": self.network}
        if corpus.auxiliary_tags:
            modules["auxiliary"] = nn.Linear(self.network.context.size, len(corpus.auxiliary_tags))
        self.modules = nn.ModuleDict(modules)
        initialise(self.modules, torch.Generator().manual_seed(recipe.seed))
        self.modules.to(device)
        self.average = copy.deepcopy(self.network).requires_grad_(requires_grad=False)
        self.parameters: dict[str, Tensor] = dict(self.modules.named_parameters())
        self.optimiser = AdamW(recipe, self.parameters)
        self.drop_word = _drop_word(recipe, corpus).to(device)
        self.finished = 0  # finished epochs

    @property
    def num_steps(self) -> int:
        """The number of batches in one epoch."""
        return len(bucket(self.corpus.train, self.recipe, torch.Generator().manual_seed(0)))

    def train_epoch(self, after_step: Callable[[float], None]) -> float:
        """Train one epoch and return the mean loss per word, in nats.

        Args:
            after_step: called with the loss of each batch.
        """
        number = self.recipe.seed * 10_000 + self.finished
        order = torch.Generator().manual_seed(number)
        dice = torch.Generator(self.device).manual_seed(number)
        noise = TrainingNoise(self.recipe, self.drop_word, dice)
        groups = bucket(self.corpus.train, self.recipe, order)
        losses = []
        for step, group in enumerate(groups):
            sentences = lowered(group, self.recipe.lower_case, order)
            batch = collate(sentences, self.corpus.vocabulary).to(self.device)
            done = (self.finished + step / len(groups)) / self.recipe.epochs
            losses.append(self._step(batch, noise, done, self.finished * len(groups) + step))
            after_step(losses[-1])
        self.finished += 1
        return sum(losses) / len(losses)

    def checkpoint(
        self, fingerprint: str, history: list[dict[str, float]], best: dict[str, Tensor]
    ) -> Checkpoint:
        """Return the state after the last finished epoch."""
        tensors = {f"weights.{n}": p for n, p in self.parameters.items()}
        tensors |= {f"average.{n}": p for n, p in self.average.named_parameters()}
        tensors |= {f"best.{n}": p for n, p in best.items()}
        for slot, values in self.optimiser.slots.items():
            tensors |= {f"{slot}.{n}": value for n, value in values.items()}
        return Checkpoint(fingerprint, self.finished, history, tensors)

    def restore(self, checkpoint: Checkpoint) -> None:
        """Restore the state of a checkpoint."""
        self.modules.load_state_dict(checkpoint.part("weights"))
        self.average.load_state_dict(checkpoint.part("average"))
        for slot, values in self.optimiser.slots.items():
            for name, value in checkpoint.part(slot).items():
                values[name].copy_(value)
        self.finished = checkpoint.epoch

    def _step(self, batch: LabelledBatch, noise: TrainingNoise, done: float, count: int) -> float:
        loss = self._loss(batch, noise)
        self.modules.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]  # torch has no type for it
        nn.utils.clip_grad_norm_(self.parameters.values(), self.recipe.clip)
        self.optimiser.step(self.recipe.learning_rate * _rate(done, self.recipe.warm_up))
        decay = min(self.recipe.average, (1 + count) / (AVERAGE_LAG + count))
        with torch.no_grad():
            pairs = zip(self.average.parameters(), self.network.parameters(), strict=True)
            for average, now in pairs:
                average.lerp_(now, 1.0 - decay)
        return loss.item()

    def _loss(self, batch: LabelledBatch, noise: TrainingNoise) -> Tensor:
        mask = batch.inputs.mask
        hidden = self.network.hidden(batch.inputs, noise)
        tagged = batch.tagged
        loss = hidden.new_zeros(())
        if tagged.any():
            emissions = self.network.output(hidden[tagged])
            crf, words = self.network.crf, mask[tagged]
            if batch.allowed is None:
                likelihood = crf.log_likelihood(emissions, batch.tags[tagged], words)
            else:
                likelihood = crf.partial_log_likelihood(emissions, batch.allowed[tagged], words)
            loss = loss - likelihood.sum() / words.sum()
        known = batch.auxiliary != NO_TAG
        if known.any():
            scores = self.modules["auxiliary"](hidden[known])
            loss = loss + self.recipe.auxiliary * nn.functional.cross_entropy(
                scores, batch.auxiliary[known]
            )
        return loss


def lowered(
    sentences: Sequence[Labelled], share: float, generator: torch.Generator
) -> Sequence[Labelled]:
    """Return the sentences with a random `share` of them in lower case."""
    if not share:  # no random numbers, so other recipes' weights stay the same
        return sentences
    chances = torch.rand(len(sentences), generator=generator).tolist()
    return [
        replace(sentence, tokens=tuple(word.lower() for word in sentence.tokens))
        if chance < share
        else sentence
        for sentence, chance in zip(sentences, chances, strict=True)
    ]


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; the file is replaced atomically."""
    state = {name: value for name, value in vars(checkpoint).items() if name != "tensors"}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    tensors = {n: t.detach().cpu().clone().contiguous() for n, t in checkpoint.tensors.items()}
    save_file(tensors, unfinished, metadata={"state": json.dumps(state)})
    unfinished.replace(path)


def read_checkpoint(path: Path) -> Checkpoint | None:
    """Return the checkpoint of the last finished epoch; None before the first.

    Raises:
        ModelError: the file is not a checkpoint of this program.
    """
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            state: dict[str, Any] = json.loads(file.metadata()["state"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        return Checkpoint(**state, tensors=tensors)
    except (SafetensorError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise ModelError(
            f"{path} is no training checkpoint ({error}); start over with --fresh"
        ) from error


def _rate(done: float, warm_up: float) -> float:
    """Return the learning rate relative to its peak, after the share `done` of the steps."""
    if done < warm_up:
        return done / warm_up
    return 0.5 * (1.0 + math.cos(math.pi * (done - warm_up) / (1.0 - warm_up)))


def _drop_word(recipe: Recipe, corpus: Corpus) -> Tensor:
    """Return the dropout probability of each dictionary word: (V,)."""
    counts = Counter(key(word) for sentence in corpus.train for word in sentence.tokens)
    alpha = recipe.word_dropout
    rates = [alpha and alpha / (alpha + counts[word]) for word in corpus.vocabulary.words]
    return torch.tensor([0.0] * NUM_SPECIAL + rates)
