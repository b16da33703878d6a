from itertools import accumulate

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.publish.page.curves import SIGNALS, curves
from failbench.publish.page.document import significant
from made_up_telemetry import ONSET, STEPS, made_up_telemetry

SETTING = "transformer-adamw"
SCENARIO = "optimization_0"
RUN = f"{SCENARIO}-adamw-s0"


def drawn(stored):
    distances, values = stored
    return dict(zip(accumulate(distances), values, strict=True))


def test_every_value_was_recorded_at_its_step_and_extremes_are_kept():
    telemetry = made_up_telemetry()
    losses = drawn(curves(telemetry, SETTING, 0, most=8)[SCENARIO]["run"]["loss"])
    recorded = telemetry.steps.filter(pl.col("run_id") == RUN)
    assert 2 < len(losses) <= 8
    for step, value in losses.items():
        assert value == significant(recorded["loss"][step])
    assert max(losses.values()) == significant(recorded["loss"].max())
    assert min(losses.values()) == significant(recorded["loss"].min())


def test_a_twin_begins_at_onset_but_for_what_measures_the_machine():
    twin = curves(made_up_telemetry(), SETTING, 0)[SCENARIO]["twin"]
    first = {name: min(drawn(stored)) for name, stored in twin.items()}
    of_machine = {signal.name for signal in SIGNALS if signal.of_machine}
    assert {first[name] for name in of_machine} == {0}
    assert first["loss"] == ONSET


def test_a_loss_that_is_not_finite_breaks_the_line_and_what_was_not_reached_is_no_point():
    step = pl.col("step")
    loss = pl.when(step == 12).then(float("inf")).when(step < STEPS - 1).then(pl.col("loss"))
    telemetry = made_up_telemetry()
    odd = Telemetry(telemetry.runs, telemetry.steps.with_columns(loss=loss.cast(pl.Float32)))
    losses = drawn(curves(odd, SETTING, 0)[SCENARIO]["run"]["loss"])
    assert losses[12] is None
    assert list(losses) == list(range(STEPS - 1))


def test_memory_is_a_share_of_capacity_and_perplexity_follows_the_held_out_loss():
    run = curves(made_up_telemetry(), SETTING, 0)[SCENARIO]["run"]
    assert all(0.4 <= value <= 0.5 for value in drawn(run["memory"]).values())
    assert all(step % 3 == 0 for step in drawn(run["perplexity"]))


def test_a_failing_run_without_a_twin_is_one_clear_error():
    telemetry = made_up_telemetry()
    alone = telemetry.select(pl.col("run_id") != f"{RUN}-twin")
    with pytest.raises(BadInputError, match=rf"twin_of: .*{RUN}.*record it again"):
        curves(alone, SETTING, 0)
