"""Symptoms: what a person sees of a failed run, and which scenarios show it.

``data/symptoms.json`` declares them: titles, words that people search for, and what a recorded run
must show. A symptom is shown by a run that satisfies all conditions of one of its alternatives, and
belongs to a scenario if at least ``LEAST_SHARE`` of its failing runs show it. Nothing is assigned
by hand.
"""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

import polars as pl
from pydantic import Field, TypeAdapter

from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.telemetry import Telemetry
from failbench.study.run_curves import pairs

LEAST_SHARE: Final = 0.1
"""Of the failing runs of a scenario: fewer are accidents of a seed."""

SMOOTHED, ENDS = 5, 20  # steps of a trailing mean, and of the beginning and the end of a curve

FACTS: Final = {
    "outcome": "how the run failed, by the detector",
    "ending": "how the process ended",
    "error": "type and message of the error, or the signal that ended the process",
    "not_finite": "steps whose loss or gradient norm is NaN or infinite",
    "rise": "rise of the loss above the least mean of 5 steps before, beyond the twin's, nats",
    "peak": "highest loss, above the twin's highest, nats",
    "fall": "fall of the loss from its first 20 steps to its last 20, as a share of the twin's",
    "end": "loss of the last 20 steps, above the twin's, nats",
    "held_out": "last held-out loss, above the twin's, nats",
    "memory": "highest memory, as a share of the capacity",
    "twin_memory": "the same of the twin",
}
"""What is measured of a run against its twin, up to the step that the run reached."""


class Condition(Record):
    """What a fact must be; a fact that was not recorded satisfies nothing."""

    matches: re.Pattern[str] | None = None
    least: float | None = None
    most: float | None = None

    def satisfied(self, value: object) -> bool:
        """Whether a value satisfies it."""
        if isinstance(value, str):
            return self.matches is not None and self.matches.search(value) is not None
        if not isinstance(value, int | float):
            return False
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )


class Symptom(Record):
    """Something that a person sees of a failed run."""

    id: str
    title: str
    seen: str
    signal: str
    synonyms: tuple[str, ...]
    shows: tuple[dict[str, Condition], ...] = Field(min_length=1)

    def shown(self, facts: dict[str, object]) -> bool:
        """Whether a run with these facts shows it."""
        return any(
            all(condition.satisfied(facts[name]) for name, condition in each.items())
            for each in self.shows
        )


@cache
def symptoms() -> tuple[Symptom, ...]:
    """All symptoms, in the order in which they are shown."""
    text = files("failbench.publish").joinpath("data/symptoms.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Symptom, ...]).validate_json(text)


def symptom_scenarios(telemetry: Telemetry) -> pl.DataFrame:
    """The scenarios of each symptom, by the share of runs that show it, which ``run_ids`` names."""
    facts = run_facts(telemetry)
    runs = facts.group_by("scenario").agg(pl.len().alias("runs"))
    parts = [
        facts.filter([symptom.shown(row) for row in facts.iter_rows(named=True)])
        .group_by("scenario")
        .agg(pl.len().alias("shown"), pl.col("run_id").sort().alias("run_ids"))
        .join(runs, on="scenario")
        .with_columns(share=pl.col("shown") / pl.col("runs"), symptom=pl.lit(symptom.id))
        .sort("share", "scenario", descending=[True, False])
        for symptom in symptoms()
    ]
    kept = pl.concat(parts).filter(pl.col("share") >= LEAST_SHARE)
    for scenario in sorted(set(runs["scenario"]) - set(kept["scenario"])):
        problem = f"no symptom is shown by {100 * LEAST_SHARE:g} % of the runs of {scenario!r}."
        remedy = "Declare what they show in src/failbench/publish/data/symptoms.json."
        raise BadInputError("data/telemetry", "scenario", problem, remedy)
    return kept.select("symptom", "scenario", "shown", "runs", "run_ids")


def run_facts(telemetry: Telemetry) -> pl.DataFrame:
    """``FACTS`` of every failing run, with ``run_id`` and ``scenario``."""
    paired = pairs(telemetry)
    steps = telemetry.steps.select(
        "run_id", "step", "loss", "gradient_norm", "memory_bytes", "validation_loss"
    )
    both = (
        paired.select("run_id", "twin", "capacity_bytes")
        .join(steps, on="run_id")
        .join(steps.rename({"run_id": "twin"}), on=["twin", "step"], how="left", suffix="_twin")
        .sort("run_id", "step")
    )
    trailing = both.with_columns(
        _least(name).over("run_id").alias(f"least_{name}") for name in ("loss", "loss_twin")
    )
    measured = trailing.group_by("run_id").agg(
        not_finite=(pl.any_horizontal(*(_odd(n) for n in ("loss", "gradient_norm")))).sum(),
        rise=_highest_rise("loss") - _highest_rise("loss_twin"),
        peak=_finite("loss").max() - _finite("loss_twin").max(),
        fall=_fall("loss") / _fall("loss_twin"),
        end=_finite("loss").tail(ENDS).mean() - _finite("loss_twin").tail(ENDS).mean(),
        held_out=(pl.col("validation_loss") - pl.col("validation_loss_twin")).drop_nulls().last(),
        memory=(pl.col("memory_bytes") / pl.col("capacity_bytes")).max(),
        twin_memory=(pl.col("memory_bytes_twin") / pl.col("capacity_bytes")).max(),
    )
    ending = pl.struct("error_type", "error_message", "exit_signal")
    return (
        paired.with_columns(error=ending.map_elements(error_text, pl.String))
        .join(measured, on="run_id", how="left")
        .select("run_id", "scenario", *FACTS)
        .sort("run_id")
    )


def error_text(row: Mapping[str, object]) -> str | None:
    """Type and message of an error, or the signal that ended a run, as recorded; else None."""
    if row["error_type"] is not None:
        return f"{row['error_type']}: {row['error_message'] or ''}".rstrip().removesuffix(":")
    return None if row["exit_signal"] is None else f"ended by {row['exit_signal']}"


def _odd(name: str) -> pl.Expr:
    return ~pl.col(name).is_finite().fill_null(value=True)


def _finite(name: str) -> pl.Expr:
    return pl.col(name).filter(pl.col(name).is_finite())


def _least(name: str) -> pl.Expr:
    """The least trailing mean that ended before a step."""
    return pl.col(name).rolling_mean(SMOOTHED).shift(1).cum_min()


def _highest_rise(name: str) -> pl.Expr:
    risen = pl.col(name) - pl.col(f"least_{name}")
    return risen.filter(risen.is_finite()).max()


def _fall(name: str) -> pl.Expr:
    return _finite(name).head(ENDS).mean() - _finite(name).tail(ENDS).mean()
