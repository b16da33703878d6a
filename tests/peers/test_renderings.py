from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from failbench.base.telemetry import Telemetry
from failbench.neighbours.peers.default_plus_plus import PEER as INSIDE
from failbench.neighbours.peers.mapping import mapping
from failbench.neighbours.peers.renderings import FORMATS, SEED, renderer
from failbench.neighbours.peers.rules import rule_peers
from failbench.neighbours.peers.skill import PEER
from failbench.neighbours.rendering.formats import FORMATS as ALL_FORMATS
from failbench.neighbours.rendering.shape import complete_shape, draw_names, formats
from made_up_telemetry import STEPS, made_up_telemetry

GIVEN = sorted({form for given in FORMATS.values() for form in given})


def test_every_peer_that_is_run_is_given_formats_that_there_are():
    assert set(FORMATS) == {peer for peer, _ in mapping()} - {PEER, INSIDE, *rule_peers()}
    assert set(GIVEN) <= set(ALL_FORMATS)


def test_the_names_of_users_are_those_that_the_peers_document():
    names = draw_names(np.random.default_rng(SEED))
    assert {name: names[name] for name in ("step", "loss", "grad_norm", "learning_rate")} == {
        "step": "step",
        "loss": "loss",
        "grad_norm": "grad_norm",
        "learning_rate": "lr",
    }
    assert names["validation"] == "eval_loss"
    assert names["memory"] == "gpu_mem"
    assert names["throughput"] == "tokens_per_sec"


def telemetry() -> Telemetry:
    made_up = made_up_telemetry()
    runs = made_up.runs.with_columns(
        nominal_batch_size=pl.lit(4, pl.Int32),
        nominal_sequence_length=pl.lit(16, pl.Int32),
        planned_steps=pl.lit(STEPS, pl.Int32),
        corpus_tokens=pl.lit(640, pl.Int64),
    )
    return Telemetry(runs, made_up.steps)


@pytest.mark.parametrize("form", GIVEN)
def test_a_shape_has_every_signal_of_its_format_at_every_step(form):
    shape = complete_shape(form)
    assert set(shape.signals) == {*formats()[form].always, *formats()[form].may}
    assert shape.every == 1
    assert shape.validation
    assert shape.ending
    assert shape.terminal


def test_a_run_without_steps_can_be_rendered():
    made_up = telemetry()
    empty = Telemetry(made_up.runs, made_up.steps.clear())
    assert (
        renderer(empty)(made_up.runs["run_id"][0], "csv")["metrics.csv"].decode().count("\n") == 1
    )
