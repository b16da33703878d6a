"""Stage measure_case_studies: two failing runs picked by rule, and their diagnoses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from failbench.base import measuring as st
from failbench.base.verdicts import Diagnosis, condition_of
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import FEATURE_SCHEMA, to_frame
from failbench.methods.healthy import HealthyBand, healthy_band
from failbench.methods.improved_tree import all_band_features
from failbench.prediction.nested_cv import LabelledRuns, fit_fold
from failbench.prediction.splits import by_scenario
from recordings import read_recordings
from shared.case_studies import (
    CASE_SCHEMA,
    DIAGNOSIS_SCHEMA,
    EVIDENCE_SCHEMA,
    EXPLOSION,
    FACT_SCHEMA,
    MISMATCH,
    CaseStudiesSettings,
)

FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
MEASURED = Path("data/measurements/case_studies")
RUNS = TELEMETRY / "runs.parquet"


def pick_cases(
    telemetry: st.Telemetry,
    scenarios: tuple[st.Scenario, ...],
    study: st.ReferenceStudy,
    settings: CaseStudiesSettings,
) -> pl.DataFrame:
    """The median run of each kind, by rules that do not look at any diagnosis.

    A gradient explosion is an optimization failure that diverged after an onset in the middle of a
    run, its largest finite gradient norm from onset on being ``settings.smallest_growth`` times
    that before: the paper's section 7.3.1 asks for an order of magnitude. Runs are ranked by that
    growth. A vocabulary mismatch is a failure of the data pipeline that crashed after a token id
    that the model has no row for, ranked by how far it lies beyond. Of an even number of candidates
    the lower of the middle two is taken, and of equals the first by name.
    """
    described = pl.DataFrame(
        [(scenario.id, scenario.category, scenario.fault.onset) for scenario in scenarios],
        schema=["scenario", "category", "onset_kind"],
        orient="row",
    )
    failing = study.with_seed(settings.run_seed).failures(telemetry.runs)
    failing = failing.join(described, on="scenario")
    norms = pl.col("gradient_norm").cast(pl.Float64)
    onset = pl.col("step") >= pl.col("onset_step")
    measured = (
        telemetry.steps.join(failing.select("run_id", "onset_step"), on="run_id")
        .group_by("run_id")
        .agg(
            growth=norms.filter(norms.is_finite() & onset).max()
            / norms.filter(norms.is_finite() & ~onset).max(),
            highest=pl.col("max_token_id").max(),
        )
    )
    runs = failing.join(measured, on="run_id", how="left").with_columns(
        beyond=pl.col("highest") - pl.col("model_vocabulary") + 1
    )
    explosions = runs.filter(
        pl.col("growth") >= settings.smallest_growth,
        category="optimization",
        outcome="diverged",
        onset_kind="mid_run",
    )
    mismatches = runs.filter(pl.col("beyond") > 0, category="data_pipeline", outcome="crash")
    return pl.concat(
        [
            median_case(EXPLOSION, explosions.sort("growth", "run_id")),
            median_case(MISMATCH, mismatches.sort("beyond", "run_id")),
        ]
    )


def median_case(name: str, ranked: pl.DataFrame) -> pl.DataFrame:
    """A row for each run that could have been picked, and what was."""
    if ranked.is_empty():
        problem = f"no failing run of the main study is a {name.replace('_', ' ')}."
        remedy = "Record the scenarios, or lower case_studies.smallest_growth in params.yaml."
        raise st.BadInputError(RUNS, "run_id", problem, remedy)
    picked = ranked.row((ranked.height - 1) // 2, named=True)
    described = {column: pl.lit(picked[column]) for column in CASE_SCHEMA.names()[3:]}
    rank = pl.int_range(1, pl.len() + 1)
    candidates = ranked.select(
        case=pl.lit(name), rank=rank, candidate=pl.col("run_id"), **described
    )
    return candidates.cast(CASE_SCHEMA)


def picked_of(cases: pl.DataFrame) -> Iterator[dict[str, Any]]:
    return cases.unique("case", keep="first", maintain_order=True).iter_rows(named=True)


def case_facts(
    telemetry: st.Telemetry, case: Mapping[str, Any], settled_steps: int
) -> pl.DataFrame:
    """What the run, its twin and the run with each remedy showed, by role."""
    related = telemetry.runs.filter(twin_of=case["run_id"]).sort("run_id")
    roles = {"failing": case["run_id"]}
    for run_id, kind in related.select("run_id", "kind").iter_rows():
        roles["twin" if kind == "twin" else run_id.removeprefix(f"{case['run_id']}-")] = run_id
    if "twin" not in roles:
        remedy = "Restore data/telemetry, or record the run again."
        raise st.BadInputError(RUNS, "twin_of", f"{case['run_id']} has no twin.", remedy)
    rows = []
    for role, run_id in roles.items():
        recorded = telemetry.runs.row(by_predicate=pl.col("run_id") == run_id, named=True)
        steps = telemetry.steps.filter(run_id=run_id).with_columns(
            pl.col("memory_bytes") / recorded["capacity_bytes"]
        )
        error = None
        if recorded["error_type"] is not None:
            error = f"{recorded['error_type']}: {recorded['error_message']}"
        values = quantities(steps, case["onset_step"], settled_steps) | {
            "steps": recorded["steps"],
            "model_vocabulary": recorded["model_vocabulary"],
            "learning_rate": recorded["nominal_learning_rate"],
            "clip_norm": recorded["nominal_clip_norm"],
        }
        ended = (case["case"], role, run_id, recorded["outcome"], error)
        rows += [
            (*ended, name, None if value is None else float(value))
            for name, value in values.items()
        ]
    return pl.DataFrame(rows, schema=FACT_SCHEMA, orient="row")


def quantities(steps: pl.DataFrame, onset: int, settled_steps: int) -> dict[str, float | None]:
    """Quantities of the finite values of one recording, before onset and from it on."""
    before, after = pl.col("step") < onset, pl.col("step") >= onset

    def finite(name: str, part: pl.Expr | None = None, last: int | None = None) -> pl.Expr:
        values = pl.col(name).cast(pl.Float64)
        values = values if part is None else values.filter(part)
        values = values if last is None else values.tail(last)
        return values.filter(values.is_finite())

    norms_before, norms_after = (finite("gradient_norm", part) for part in (before, after))
    held_out_after = finite("validation_loss", after)
    summaries = {
        "first_loss": finite("loss").first(),
        "loss_before": finite("loss", before, settled_steps).mean(),
        "largest_loss_after": finite("loss", after).max(),
        "last_loss": finite("loss", after, settled_steps).mean(),
        "first_validation_loss": finite("validation_loss").first(),
        "validation_loss_before": finite("validation_loss", before).last(),
        "largest_validation_loss_after": held_out_after.max(),
        "last_validation_loss": held_out_after.last(),
        "largest_gradient_norm_before": norms_before.max(),
        "largest_gradient_norm_after": norms_after.max(),
        "mean_gradient_norm_before": norms_before.mean(),
        "mean_gradient_norm_after": norms_after.mean(),
        "gradient_norm_variance_before": norms_before.var(),
        "gradient_norm_variance_after": norms_after.var(),
        "peak_memory": finite("memory_bytes").max(),
        "highest_token": finite("max_token_id").max(),
    }
    return steps.select(**summaries).row(0, named=True)


def case_diagnoses(
    cases: pl.DataFrame,
    features: pl.DataFrame,
    splits: pl.DataFrame,
    study: st.ReferenceStudy,
    methods: Mapping[str, st.Record],
    workers: int = 1,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What each method says of each case, and the conditions that it says it on."""
    runs = LabelledRuns.from_table(study.failures(features))
    band = healthy_band(to_frame(study.successes(features)), all_band_features())
    tasks = [
        (case, method, settings, runs, band, splits, study.seed)
        for case in picked_of(cases)
        for method, settings in methods.items()
    ]
    answers, conditions = [], []
    for task, answer in zip(tasks, st.parallel_map(diagnosed, tasks, workers), strict=True):
        key = (task[0]["case"], task[1])
        answers.append((*key, answer.category, round(float(answer.confidence), st.DECIMALS)))
        conditions += [
            (*key, place, *condition_of(each)) for place, each in enumerate(answer.evidence)
        ]
    return (
        pl.DataFrame(answers, schema=DIAGNOSIS_SCHEMA, orient="row"),
        pl.DataFrame(conditions, schema=EVIDENCE_SCHEMA, orient="row"),
    )


