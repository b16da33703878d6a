"""Which gradients DEFault++ reads when it is called as its documentation says."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import polars as pl
import pytest

LOOP, BEFORE, CALLBACK = "documented_loop", "before_the_update", "trainer_callback"
STEPS = 3
TABLE = Path(__file__).parents[2] / "data/peers/default_plus_plus_gradients.csv"
READABLE = ("distilbert", "gpt2")


@cache
def observed() -> pl.DataFrame:
    return pl.read_csv(TABLE, infer_schema_length=None)


@pytest.mark.parametrize("way", [LOOP, CALLBACK])
@pytest.mark.parametrize("model", READABLE)
def test_as_documented_gradients_are_gone_when_they_are_read(model, way):
    rows = observed().filter(model=model, way=way)
    assert rows["step"].to_list() == list(range(STEPS))
    assert set(rows["with_gradient"]) == {0}
    assert set(rows["gradient_norm_read"]) == {0.0}
    assert rows["vanishing_read"].all()
    assert rows["gradient_norm"].min() > 0.1


@pytest.mark.parametrize("model", READABLE)
def test_right_after_the_backward_pass_they_are_read_as_they_are(model):
    rows = observed().filter(model=model, way=BEFORE)
    assert rows["with_gradient"].equals(rows["parameters"].rename("with_gradient"))
    assert rows["gradient_norm_read"].to_list() == pytest.approx(rows["gradient_norm"].to_list())
    # the callback of the Trainer alone is handed no loss
    known = observed().filter(pl.col("error").is_null(), model=model)
    assert known.group_by("way").agg(pl.col("loss_read").null_count()).sort("way").rows() == [
        (BEFORE, 0),
        (LOOP, 0),
        (CALLBACK, STEPS),
    ]


def test_a_bert_ends_at_its_first_step_and_the_callback_goes_on_without_features():
    rows = observed().filter(model="bert")
    assert rows["error"].str.contains("size of tensor a").all()
    assert rows.filter(way=LOOP).height == rows.filter(way=BEFORE).height == 1
    assert rows.filter(way=CALLBACK).height == STEPS


def test_the_model_for_encoders_reads_no_gradient_and_that_for_decoders_half_of_them():
    shares = {
        row["model"]: row["gradient_columns"] / row["model_columns"]
        for row in observed().iter_rows(named=True)
    }
    assert shares["bert"] == shares["distilbert"] == 0
    assert 0.45 < shares["gpt2"] < 0.55
