"""Difficulty: how many methods, seeds and architectures told the cause of each scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import polars as pl
from pydantic import Field, model_validator

from failbench.errors import BadInputError
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.fold_plans import NESTED_CV, POOLED
from failbench.prediction.neighbours import nearest_scenarios
from failbench.records import Record
from failbench.scenarios import Scenario
from failbench.vocabulary import ANSWERS

KEYS = ("scenario", "category")

DIFFICULTY_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(KEYS, pl.String()),
        **dict.fromkeys(ANSWERS, pl.Float64()),
        "runs": pl.Int32(),
        "ease": pl.Float64(),
        "instead": pl.String(),
        "instead_share": pl.Float64(),
        "declared": pl.String(),
        "symptom_category": pl.String(),
        "rationale": pl.String(),
        "measured": pl.String(),
        "nearest": pl.String(),
        "nearest_category": pl.String(),
        "neighbours_own": pl.Float64(),
        "neighbours_instead": pl.Float64(),
        "by_surface": pl.Boolean(),
        "by_neighbours": pl.Boolean(),
    }
)
SHARE_SCHEMA = pl.Schema(
    {
        **dict.fromkeys(KEYS, pl.String()),
        "view": pl.String(),
        "name": pl.String(),
        "ease": pl.Float64(),
    }
)
"""Columns of the two tables of :class:`Difficulty`, in its order."""


class DifficultyDesign(Record):
    """How difficulty is measured; the section ``difficulty`` of params.yaml."""

    feature_set: str
    left_out: tuple[str, ...]
    hard_below: float = Field(gt=0, lt=1)
    easy_from: float = Field(gt=0, le=1)
    hardest: int = Field(ge=1)
    neighbours: int = Field(ge=1)

    @model_validator(mode="after")
    def _levels_are_in_order(self) -> Self:
        if self.hard_below > self.easy_from:
            raise ValueError("hard_below must not exceed easy_from")
        if self.feature_set not in FEATURE_SETS:
            raise ValueError(f"feature_set must be one of {', '.join(FEATURE_SETS)}")
        return self


@dataclass(frozen=True)
class Difficulty:
    """What was measured of each scenario, and by whom."""

    scenarios: pl.DataFrame
    shares: pl.DataFrame


def measure_difficulty(
    predictions: pl.DataFrame,
    scenarios: tuple[Scenario, ...],
    failures: pl.DataFrame,
    settings: DifficultyDesign,
) -> Difficulty:
    """Measure how difficult each scenario is, and see what it is taken for.

    A run of a scenario counts by the share of its predictions that are right: over the repeats of a
    study, then over the studies that tested it. Then seeds are averaged within an architecture, and
    methods and architectures count alike. Every fit behind it had never seen the scenario.
    """
    runs = _runs(_that_count(predictions, settings))
    shares = pl.concat([_by(runs, "method"), _by(runs, "architecture")])
    whole = _averaged(runs, []).join(runs.group_by("scenario").agg(_run_count()), on="scenario")
    answered = _with_answers(whole)
    declared = _declared(scenarios)
    for place, known in (
        ("data/scenarios", declared),
        ("data/features/features.parquet", failures),
    ):
        missing = answered.join(known, on="scenario", how="anti").sort("scenario")
        if missing.height:
            raise BadInputError(
                place,
                "scenario",
                f"{missing['scenario'][0]!r} was predicted and is not there.",
                "Define, record and predict the same scenarios: run `dvc repro`.",
            )
    ease = pl.col("ease")
    table = (
        answered.join(declared, on="scenario", maintain_order="left")
        .with_columns(
            measured=pl.when(ease < settings.hard_below)
            .then(pl.lit("hard"))
            .when(ease >= settings.easy_from)
            .then(pl.lit("easy"))
            .otherwise(pl.lit("medium"))
        )
        .join(_surroundings(failures, answered, settings), on="scenario")
        .with_columns(
            by_surface=pl.col("instead") == pl.col("symptom_category"),
            by_neighbours=pl.col("neighbours_instead") > pl.col("neighbours_own"),
        )
        .sort("ease", "scenario")
    )
    return Difficulty(table, shares)


def _that_count(predictions: pl.DataFrame, settings: DifficultyDesign) -> pl.DataFrame:
    known = set(predictions["method"])
    for method in settings.left_out:
        if method not in known:
            raise BadInputError(
                "params.yaml",
                "difficulty.left_out",
                f"{method!r} was not predicted.",
                f"Known methods are {', '.join(sorted(known))}.",
            )
    taken = predictions.filter(
        pl.col("study").is_in((NESTED_CV, POOLED)),
        pl.col("feature_set") == settings.feature_set,
        ~pl.col("method").is_in(settings.left_out),
    )
    for study in (NESTED_CV, POOLED):
        if study not in set(taken["study"]):
            raise BadInputError(
                "predictions",
                "study",
                f"{study} has no prediction on {settings.feature_set} features by a method that "
                "counts.",
                "Run `dvc repro` for the study, and leave out fewer methods.",
            )
    return taken


def _runs(predictions: pl.DataFrame) -> pl.DataFrame:
    """Share of each answer to each run by each method: over repeats, then over studies."""
    run = [*KEYS, "method", "architecture", "seed"]
    gives = ((pl.col("prediction") == answer).mean().alias(answer) for answer in ANSWERS)
    studies = predictions.group_by(*run, "study", maintain_order=True).agg(gives)
    return studies.group_by(run, maintain_order=True).agg(pl.col(ANSWERS).mean())


def _averaged(runs: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Shares of each answer over seeds, then over methods and architectures, which count alike."""
    setting = (*KEYS, "method", "architecture")
    over_seeds = runs.group_by(*setting, maintain_order=True).agg(pl.col(ANSWERS).mean())
    shares = over_seeds.group_by(*KEYS, *by, maintain_order=True).agg(pl.col(ANSWERS).mean())
    # Shares are sums of halves, fifths and tenths: rounding keeps them on their side of a level,
    # and the file the same on every machine.
    return shares.with_columns(pl.col(ANSWERS).round(12))


