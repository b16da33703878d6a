"""The rule that picks, and what is said of a case; on the committed main study where it can be."""

from __future__ import annotations

import math
from pathlib import Path

import polars as pl
import pytest

from case_studies import answers, last_losses
from failbench.base.errors import BadInputError
from failbench.base.method_settings import SimpleRulesSettings
from failbench.base.scenarios import Scenario
from failbench.base.slices import ReferenceStudy
from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.study.run_curves import run_curves
from measure_case_studies import case_diagnoses, case_facts, pick_cases, picked_of
from shared.case_studies import EXPLOSION, MISMATCH, CaseStudiesSettings

STUDY = ReferenceStudy(
    architecture="transformer", optimizer="adamw", scale="small", run_seeds=(0,), seed=0
)
SETTINGS = CaseStudiesSettings(run_seed=0, smallest_growth=10, settled_steps=2)
METHODS = {
    "simple_rules": SimpleRulesSettings(gradient_norm=1000, perplexity=10_000, healthy_sds=3)
}
ONSET, LENGTH = 5, 10
RUN = "learning_rate_jump-transformer-adamw-s0"


def scenario(name: str, category: str, onset: str = "mid_run") -> Scenario:
    return Scenario.model_validate(
        {
            "id": name,
            "title": f"A title for {name}",
            "category": category,
            "root_cause": "A cause that a test made up.",
            "difficulty": "easy",
            "symptom_category": category,
            "fault": {"name": name, "onset": onset},
            "expected_outcome": "crash",
            "remedy": "None is needed, it is a test.",
            "rationale": "Needed by the tests of cases.",
        }
    )


