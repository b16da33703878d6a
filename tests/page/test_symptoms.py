from functools import cache

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry, read_telemetry
from failbench.publish.page.curves import SIGNALS
from failbench.publish.symptoms import FACTS, run_facts, symptom_scenarios, symptoms
from made_up_telemetry import ONSET, made_up_telemetry
from pipeline import REPOSITORY

SOME = "optimization_0"
CALM = pl.col("loss") - 2.0
"""The loss of the twin: what the made-up fault adds is taken away."""


@cache
def recorded():
    return symptom_scenarios(read_telemetry(REPOSITORY / "data/telemetry"))


def changed(loss=CALM, **of_run):
    """Made-up telemetry whose first failing run has another loss from onset on, and another end."""
    telemetry = made_up_telemetry()
    first = (pl.col("scenario") == SOME) & (pl.col("kind") == "failure")
    runs = telemetry.runs.with_columns(
        pl.when(first).then(pl.lit(value)).otherwise(pl.col(name)).alias(name)
        for name, value in of_run.items()
    )
    late = (pl.col("run_id") == runs.filter(first)["run_id"][0]) & (pl.col("step") >= ONSET)
    changed = pl.when(late).then(loss).otherwise(pl.col("loss")).cast(pl.Float32)
    return Telemetry(runs, telemetry.steps.with_columns(loss=changed))


def shown(telemetry):
    facts = run_facts(telemetry).filter(scenario=SOME).row(0, named=True)
    return {symptom.id for symptom in symptoms() if symptom.shown(facts)}


def test_every_scenario_has_a_symptom_and_every_symptom_a_scenario():
    scenarios = {path.stem for path in (REPOSITORY / "data/scenarios").glob("*/*.json")}
    assert set(recorded()["scenario"]) == scenarios
    assert recorded()["symptom"].unique(maintain_order=True).to_list() == [
        symptom.id for symptom in symptoms()
    ]


def test_conditions_and_signals_are_of_things_that_there_are():
    signals = {signal.name for signal in SIGNALS}
    for symptom in symptoms():
        assert symptom.signal in signals
        assert {name for each in symptom.shows for name in each} <= set(FACTS)


@pytest.mark.parametrize(
    ("change", "symptom"),
    [
        ({"loss": pl.lit(float("nan"))}, "nan"),
        ({"loss": CALM + 40}, "spike"),
        ({"outcome": "hung"}, "hang"),
        ({"error_type": "RuntimeError", "error_message": "can't allocate memory"}, "memory"),
        ({"error_type": "RuntimeError", "error_message": "mat1 and mat2 shapes"}, "error"),
    ],
    ids=["nan", "spike", "hang", "memory", "error"],
)
def test_a_run_shows_what_its_record_has_and_its_twin_has_not(change, symptom):
    # held-out text is still predicted worse
    assert shown(changed()) == {"calm"}
    assert shown(changed(**change)) - {"calm"} == {symptom}


def test_a_scenario_whose_runs_show_nothing_is_named():
    with pytest.raises(BadInputError, match=r"no symptom is shown by 10 % .*'memory_hardware_0'"):
        symptom_scenarios(changed())
