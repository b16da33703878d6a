import math

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.explanations import SHOWN, evidence_of, explained
from failbench.base.methods import ENTRIES
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.study.inputs import read_facts
from made_up_scenarios import made_up_scenario
from measure_case_studies import pick_cases
from shared.benchmark_drawing import Workflow
from shared.benchmark_twin import BenchmarkSettings, TwinRule, twin_of
from shared.case_studies import EXPLOSION, MISMATCH, CaseStudiesSettings
from study_settings import REFERENCE

ONE_SETTING = (pl.col("architecture") == "transformer") & (pl.col("optimizer") == "adamw")
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
    twin, points = twin_of(telemetry, small_scenarios, ONE_SETTING, SETTINGS)
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
        twin_of(telemetry, small_scenarios, ONE_SETTING, none)


OF_CASES = CaseStudiesSettings(run_seed=0, smallest_growth=10, settled_steps=2)
ONSET, LENGTH = 5, 10
SUFFIX = "-transformer-adamw-s0"
CASES = {
    "optimization": ("mild", "small", "middle", "large", "early"),
    "data_pipeline": ("tokens", "padding"),
    "model_software": ("shape",),
}
SCENARIOS = tuple(
    made_up_scenario(name, category, "easy") for category, names in CASES.items() for name in names
)
EARLY = SCENARIOS[4].fault.model_copy(update={"onset": "from_start"})
SCENARIOS = tuple(
    each.model_copy(update={"fault": EARLY}) if each.id == "early" else each for each in SCENARIOS
)


def run(name: str, outcome: str, norm: float, token: int = 511, role: str = "", **values: object):
    """A run, and its steps: a gradient norm of one before onset, and one that is not finite."""
    run_id = f"{name}{SUFFIX}{role}"
    known = {
        "run_id": run_id,
        "kind": "failure",
        "scenario": name,
        "architecture": "transformer",
        "optimizer": "adamw",
        "scale": "small",
        "seed": 0,
        "outcome": outcome,
        "onset_step": ONSET,
        "failure_step": LENGTH - 1,
        "steps": LENGTH,
        "capacity_bytes": 200,
        "model_vocabulary": 512,
    }
    steps = [
        dict.fromkeys(STEP_SCHEMA)
        | {
            "run_id": run_id,
            "step": step,
            "loss": 6.0 - step / 10,
            "gradient_norm": 1.0 if step < ONSET else (math.inf if step == 7 else norm),
            "memory_bytes": 100 + step,
            "max_token_id": 511 if step < ONSET else token,
            "validation_loss": 5.0 if step % 5 == 0 else None,
        }
        for step in range(LENGTH)
    ]
    return dict.fromkeys(RUN_SCHEMA) | known | values, steps


@pytest.fixture(scope="module")
def recorded() -> Telemetry:
    of = f"middle{SUFFIX}"
    runs = [
        *(run(name, "diverged", norm) for name, norm in (("mild", 9.0), ("small", 11.0))),
        *(run(name, "diverged", norm) for name, norm in (("large", 80.0), ("early", 60.0))),
        run("middle", "diverged", 40.0),
        run("tokens", "crash", 1.0, 513, error_type="IndexError", error_message="index"),
        run("padding", "crash", 1.0),
        run("shape", "crash", 1.0, 600),
        run("middle", "completed", 1.0, role="-twin", kind="twin", twin_of=of),
        run("middle", "degraded", 20.0, role="-clipped", kind="remedy", twin_of=of),
    ]
    return Telemetry(
        pl.DataFrame([row for row, _ in runs], schema=RUN_SCHEMA).sort("run_id"),
        pl.DataFrame([s for _, steps in runs for s in steps], STEP_SCHEMA).sort("run_id", "step"),
    )


def test_the_median_explosion_and_mismatch_are_picked_from_what_the_rules_allow(recorded):
    cases = pick_cases(recorded, SCENARIOS, REFERENCE, OF_CASES)
    explosions, mismatches = cases.partition_by("case", maintain_order=True)
    names = [run_id.removesuffix(SUFFIX) for run_id in explosions["candidate"]]
    assert names == ["small", "middle", "large"]
    assert set(explosions.select("case", "scenario").rows()) == {(EXPLOSION, "middle")}
    assert mismatches.select("case", "candidate").rows() == [(MISMATCH, f"tokens{SUFFIX}")]
    # another threshold, another median: of an even number the lower of the middle two
    wider = OF_CASES.model_copy(update={"smallest_growth": 5})
    assert pick_cases(recorded, SCENARIOS, REFERENCE, wider)["scenario"][0] == "small"
    other = OF_CASES.model_copy(update={"run_seed": 1})
    with pytest.raises(BadInputError, match="no failing run of the main study is a gradient"):
        pick_cases(recorded, SCENARIOS, REFERENCE, other)
    twins = recorded.select(pl.col("kind") != "failure")
    with pytest.raises(BadInputError, match=r"lower case_studies\.smallest_growth"):
        pick_cases(twins, SCENARIOS, REFERENCE, OF_CASES)


# Explanations of all fits of the main study.


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence("max_loss", 8.5, "above", 6.25),
        Evidence("perplexity", math.nan, "below", 3.0),
        Evidence("error_text", "size mismatch", "matches", "size"),
        Evidence("error_text", "", "matches", "killed"),
    ],
)
def test_evidence_comes_back_as_it_was(evidence):
    of_run = [("run", "scenario")], "ebm", [Diagnosis("unknown", 0.5, (evidence,))]
    _, conditions = explained(*of_run)
    assert repr(evidence_of(conditions.row(0, named=True))) == repr(evidence)


@pytest.mark.parametrize(("method", "first"), [("decision_tree", 4), ("ebm", 0)])
def test_of_many_conditions_a_path_keeps_its_end_and_a_sum_its_beginning(method, first):
    evidence = tuple(Evidence("max_loss", float(i), "above", 0.0) for i in range(SHOWN + 4))
    of_run = [("run", "scenario")], method, [Diagnosis("unknown", 0.5, evidence)]
    given, conditions = explained(*of_run)
    assert conditions["number"].to_list() == [float(first + i) for i in range(SHOWN)]
    assert given["evidence"][0] == SHOWN + 4
