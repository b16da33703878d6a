"""Cases: one failing run of a kind, picked by a rule that looks at no diagnosis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl
from pydantic import Field

from failbench.errors import BadInputError
from failbench.prediction.slices import ReferenceStudy
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.telemetry import Telemetry
from failbench.vocabulary import Category

EXPLOSION = "gradient_explosion"
MISMATCH = "vocabulary_mismatch"
CASES = (EXPLOSION, MISMATCH)
"""The two cases of the paper's section 7.3."""


class CaseStudiesSettings(Record):
    """The section ``case_studies`` of params.yaml."""

    run_seed: int = Field(ge=0)
    smallest_growth: float = Field(gt=1)
    settled_steps: int = Field(ge=1)


@dataclass(frozen=True)
class Case:
    """A run that was picked, and what it was picked from."""

    name: str
    run_id: str
    scenario: str
    category: Category
    onset_step: int
    failure_step: int
    candidates: tuple[str, ...]


CANDIDATE_SCHEMA = pl.Schema(
    {
        "case": pl.String,
        "rank": pl.Int32,
        "candidate": pl.String,
        "run_id": pl.String,
        "scenario": pl.String,
        "category": pl.String,
        "onset_step": pl.Int32,
        "failure_step": pl.Int32,
    }
)
"""Columns of the table of cases: a row per run that could have been picked, and what was."""


def candidates_table(cases: Sequence[Case]) -> pl.DataFrame:
    """Cases as rows of ``CANDIDATE_SCHEMA``, in their order."""
    return pl.DataFrame(
        [
            {
                "case": case.name,
                "rank": rank,
                "candidate": candidate,
                "run_id": case.run_id,
                "scenario": case.scenario,
                "category": case.category,
                "onset_step": case.onset_step,
                "failure_step": case.failure_step,
            }
            for case in cases
            for rank, candidate in enumerate(case.candidates, start=1)
        ],
        schema=CANDIDATE_SCHEMA,
    )


def cases_of(candidates: pl.DataFrame) -> tuple[Case, ...]:
    """The cases that :func:`candidates_table` made the rows of."""
    cases = []
    for ranked in candidates.partition_by("case", maintain_order=True):
        row = ranked.row(0, named=True)
        case = Case(
            name=row["case"],
            run_id=row["run_id"],
            scenario=row["scenario"],
            category=row["category"],
            onset_step=row["onset_step"],
            failure_step=row["failure_step"],
            candidates=tuple(ranked["candidate"]),
        )
        cases.append(case)
    return tuple(cases)


def pick_cases(
    telemetry: Telemetry,
    scenarios: tuple[Scenario, ...],
    study: ReferenceStudy,
    settings: CaseStudiesSettings,
) -> tuple[Case, ...]:
    """The median run of each kind, by rules that do not look at any diagnosis.

    A gradient explosion is an optimization failure that diverged after an onset in the middle of a
    run, its largest finite gradient norm from onset on being ``settings.smallest_growth`` times
    that before: the paper's section 7.3.1 asks for an order of magnitude. Runs are ranked by that
    growth. A vocabulary mismatch is a failure of the data pipeline that crashed after a token id
    that the model has no row for, ranked by how far it lies beyond. Of an even number of candidates
    the lower of the middle two is taken, and of equals the first by name.
    """
    failing = _failing(telemetry, scenarios, study, settings.run_seed)
    runs = _measured(telemetry, failing)
    explosions = runs.filter(
        pl.col("category") == "optimization",
        pl.col("outcome") == "diverged",
        pl.col("onset_kind") == "mid_run",
        pl.col("growth") >= settings.smallest_growth,
    )
    mismatches = runs.filter(
        pl.col("category") == "data_pipeline", pl.col("outcome") == "crash", pl.col("beyond") > 0
    )
    return (
        _median_case(EXPLOSION, explosions.sort("growth", "run_id")),
        _median_case(MISMATCH, mismatches.sort("beyond", "run_id")),
    )


def _failing(
    telemetry: Telemetry, scenarios: tuple[Scenario, ...], study: ReferenceStudy, seed: int
) -> pl.DataFrame:
    """The failing runs of a seed of the main study, with their category and kind of onset."""
    described = pl.DataFrame(
        [(scenario.id, scenario.category, scenario.fault.onset) for scenario in scenarios],
        schema=["scenario", "category", "onset_kind"],
        orient="row",
    )
    return telemetry.runs.filter(
        pl.col("kind") == "failure",
        pl.col("architecture") == study.architecture,
        pl.col("optimizer") == study.optimizer,
        pl.col("scale") == study.scale,
        pl.col("seed") == seed,
    ).join(described, on="scenario")


def _measured(telemetry: Telemetry, failing: pl.DataFrame) -> pl.DataFrame:
    """What cases are ranked by: ``growth`` of the gradient norm, and token ids ``beyond``."""
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
    return failing.join(measured, on="run_id", how="left").with_columns(
        beyond=pl.col("highest") - pl.col("model_vocabulary") + 1
    )


def _median_case(name: str, ranked: pl.DataFrame) -> Case:
    if ranked.is_empty():
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "run_id",
            f"no failing run of the main study is a {name.replace('_', ' ')}.",
            "Record the scenarios, or lower case_studies.smallest_growth in params.yaml.",
        )
    row = ranked.row((ranked.height - 1) // 2, named=True)
    return Case(
        name,
        row["run_id"],
        row["scenario"],
        row["category"],
        row["onset_step"],
        row["failure_step"],
        tuple(ranked["run_id"]),
    )


def recordings_of(telemetry: Telemetry, case: Case) -> dict[str, str]:
    """Run ids by role: ``failing``, ``twin``, and each remedy by its name."""
    related = telemetry.runs.filter(pl.col("twin_of") == case.run_id).sort("run_id")
    roles = {"failing": case.run_id}
    for run_id, kind in related.select("run_id", "kind").iter_rows():
        roles["twin" if kind == "twin" else run_id.removeprefix(f"{case.run_id}-")] = run_id
    if "twin" not in roles:
        raise BadInputError(
            "data/telemetry/runs.parquet",
            "twin_of",
            f"{case.run_id} has no twin.",
            "Restore data/telemetry, or record the run again.",
        )
    return roles