def run(name: str, outcome: str, kind: str = "failure", **values: object) -> dict[str, object]:
    run_id = f"{name}-transformer-adamw-s0"
    row = dict.fromkeys(RUN_SCHEMA) | {
        "run_id": run_id,
        "kind": kind,
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
    return row | values


def steps(run_id: str, norm: float, token: int = 511) -> list[dict[str, object]]:
    """A gradient norm of one before onset; one of the steps after it has no finite norm."""
    return [
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


def telemetry_of(*runs: tuple[dict[str, object], float, int]) -> Telemetry:
    return Telemetry(
        pl.DataFrame([row for row, _, _ in runs], schema=RUN_SCHEMA).sort("run_id"),
        pl.DataFrame(
            [step for row, norm, token in runs for step in steps(str(row["run_id"]), norm, token)],
            schema=STEP_SCHEMA,
        ).sort("run_id", "step"),
    )


@pytest.fixture
def scenarios() -> tuple[Scenario, ...]:
    return (
        *(scenario(name, "optimization") for name in ("mild", "small", "middle", "large")),
        scenario("early", "optimization", "from_start"),
        *(scenario(name, "data_pipeline") for name in ("tokens", "padding")),
        scenario("shape", "model_software"),
    )


@pytest.fixture
def telemetry() -> Telemetry:
    twin = {"kind": "twin", "twin_of": "middle-transformer-adamw-s0"}
    remedied = {"kind": "remedy", "twin_of": "middle-transformer-adamw-s0"}
    failing = "middle-transformer-adamw-s0"
    return telemetry_of(
        (run("mild", "diverged"), 9.0, 511),
        (run("small", "diverged"), 11.0, 511),
        (run("middle", "diverged"), 40.0, 511),
        (run("large", "diverged"), 80.0, 511),
        (run("early", "diverged"), 60.0, 511),
        (run("tokens", "crash", error_type="IndexError", error_message="index"), 1.0, 513),
        (run("padding", "crash"), 1.0, 511),
        (run("shape", "crash"), 1.0, 600),
        (run("middle", "completed", **twin) | {"run_id": f"{failing}-twin"}, 1.0, 511),
        (run("middle", "degraded", **remedied) | {"run_id": f"{failing}-clipped"}, 20.0, 511),
    )


def test_the_median_explosion_and_mismatch_are_picked_from_what_the_rules_allow(
    telemetry, scenarios
):
    cases = pick_cases(telemetry, scenarios, STUDY, SETTINGS)
    explosions, mismatches = cases.partition_by("case", maintain_order=True)
    names = [run_id.split("-")[0] for run_id in explosions["candidate"]]
    assert names == ["small", "middle", "large"]
    assert set(explosions["scenario"]) == {"middle"}
    assert set(explosions["case"]) == {EXPLOSION}
    assert mismatches.select("case", "candidate").rows() == [
        (MISMATCH, "tokens-transformer-adamw-s0")
    ]
    # another threshold, another median: of an even number the lower of the middle two
    wider = SETTINGS.model_copy(update={"smallest_growth": 5})
    assert pick_cases(telemetry, scenarios, STUDY, wider)["scenario"][0] == "small"


def test_twins_and_remedies_and_other_seeds_are_never_picked(telemetry, scenarios):
    other = SETTINGS.model_copy(update={"run_seed": 1})
    with pytest.raises(BadInputError, match="no failing run of the main study is a gradient"):
        pick_cases(telemetry, scenarios, STUDY, other)
    only = telemetry.select(pl.col("kind") != "failure")
    with pytest.raises(BadInputError, match=r"lower case_studies\.smallest_growth"):
        pick_cases(only, scenarios, STUDY, SETTINGS)


def test_facts_are_those_of_each_recording_before_onset_and_from_it_on(telemetry, scenarios):
    case = next(picked_of(pick_cases(telemetry, scenarios, STUDY, SETTINGS)))
    facts = case_facts(telemetry, case, settled_steps=2)
    assert set(facts["role"]) == {"failing", "twin", "clipped"}
    values = {
        (role, name): value
        for role, name, value in facts.select("role", "quantity", "value").iter_rows()
    }
    assert values["failing", "largest_gradient_norm_before"] == 1
    assert values["failing", "largest_gradient_norm_after"] == 40  # what is not finite is left out
    assert values["twin", "largest_gradient_norm_after"] == 1
    assert values["clipped", "largest_gradient_norm_after"] == 20
    assert values["failing", "loss_before"] == pytest.approx((5.7 + 5.6) / 2)
    assert values["failing", "last_loss"] == pytest.approx((5.2 + 5.1) / 2)
    assert values["failing", "peak_memory"] == pytest.approx(109 / 200)
    assert dict(facts.select("role", "outcome").unique().iter_rows())["clipped"] == "degraded"


@pytest.fixture(scope="module")
def committed(repository: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    folder = repository / "data"
    return (
        pl.read_parquet(folder / "features/features.parquet"),
        pl.read_parquet(folder / "features/splits.parquet"),
        pl.read_parquet(folder / "predictions/nested_cv/simple_rules.parquet"),
    )


@pytest.fixture
def asked(telemetry, scenarios, committed):
    """A run of the main study as the case that was picked, and what the simple rules say of it."""
    features, splits, predictions = committed
    cases = pick_cases(telemetry, scenarios, STUDY, SETTINGS).head(1)
    cases = cases.with_columns(run_id=pl.lit(RUN), scenario=pl.lit("learning_rate_jump"))
    return cases, *case_diagnoses(cases, features, splits, STUDY, METHODS), predictions


def test_what_a_method_says_is_what_the_main_study_stored_with_its_evidence(asked):
    cases, diagnoses, evidence, predictions = asked
    (answer,) = answers(cases, diagnoses, predictions).to_dicts()
    stored = predictions.filter(run_id=RUN, feature_set="19").sort("repeat")
    assert answer["answer"] == stored["prediction"][0]
    assert answer["confidence"] == stored["confidence"][0]
    assert answer["n"] == 10
    assert answer["value"] == (stored["prediction"] == "optimization").mean()
    assert evidence["signal"].is_not_null().all()
    assert evidence.height


def test_an_answer_that_is_not_the_stored_one_is_refused(asked):
    cases, diagnoses, _, predictions = asked
    other = predictions.with_columns(prediction=pl.lit("unknown"))
    with pytest.raises(BadInputError, match="is not what simple_rules says of learning_rate_jump"):
        answers(cases, diagnoses, other)


def test_last_losses_are_means_of_the_last_finite_steps(small_telemetry):
    ends = last_losses(run_curves(small_telemetry, "runaway-transformer-adamw-s0"), 2)
    rows = {role: (value, step) for role, value, step in ends.iter_rows()}
    assert rows["twin"] == (pytest.approx((5.1 + 5.2) / 2), 9)
    assert rows["failing"] == (pytest.approx((9 + 40) / 2), 9)
