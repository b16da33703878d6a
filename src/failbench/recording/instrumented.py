"""Instrumented: the child's side of a run that DEFault++ watches, whose loop is unchanged."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor, nn

from failbench.neighbours.peers.default_plus_plus import FAMILY, PACKAGE
from failbench.recording import child
from failbench.recording.architectures import Examples
from failbench.recording.corpus import BEGIN, PAD
from failbench.recording.loop import TrainingRun
from failbench.recording.order import Line, RunOrder

EPOCH_STEPS: Final = 30  # ten epochs a run, as the peer compares 1, 4, 7, 10; whole validations


class InstrumentedRun(TrainingRun):
    """A training run that calls the peer's extractor at every step."""

    def __init__(self, *, features: Path, **parts: Any) -> None:
        super().__init__(**parts)
        self._features = features
        self._validation_loss: float | None = None
        self._steps_of_epoch = 0
        self._epoch = 0

    def build(self) -> None:
        """Build the run, then attach the extractor as its README says."""
        super().build()
        network: Any = self.model.network
        network.set_attn_implementation("eager")  # others return no attention weights
        network.config.output_attentions = True
        network.config.output_hidden_states = True
        network.register_forward_pre_hook(_with_additive_mask, with_kwargs=True)
        network.register_forward_hook(self._keep_outputs)
        package = import_module(PACKAGE)
        settings = package.ExtractionConfig(pad_token_id=PAD, bos_token_id=BEGIN)
        self._extractor = package.FeatureExtractor(network, arch=FAMILY, config=settings)
        self.batches = self._kept(self.batches)

    def train_step(self) -> None:
        """One step of the run; at its end, before any validation, one of the extractor."""
        of_run = self.after_step

        def then_extract() -> None:
            of_run()
            self._extract()

        self.after_step = then_extract
        try:
            super().train_step()
        finally:
            if self.after_step is then_extract:
                self.after_step = of_run
        if self.row.validation_loss is not None:
            self._validation_loss = self.row.validation_loss
        last = self.step == self.nominal.planned_steps - 1
        if last or self._steps_of_epoch == EPOCH_STEPS:
            self._end_epoch()
        if last:
            content = json.dumps(self._extractor.finalize(), sort_keys=True)
            self._features.write_text(content, encoding="utf-8")

    def _kept(self, batches: Iterator[Examples]) -> Iterator[Examples]:
        for examples in batches:
            self._examples = examples
            yield examples

    def _keep_outputs(self, network: nn.Module, _inputs: object, outputs: Any) -> None:
        if network.training:
            self._outputs = outputs

    def _extract(self) -> None:
        inputs = self._examples.inputs
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn, on classes without any example
            self._extractor.step(
                loss=self.row.loss,
                outputs=self._outputs,
                input_ids=inputs,
                attention_mask=(inputs != PAD).long(),
                labels=self._examples.labels,
                optimizer=self.optimizer,
            )
        del self._outputs
        self._steps_of_epoch += 1

    def _end_epoch(self) -> None:
        self._extractor.epoch_end(self._epoch)
        if self._validation_loss is not None:
            self._extractor.record_validation(self._epoch, {"loss": self._validation_loss})
        self._epoch += 1
        self._steps_of_epoch = 0


def _with_additive_mask(
    _network: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The call with a mask that is added to scores: eager attention adds whatever it is given."""
    return inputs, named | {"attention_mask": additive(named["attention_mask"])}


def additive(visible: Tensor) -> Tensor:
    """Zero where a position may be seen, and the lowest number there is where it may not."""
    hidden = torch.zeros(visible.shape, dtype=torch.float32, device=visible.device)
    return hidden.masked_fill(~visible, torch.finfo(torch.float32).min)


@dataclass(frozen=True)
class WatchedTraining:
    """The child's side of a run that is watched."""

    folder: str

    def __call__(self, order: RunOrder, line: Line) -> None:
        """Train as any child does, in a run of the class that is watched."""
        features = Path(self.folder) / f"{order.run_id}.json"
        vars(child).update(TrainingRun=partial(InstrumentedRun, features=features))
        child.main(order, line)
