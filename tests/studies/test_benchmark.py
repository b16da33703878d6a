import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.methods import ENTRIES
from failbench.base.telemetry import Telemetry
from failbench.study.inputs import read_facts
from shared.benchmark_drawing import Workflow
from shared.benchmark_twin import BenchmarkSettings, TwinRule, twin_of

REFERENCE = (pl.col("architecture") == "transformer") & (pl.col("optimizer") == "adamw")
SETTINGS = BenchmarkSettings(
    twin=TwinRule(seed=0, onset="mid_run", outcome="diverged"),
    signals=("learning_rate", "gradient_norm"),
    before=3,
    after=2,
    prompt_steps=2,
    confidence=0.95,
)
RUNAWAY = "runaway-transformer-adamw-s0"


def test_every_method_has_a_box_of_the_workflow_that_all_its_sources_reach(repository):
    workflow = read_facts(repository / "paper/captions/benchmark/workflow.json", Workflow)
    drawn = [method for box in workflow.boxes for method in box.methods]
    assert sorted([*drawn, *workflow.left_out]) == sorted(ENTRIES)
    sources = {box.id: set(box.sources) for box in workflow.boxes}
    for box in workflow.boxes:
        reaching = set().union(*(sources[of] for of, to in workflow.joined if to == box.id))
        for method in box.methods:
            assert ENTRIES[method].reads - {"true category"} <= reaching, method


@pytest.fixture
def telemetry(small_telemetry) -> Telemetry:
    """In which the gradient norm of the divergence departs one step before its learning rate."""
    changed = small_telemetry.steps
    for name, start, value in (("gradient_norm", 5, 9.0), ("learning_rate", 6, 0.5)):
        departed = (pl.col("run_id") == RUNAWAY) & (pl.col("step") >= start)
        column = pl.when(departed).then(value).otherwise(name)
        changed = changed.with_columns(column.cast(pl.Float32).alias(name))
    return Telemetry(small_telemetry.runs, changed)


def test_the_first_signal_to_depart_is_drawn_with_the_steps_around(telemetry, small_scenarios):
    twin, points = twin_of(telemetry, small_scenarios, REFERENCE, SETTINGS)
    expected = {
        "run_id": RUNAWAY,
        "candidates": 1,
        "signal": "gradient_norm",
        "departs_at": 5,
        "onset_step": 5,
        "failure_step": 6,
        "steps_to_failure": 1,
        "signal_at_departure": 9.0,
        "twin_signal_at_departure": 1.5,
    }
    assert {name: twin[name] for name in expected} == expected
    assert points.columns == ["role", "step", "loss", "gradient_norm"]
    for role in ("failing", "twin"):
        assert points.filter(role=role)["step"].to_list() == list(range(2, 9))
    none = SETTINGS.model_copy(update={"twin": TwinRule(seed=7, onset="mid_run", outcome="hung")})
    with pytest.raises(BadInputError, match=r"params\.yaml: benchmark\.twin: no recorded run"):
        twin_of(telemetry, small_scenarios, REFERENCE, none)
