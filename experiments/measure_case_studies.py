"""Stage measure_case_studies: two failing runs picked by rule, and what they showed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from failbench.base import measuring as st
from recordings import read_recordings
from shared import case_studies as design
from shared.case_studies import CaseStudiesSettings

TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
CASES = Path("data/measurements/case_studies/cases.parquet")
FACTS = Path("data/measurements/case_studies/facts.parquet")
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
            median_case(design.EXPLOSION, explosions.sort("growth", "run_id")),
            median_case(design.MISMATCH, mismatches.sort("beyond", "run_id")),
        ]
    )


def median_case(name: str, ranked: pl.DataFrame) -> pl.DataFrame:
    """A row for each run that could have been picked, and what was."""
    if ranked.is_empty():
        problem = f"no failing run of the main study is a {name.replace('_', ' ')}."
        remedy = "Record the scenarios, or lower case_studies.smallest_growth in params.yaml."
        raise st.BadInputError(RUNS, "run_id", problem, remedy)
    picked = ranked.row((ranked.height - 1) // 2, named=True)
    described = {column: pl.lit(picked[column]) for column in design.CASE_SCHEMA.names()[3:]}
    rank = pl.int_range(1, pl.len() + 1)
    candidates = ranked.select(
        case=pl.lit(name), rank=rank, candidate=pl.col("run_id"), **described
    )
    return candidates.cast(design.CASE_SCHEMA)


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
    return pl.DataFrame(rows, schema=design.FACT_SCHEMA, orient="row")


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


def main() -> None:
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    settings = st.read_section("case_studies", CaseStudiesSettings)
    study = st.read_section("nested_cv", st.ReferenceStudy)
    cases = pick_cases(telemetry, scenarios, study, settings)
    picked = cases.unique("case", keep="first", maintain_order=True).iter_rows(named=True)
    facts = [case_facts(telemetry, case, settings.settled_steps) for case in picked]
    st.write_parquet(cases, CASES)
    st.write_parquet(pl.concat(facts), FACTS)


if __name__ == "__main__":
    st.run(main)
