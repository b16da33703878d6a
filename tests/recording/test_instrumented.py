"""A run that another tool watches from inside is the run that it is without."""

import json
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from failbench.recording.corpus import load_corpus
from failbench.recording.instrumented import EPOCH_STEPS, InstrumentedRun
from failbench.recording.loop import TrainingRun
from failbench.recording.memory import MemoryMeter

PLANNED = EPOCH_STEPS + 2


class Extractor:
    def __init__(self, network, arch, config):
        self.network, self.arch = network, arch
        self.steps, self.trained, self.epochs, self.validated = [], [], [], []

    def step(self, **named):
        self.steps.append(named)
        self.trained.append(self.network.training)

    def epoch_end(self, epoch):
        self.epochs.append(epoch)

    def record_validation(self, epoch, metrics):
        self.validated.append(epoch)

    def finalize(self):
        return {"steps": float(len(self.steps))}


@pytest.fixture
def parts(corpus_cache, order, tmp_path, monkeypatch):
    fake = SimpleNamespace(FeatureExtractor=Extractor, ExtractionConfig=SimpleNamespace)
    monkeypatch.setitem(sys.modules, "defaultplusplus", fake)
    corpus = load_corpus(corpus_cache)
    setting = {"architecture": "distilbert", "optimizer": "adamw", "scale": "small"}
    drawn = {"nominal": replace(order.nominal, planned_steps=PLANNED), "seeds": order.seeds}
    texts = {"corpus": corpus.slices[0], "tokenizer": corpus.tokenizer, "scratch": tmp_path}
    limits = {"device": "cpu", "capacity_bytes": None, "meter": MemoryMeter()}
    return {**setting, **drawn, **texts, **limits, "hold": lambda _agent, _bytes: None}


@pytest.fixture
def watched(parts, tmp_path):
    return InstrumentedRun(features=tmp_path / "run.json", **parts)


def losses(run, steps):
    run.build()
    made = []
    for step in range(steps):
        run.begin_step(step)
        run.train_step()
        made.append(run.row.loss)
    return made


@pytest.mark.parametrize("architecture", ["bert", "distilbert"])
def test_a_watched_run_trains_as_it_does_unwatched(parts, tmp_path, architecture):
    parts["architecture"] = architecture
    watched = losses(InstrumentedRun(features=tmp_path / "run.json", **parts), 12)
    assert watched == pytest.approx(losses(TrainingRun(**parts), 12), rel=1e-4)


def test_the_extractor_is_handed_what_its_readme_asks_for(watched, tmp_path):
    made = losses(watched, PLANNED - 1)
    extractor = watched._extractor
    assert extractor.arch == "encoder"
    assert [named["loss"] for named in extractor.steps] == made
    assert all(extractor.trained)
    first = extractor.steps[0]
    batch, positions = first["input_ids"].shape
    assert first["labels"].shape == first["attention_mask"].shape == (batch, positions)
    attention = first["outputs"].attentions[0]
    assert attention.shape[-2:] == (positions, positions)
    assert torch.triu(attention, diagonal=1).abs().max() == 0, "no position sees what comes after"
    assert len(first["outputs"].hidden_states) == 3
    assert not (tmp_path / "run.json").exists(), "a run that does not come to its end leaves none"
    watched.begin_step(PLANNED - 1)
    watched.train_step()
    assert extractor.epochs == extractor.validated == [0, 1]
    assert json.loads((tmp_path / "run.json").read_text()) == {"steps": PLANNED}


def test_what_a_fault_does_after_steps_is_done_and_stays(watched):
    done = []
    watched.after_step = of_fault = lambda: done.append(watched.step)
    losses(watched, 3)
    assert done == [0, 1, 2]
    assert watched.after_step is of_fault
