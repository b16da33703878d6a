"""Other kinds of network: the same causes, with images in the place of text."""

from pathlib import Path

import numpy as np
import pytest
import torch

from failbench.base.params import read_section
from failbench.base.scenarios import read_scenarios
from failbench.recording.architectures import ModelSize
from failbench.recording.corpus import load_corpus
from failbench.recording.kinds import images, own_time
from failbench.recording.kinds.image_run import HEADER, ImageRun
from failbench.recording.kinds.models import MODELS
from failbench.recording.kinds.plan import (
    KINDS,
    ON_IMAGES,
    KindsWanted,
    faults_of,
    params_of,
    read_other_causes,
    scenarios_of,
)
from failbench.recording.memory import MemoryMeter
from failbench.recording.nominal import draw_nominal, seeds_of
from failbench.recording.plan import RecordParams

PARAMS = Path("params.yaml")
SCENARIOS = read_scenarios(Path("data/scenarios"))
OTHERS = read_other_causes()


def params(kind):
    record = read_section("record", RecordParams, PARAMS)
    return params_of(kind, record, read_section("kinds", KindsWanted, PARAMS))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    cache = tmp_path_factory.mktemp("images") / "images.json"
    images.write_images(cache)
    return load_corpus(cache)


@pytest.fixture
def run(corpus, monkeypatch):
    from failbench.recording import architectures

    for name, model in MODELS.items():
        monkeypatch.setitem(architectures.BUILDERS, name, model)
    seeds = seeds_of("success", 0)
    generator = np.random.default_rng(seeds.nominal)
    nominal = draw_nominal(params("cnn").nominal, "adamw", images.SLICES, generator)
    made = ImageRun(
        architecture="cnn", optimizer="adamw", scale="small", device="cpu", nominal=nominal,
        seeds=seeds, corpus=corpus.slices[0], tokenizer=corpus.tokenizer, capacity_bytes=None,
        meter=MemoryMeter(), scratch=Path(), hold=lambda *_: None,
    )  # fmt: skip
    made.build()
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_every_cause_has_a_usable_fault_or_a_reason(kind):
    signatures = faults_of(kind).signatures
    own = scenarios_of(kind, SCENARIOS, OTHERS)
    for scenario in own:
        signature = signatures[scenario.fault.name]
        assert signature is None or signature.bind(None, **scenario.fault.parameters)
    left_out = {each.id for each in own if kind in each.not_applicable}
    assert left_out == (set() if kind == "vit" else {"positions_past_table"})


@pytest.mark.parametrize("kind", KINDS)
def test_causes_keep_their_category_and_outcome(kind):
    for own, first in zip(scenarios_of(kind, SCENARIOS, OTHERS), SCENARIOS, strict=True):
        assert own.category == first.category
        assert own.outcomes[: len(first.outcomes)] == first.outcomes


def test_a_line_holds_the_whole_image():
    levels = np.arange(64) % images.LEVELS
    label, image = images.read_document(images.document(7, levels))
    assert label == 7
    assert (image.ravel() == levels).all()
    turned = images.read_document(images.turned(images.document(7, levels)))[1]
    assert (turned == image[::-1, ::-1]).all()


def test_training_and_held_out_images_are_apart(corpus):
    for part in corpus.slices:
        assert len(part.training) > 8 * len(part.validation) > 0
        assert not {*part.training} & {*part.validation}


def test_a_batch_is_described_by_its_pixels(run):
    run.begin_step(0)
    blank, image = images.document(1, np.zeros(64, int)), run.corpus.training[0]
    sequences = run.tokenize([blank, image], 64)
    sequences[1][HEADER] = images.LEVELS
    run._describe(sequences)
    row = run.row
    assert (row.tokens, row.unknown_tokens, row.covered_tokens) == (128, 65, 63)
    assert (row.max_token_id, row.max_length) == (images.LEVELS, 64)


def test_a_healthy_network_learns_the_digits(run):
    losses = []
    for step in range(60):
        run.begin_step(step)
        run.train_step()
        losses.append(run.row.loss)
    assert np.mean(losses[-10:]) < 0.5 * np.mean(losses[:10])


def test_steps_are_not_longer_than_by_the_clock(run, monkeypatch):
    ticks = iter(float(second) for second in range(1000))
    monkeypatch.setattr(own_time, "waited", lambda: next(ticks))
    run.begin_step(1)
    run.train_step()
    assert run.row.step_seconds == 0.0  # seconds of waiting are more than it took


@pytest.mark.parametrize("kind", ON_IMAGES)
def test_images_of_any_resolution_are_classified(kind):
    from failbench.recording.architectures import Examples

    model = MODELS[kind](ModelSize(32, 2, 4, images.CLASSES, 64, 0.0))
    for side in (8, 12):
        assert model(Examples(torch.zeros(3, 1, side, side), torch.zeros(3))).shape == (3, 10)
