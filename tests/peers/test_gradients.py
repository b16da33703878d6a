"""Which gradients DEFault++ reads when it is called as its documentation says."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

LOOP, BEFORE, CALLBACK = "documented_loop", "before_the_update", "trainer_callback"
STEPS = 3
TABLE = Path(__file__).parents[2] / "data/peers/default_plus_plus_gradients.csv"
OBSERVED = pl.read_csv(TABLE, infer_schema_length=None)


@pytest.mark.parametrize("model", ["distilbert", "gpt2"])
def test_gradients_are_gone_as_documented_and_are_read_right_after_the_backward_pass(model):
    for way in (LOOP, CALLBACK):
        rows = OBSERVED.filter(model=model, way=way)
        assert rows["step"].to_list() == list(range(STEPS))
        assert set(rows["with_gradient"]) == {0}
        assert set(rows["gradient_norm_read"]) == {0.0}
        assert rows["vanishing_read"].all()
        assert rows["gradient_norm"].min() > 0.1
    rows = OBSERVED.filter(model=model, way=BEFORE)
    assert rows["with_gradient"].equals(rows["parameters"].rename("with_gradient"))
    assert rows["gradient_norm_read"].to_list() == pytest.approx(rows["gradient_norm"].to_list())
    # the callback of the Trainer alone is handed no loss
    known = OBSERVED.filter(pl.col("error").is_null(), model=model)
    lost = dict(known.group_by("way").agg(pl.col("loss_read").null_count()).rows())
    assert lost == {BEFORE: 0, LOOP: 0, CALLBACK: STEPS}


def test_a_bert_ends_at_its_first_step_and_its_model_reads_no_gradient_that_for_decoders_half():
    rows = OBSERVED.filter(model="bert")
    assert rows["error"].str.contains("size of tensor a").all()
    assert rows.filter(way=LOOP).height == rows.filter(way=BEFORE).height == 1
    assert rows.filter(way=CALLBACK).height == STEPS
    share = pl.col("gradient_columns") / pl.col("model_columns")
    shares = dict(OBSERVED.select("model", share).rows())
    assert shares["bert"] == shares["distilbert"] == 0
    assert 0.45 < shares["gpt2"] < 0.55