def diagnosed(
    case: Mapping[str, Any],
    method: str,
    settings: st.Record,
    runs: LabelledRuns,
    band: HealthyBand,
    splits: pl.DataFrame,
    seed: int,
) -> Diagnosis:
    """By the main study's fit in the fold of the first repeat that tests the scenario."""
    first = splits.filter(pl.col("repeat") == pl.col("repeat").min())
    (fold,) = first.filter(scenario=case["scenario"])["fold"]
    plan = next(plan for plan in by_scenario(st.NESTED_CV, first) if plan.fold == fold)
    features = FEATURE_SETS[st.PRIMARY_SET]
    fitted, _ = fit_fold(runs, band, splits, method, settings, features, seed, plan)
    (diagnosis,) = fitted.diagnose(runs.frame.loc[[case["run_id"]]])
    return diagnosis


def main() -> None:
    methods = {
        "simple_rules": st.read_section("simple_rules", st.SimpleRulesSettings),
        "improved_rules": st.read_section("improved_rules", st.ImprovedRulesSettings),
        "learned_rules": st.read_section("learned_rules", st.LearnedRulesSettings),
        "logistic_regression": st.read_section(
            "logistic_regression", st.LogisticRegressionSettings
        ),
        "decision_tree": st.read_section("decision_tree", st.DecisionTreeSettings),
        "random_forest": st.read_section("random_forest", st.RandomForestSettings),
        "lightgbm": st.read_section("lightgbm", st.LightgbmSettings),
        "ebm": st.read_section("ebm", st.EbmSettings),
    }
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    settings = st.read_section("case_studies", CaseStudiesSettings)
    study = st.read_section("nested_cv", st.ReferenceStudy)
    features, splits = (
        st.read_output(FEATURES, FEATURE_SCHEMA),
        st.read_output(SPLITS, st.SPLIT_SCHEMA),
    )
    cases = pick_cases(telemetry, scenarios, study, settings)
    answers, conditions = case_diagnoses(cases, features, splits, study, methods, st.workers())
    facts = [case_facts(telemetry, case, settings.settled_steps) for case in picked_of(cases)]
    st.write_parquet(cases, MEASURED / "cases.parquet")
    st.write_parquet(pl.concat(facts), MEASURED / "facts.parquet")
    st.write_parquet(answers, MEASURED / "diagnoses.parquet")
    st.write_parquet(conditions, MEASURED / "evidence.parquet")


if __name__ == "__main__":
    st.run(main)