def _by(runs: pl.DataFrame, view: str) -> pl.DataFrame:
    shares = _averaged(runs, [view]).with_columns(_ease())
    return shares.select(
        *KEYS, pl.lit(view).alias("view"), pl.col(view).alias("name"), "ease"
    ).sort("view", "name", "scenario")


def _run_count() -> pl.Expr:
    return pl.struct("architecture", "seed").n_unique().cast(pl.Int32).alias("runs")


def _ease() -> pl.Expr:
    right = (
        pl.when(pl.col("category") == answer).then(pl.col(answer)).otherwise(0.0)
        for answer in ANSWERS
    )
    return pl.sum_horizontal(right).alias("ease")


def _with_answers(shares: pl.DataFrame) -> pl.DataFrame:
    """Add the ease of each scenario and the wrong answer that it got most often."""
    wrong = (
        shares.unpivot(ANSWERS, index=["scenario", "category"], variable_name="instead")
        .filter(pl.col("instead") != pl.col("category"))
        .sort("scenario", -pl.col("value"), "instead")
        .group_by("scenario", maintain_order=True)
        .first()
        .select("scenario", "instead", instead_share="value")
    )
    return shares.with_columns(_ease()).join(wrong, on="scenario")


def _declared(scenarios: tuple[Scenario, ...]) -> pl.DataFrame:
    names = ("id", "difficulty", "symptom_category", "rationale")
    rows = [tuple(str(getattr(scenario, name)) for name in names) for scenario in scenarios]
    columns = ("scenario", "declared", "symptom_category", "rationale")
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String), orient="row")


def _surroundings(
    failures: pl.DataFrame, answered: pl.DataFrame, settings: DifficultyDesign
) -> pl.DataFrame:
    """What the runs nearest to each scenario are."""
    features = FEATURE_SETS[settings.feature_set]
    neighbours = nearest_scenarios(failures, features, settings.neighbours)
    near = pl.col("neighbour_category")
    return (
        neighbours.join(answered.select(*KEYS, "instead"), on="scenario")
        .sort("scenario", "rank")
        .group_by("scenario", maintain_order=True)
        .agg(
            pl.col("neighbour").first().alias("nearest"),
            near.first().alias("nearest_category"),
            (near == pl.col("category")).mean().alias("neighbours_own"),
            (near == pl.col("instead")).mean().alias("neighbours_instead"),
        )
    )
