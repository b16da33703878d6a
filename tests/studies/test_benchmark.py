import math

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.telemetry import Telemetry
from failbench.base.verdicts import Diagnosis, Evidence, evidence_of, explained
from made_up_scenarios import made_up_scenario
from made_up_telemetry import telemetry_of
from measure_case_studies import pick_cases
from shared.benchmark_twin import BenchmarkSettings, TwinRule, twin_of
from shared.case_studies import EXPLOSION, MISMATCH, CaseStudiesSettings
from study_settings import REFERENCE


def test_a_twin_that_was_not_recorded_is_refused(small_telemetry, small_scenarios):
    rule = TwinRule(seed=7, onset="mid_run", outcome="hung")
    lengths = {"before": 3, "after": 2, "prompt_steps": 2, "confidence": 0.95}
    settings = BenchmarkSettings(twin=rule, signals=("learning_rate", "gradient_norm"), **lengths)
    with pytest.raises(BadInputError, match=r"params\.yaml: benchmark\.twin: no recorded run"):
        twin_of(small_telemetry, small_scenarios, pl.lit(value=True), settings)


# Case studies.

OF_CASES = CaseStudiesSettings(run_seed=0, smallest_growth=10, settled_steps=2)
ONSET, LENGTH = 5, 10
SUFFIX = "-transformer-adamw-s0"
RUNS = {  # category, outcome, the norms of gradients from onset on, and the largest token
    "mild": ("optimization", "diverged", 9.0, 511),
    "small": ("optimization", "diverged", 11.0, 511),
    "middle": ("optimization", "diverged", 40.0, 511),
    "large": ("optimization", "diverged", 80.0, 511),
    "early": ("optimization", "diverged", 60.0, 511),
    "tokens": ("data_pipeline", "crash", 1.0, 513),
    "padding": ("data_pipeline", "crash", 1.0, 511),
    "shape": ("model_software", "crash", 1.0, 600),
}
SCENARIOS = tuple(
    made_up_scenario(
        name,
        category,
        "easy",
        fault={"name": name, "onset": "from_start" if name == "early" else "mid_run"},
    )
    for name, (category, *_) in RUNS.items()
)


@pytest.fixture(scope="module")
def recorded() -> Telemetry:
    """Failing runs with a gradient norm of one before onset, and one that is not finite."""
    runs, steps = [], []
    for name, (_, outcome, norm, token) in RUNS.items():
        run_id = {"run_id": f"{name}{SUFFIX}"}
        known = {"kind": "failure", "scenario": name, "outcome": outcome, "seed": 0}
        known |= {"architecture": "transformer", "optimizer": "adamw", "scale": "small"}
        known |= {"onset_step": ONSET, "failure_step": LENGTH - 1, "model_vocabulary": 512}
        runs.append(run_id | known | {"steps": LENGTH})
        for step in range(LENGTH):
            faulty = {"gradient_norm": math.inf if step == 7 else norm, "max_token_id": token}
            sound = {"gradient_norm": 1.0, "max_token_id": 511}
            measured = faulty if step >= ONSET else sound
            steps.append(run_id | {"step": step} | measured)
    return telemetry_of(runs, steps)


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
