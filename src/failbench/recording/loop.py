"""The training loop, made of parts that a fault replaces; all else is the same for its twin."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from failbench.recording.architectures import (
    OBJECTIVES,
    PAPER_SHAPES,
    Examples,
    ModelSize,
    SequenceModel,
    build_model,
)
from failbench.recording.corpus import BEGIN, PAD, UNKNOWN, CorpusSlice
from failbench.recording.memory import MemoryMeter
from failbench.recording.nominal import Nominal, Seeds
from failbench.recording.unmonitored import UNMONITORED
from failbench.scenarios import Architecture, Optimizer

if TYPE_CHECKING:
    from failbench.monitor import Monitor
    from failbench.recording.unmonitored import Unmonitored

IGNORED = -100
LAYERS, HEADS, POSITIONS, DROPOUT = 2, 4, 512, 0.0
WEIGHT_DECAY = 0.01
MOMENTUM = 0.9
FINAL_LEARNING_RATE = 0.5  # share of the peak to which the linear schedule decays
VALIDATE_EVERY = 10
VALIDATION_SEQUENCES = 24
SPIKE_STEPS = 2


@dataclass
class Settings:
    """The effective configuration; starts as the nominal one, and faults change it."""

    batch_size: int
    learning_rate: float
    warmup_steps: int
    clip_norm: float | None
    sequence_length: int
    characters_per_token: float
    size: ModelSize


@dataclass
class StepRow:
    """The logged values of one step; the fields are those of ``telemetry.STEP_SCHEMA``."""

    step: int
    loss: float | None = None
    gradient_norm: float | None = None
    learning_rate: float | None = None
    clip_norm: float | None = None
    memory_bytes: int = 0
    step_seconds: float = 0.0
    sequences: int | None = None
    tokens: int | None = None
    unknown_tokens: int | None = None
    covered_tokens: int | None = None
    max_token_id: int | None = None
    mean_length: float | None = None
    max_length: int | None = None
    validation_loss: float | None = None


class TrainingRun:
    """One training run: its settings, its generators, and the parts that faults may replace."""

    def __init__(
        self,
        architecture: Architecture,
        optimizer: Optimizer,
        scale: str,
        device: str,
        nominal: Nominal,
        seeds: Seeds,
        corpus: CorpusSlice,
        tokenizer: Tokenizer,
        capacity_bytes: int | None,
        meter: MemoryMeter,
        scratch: Path,
        hold: Callable[[str, int], None],
        monitor: Monitor | Unmonitored = UNMONITORED,
    ) -> None:
        self.architecture = architecture
        self.optimizer_name = optimizer
        self.device = device
        self.nominal = nominal
        self.corpus = corpus
        self.tokenizer = tokenizer
        self.meter = meter
        self.scratch = scratch
        self.hold = hold
        self.monitor = monitor
        self._capacity_bytes = capacity_bytes
        self.seeds = seeds
        self.data_generator = np.random.default_rng(seeds.data)
        self.fault_generator = np.random.default_rng(seeds.fault)
        small = (nominal.width, LAYERS, HEADS)
        width, layers, heads = PAPER_SHAPES[architecture] if scale == "paper" else small
        self.settings = Settings(
            batch_size=nominal.batch_size,
            learning_rate=nominal.learning_rate,
            warmup_steps=nominal.warmup_steps,
            clip_norm=nominal.clip_norm,
            sequence_length=nominal.sequence_length,
            characters_per_token=2.5,
            size=ModelSize(width, layers, heads, tokenizer.get_vocab_size(), POSITIONS, DROPOUT),
        )
        self.step = 0
        self.step_started = 0.0
        self.row = StepRow(0)
        self.schedule: Callable[[int], float] = self._linear_schedule
        self.draw_texts: Callable[[int], list[str]] = self._draw_texts
        self.encode: Callable[[list[str]], list[list[int]]] = self._encode
        self.collate: Callable[[list[list[int]]], Tensor] = collate
        self.make_examples: Callable[[Tensor], Examples] = self._make_examples
        self.forward: Callable[[Examples], Tensor] = self._forward
        self.compute_loss: Callable[[Tensor, Tensor], Tensor] = cross_entropy
        self.backward: Callable[[Tensor], None] = self._backward
        self.clear_gradients: Callable[[], None] = self._clear_gradients
        self.update: Callable[[], None] = self._update
        self.validation_encode: Callable[[list[str]], list[list[int]]] = self._encode_nominal
        self.clip_gradients: Callable[[float | None], float] = self._clip
        self.validate: Callable[[], float] = self._validate
        self.after_step: Callable[[], None] = lambda: None
        self.between_steps: Callable[[], None] = lambda: None
        self.model: SequenceModel
        self.optimizer: torch.optim.Optimizer
        self.batches: Iterator[Examples]

    @property
    def capacity_bytes(self) -> int:
        """Memory capacity; only faults read it, so never a twin."""
        assert self._capacity_bytes is not None
        return self._capacity_bytes

    def build(self) -> None:
        """Build model, optimizer, distractor and the validation set."""
        torch.manual_seed(self.seeds.model)
        self.model = build_model(self.architecture, self.settings.size).to(self.device)
        self.optimizer = self.make_optimizer()
        if self.nominal.distractor == "memory_ballast":
            self.ballast = torch.ones(int(self.nominal.distractor_share * 2**22))
        generator = np.random.default_rng(self.seeds.validation)
        self.validation_texts = self._passages(
            self.corpus.validation, VALIDATION_SEQUENCES, generator
        )
        self.monitor.watch(self.model, self.optimizer)
        self.batches = iter(self.monitor.data(iter(self._read_batch, None)))

    def make_optimizer(self) -> torch.optim.Optimizer:
        """A new optimizer over the model's trainable parameters."""
        parameters = [one for one in self.model.parameters() if one.requires_grad]
        rate = self.settings.learning_rate
        if self.optimizer_name == "sgd":
            return torch.optim.SGD(parameters, rate, momentum=MOMENTUM, fused=True)
        return torch.optim.AdamW(parameters, rate, weight_decay=WEIGHT_DECAY, fused=True)

    def begin_step(self, step: int) -> None:
        """Open the row of a step."""
        self.step = step
        self.row = StepRow(step)

    def train_step(self) -> None:
        """One optimization step; ``self.row`` holds the values reached even if it raises."""
        self.step_started = time.perf_counter()
        row = self.row
        settings = self.settings
        try:
            row.learning_rate = self.schedule(self.step)
            row.clip_norm = settings.clip_norm
            for group in self.optimizer.param_groups:
                group["lr"] = row.learning_rate
            examples = next(self.batches)
            self.clear_gradients()
            logits = self.forward(examples)
            labels = examples.labels
            loss = self.monitor.loss(logits, labels, self.compute_loss(logits, labels))
            del logits  # what the graph does not need is free before the backward pass
            row.loss = loss.item()
            self._sample_memory()
            self.backward(loss)
            row.gradient_norm = self.clip_gradients(settings.clip_norm)
            self._sample_memory()
            self.update()
            self.after_step()
        finally:
            self._sample_memory()
            row.step_seconds = time.perf_counter() - self.step_started
        if self.step % VALIDATE_EVERY == 0:
            with self.monitor.phase("evaluation"):
                row.validation_loss = self.validate()
            self._sample_memory()

    def _read_batch(self) -> Examples:
        sequences = self.encode(self.draw_texts(self.settings.batch_size))
        self._describe(sequences)
        return self.make_examples(self.collate(sequences))

    def _sample_memory(self) -> None:
        self.row.memory_bytes = max(self.row.memory_bytes, self.meter.read())

    def _linear_schedule(self, step: int) -> float:
        settings = self.settings
        warmup = min(1.0, (step + 1) / settings.warmup_steps) if settings.warmup_steps else 1.0
        progress = step / self.nominal.planned_steps
        return settings.learning_rate * warmup * (1 - (1 - FINAL_LEARNING_RATE) * progress)

    def _passages(
        self, documents: tuple[str, ...], count: int, generator: np.random.Generator
    ) -> list[str]:
        wanted = self.settings.sequence_length * self.settings.characters_per_token
        passages = []
        for _ in range(count):
            document = documents[generator.integers(len(documents))]
            length = int(wanted * generator.uniform(0.5, 1.2))
            start = int(generator.integers(max(1, len(document) - length)))
            passages.append(document[start : start + length])
        return passages

    def _draw_texts(self, count: int) -> list[str]:
        texts = self._passages(self.corpus.training, count, self.data_generator)
        spike = self.nominal.distractor == "loss_spike"
        if spike and 0 <= self.step - self.nominal.distractor_step < SPIKE_STEPS:
            return [text[::-1] for text in texts]  # a stretch of bad data that healthy runs survive
        return texts

    def _encode(self, texts: list[str]) -> list[list[int]]:
        return self.tokenize(texts, self.settings.sequence_length)

    def _encode_nominal(self, texts: list[str]) -> list[list[int]]:
        return self.tokenize(texts, self.nominal.sequence_length)

    def tokenize(self, texts: list[str], longest: int) -> list[list[int]]:
        """Token ids of each text, truncated."""
        return [one.ids[:longest] for one in self.tokenizer.encode_batch(texts)]

    def _describe(self, sequences: list[list[int]]) -> None:
        row, vocabulary = self.row, self.settings.size.vocabulary
        lengths = [len(one) for one in sequences]
        ids = np.asarray([token for one in sequences for token in one], dtype=np.int64)
        ids = ids[ids != PAD]
        row.sequences = len(sequences)
        row.tokens = int(ids.size)
        row.unknown_tokens = int((ids == UNKNOWN).sum())
        row.covered_tokens = int(((ids >= 0) & (ids < vocabulary) & (ids != UNKNOWN)).sum())
        row.max_token_id = int(ids.max()) if ids.size else None
        row.mean_length = float(np.mean(lengths)) if lengths else None
        row.max_length = max(lengths, default=None)

    def _make_examples(self, ids: Tensor) -> Examples:
        objective = OBJECTIVES[self.architecture]
        source = None
        if objective == "sequence_to_sequence":
            cut = max(1, ids.shape[1] // 3)
            source, ids = ids[:, :cut], ids[:, cut:]
        begin = torch.full((ids.shape[0], 1), BEGIN)
        inputs = torch.cat([begin, ids], dim=1)[:, :-1]
        labels = ids.masked_fill(ids == PAD, IGNORED)
        return Examples(inputs, labels, source).to(self.device)

    def _forward(self, examples: Examples) -> Tensor:
        return self.model(examples)

    def _backward(self, loss: Tensor) -> None:
        loss.backward()

    def _clear_gradients(self) -> None:
        self.optimizer.zero_grad()

    def _clip(self, clip_norm: float | None) -> float:
        limit = math.inf if clip_norm is None else clip_norm
        return float(nn.utils.clip_grad_norm_(self.model.parameters(), limit))

    def _update(self) -> None:
        self.optimizer.step()

    def _validate(self) -> float:
        self.model.eval()
        with torch.no_grad():
            loss = self.validation_loss(self.validation_texts)
        self.model.train()
        return loss.item()

    def validation_loss(self, texts: list[str]) -> Tensor:
        """Loss on held-out texts."""
        examples = self._make_examples(collate(self.validation_encode(texts)))
        logits = self._forward(examples)
        loss = cross_entropy(logits, examples.labels)
        return self.monitor.loss(logits, examples.labels, loss)

    def resize(self, **changes: int) -> None:
        """Replace parts of the model's shape; takes effect when it is built."""
        self.settings.size = replace(self.settings.size, **changes)

    def replace_module(self, old: nn.Module, new: nn.Module) -> None:
        """Replace one of the model's modules."""
        for name, module in self.model.named_modules():
            if module is old:
                parent, _, child = name.rpartition(".")
                setattr(self.model.get_submodule(parent), child, new)


def collate(sequences: list[list[int]]) -> Tensor:
    """Pad sequences to the longest: token ids of shape (batch, positions)."""
    tensors = [torch.tensor(one, dtype=torch.long) for one in sequences]
    return nn.utils.rnn.pad_sequence(tensors, batch_first=True, padding_value=PAD)


def cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy in nats over the positions that have a label."""
    return nn.functional.cross_entropy(
        logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), ignore_index=IGNORED
    )


def row_record(row: StepRow) -> dict[str, object]:
    """The row as JSON-able values."""
    return asdict(row)
