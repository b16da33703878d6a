"""The run that is drawn over its twin: chosen by a rule, with the signal that departs first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import polars as pl

from failbench.errors import BadInputError
from failbench.features.feature import bounded
from failbench.params import PARAMS
from failbench.reporting.run_curves import SIGNIFICANT_DIGITS, pairs
from failbench.scenarios import Scenario
from failbench.studies.benchmark.settings import BenchmarkSettings, Signal
from failbench.telemetry import Telemetry

REMEDY: Final = "Choose another in the section benchmark of params.yaml."


@dataclass(frozen=True)
class ChosenTwin:
    """A failing run, its twin, and where the two part."""

    run_id: str
    scenario: Scenario
    onset_step: int
    failure_step: int
    outcome: str
    candidates: int
    signal: Signal
    departs: int
    points: pl.DataFrame

    @property
    def steps_to_failure(self) -> int:
        """From onset."""
        return self.failure_step - self.onset_step

    def at(self, role: str, step: int, column: str) -> float:
        """A value that is drawn."""
        return float(
            self.points.filter(pl.col("role") == role, pl.col("step") == step)[column].item()
        )


def chosen_twin(
    telemetry: Telemetry,
    scenarios: Sequence[Scenario],
    in_reference: pl.Expr,
    settings: BenchmarkSettings,
) -> ChosenTwin:
    """Choose the run by the rule of the settings, and take its curves and its twin's.

    Nothing but recordings is looked at, and no answer of any method.
    """
    rule = settings.twin
    known = {scenario.id: scenario for scenario in scenarios}
    of_onset = [scenario.id for scenario in scenarios if scenario.fault.onset == rule.onset]
    candidates = (
        pairs(telemetry)
        .filter(
            in_reference,
            pl.col("seed") == rule.seed,
            pl.col("outcome") == rule.outcome,
            pl.col("scenario").is_in(of_onset),
            pl.col("twin").is_not_null(),
            pl.col("onset_step").is_not_null(),
        )
        .sort(pl.col("failure_step") - pl.col("onset_step"), "run_id")
    )
    if candidates.is_empty():
        raise BadInputError(
            PARAMS,
            "benchmark.twin",
            f"no recorded run of the main study with seed {rule.seed} and onset {rule.onset} "
            f"ended {rule.outcome}.",
            REMEDY,
        )
    run = candidates.row((candidates.height - 1) // 2, named=True)
    curves = _curves(telemetry, run, settings.signals)
    signal, departs = _first_departure(curves, run["onset_step"], settings.signals, run["run_id"])
    drawn = pl.col("step").is_between(
        run["onset_step"] - settings.before, run["failure_step"] + settings.after
    )
    columns = pl.col("loss", signal).cast(pl.Float64).round_sig_figs(SIGNIFICANT_DIGITS)
    return ChosenTwin(
        run["run_id"],
        known[run["scenario"]],
        run["onset_step"],
        run["failure_step"],
        run["outcome"],
        candidates.height,
        signal,
        departs,
        curves.filter(drawn).select("role", "step", columns).sort("role", "step"),
    )


def _curves(
    telemetry: Telemetry, run: Mapping[str, object], signals: Sequence[Signal]
) -> pl.DataFrame:
    roles = pl.DataFrame(
        {"run_id": [run["run_id"], run["twin"]], "role": ["failing", "twin"]},
        schema={"run_id": pl.String, "role": pl.String},
    )
    return (
        telemetry.steps.join(roles, on="run_id")
        .with_columns(
            (pl.col("unknown_tokens") / pl.col("tokens")).alias("unknown_share"),
            bounded(pl.col("loss")).alias("loss"),
        )
        .select("role", "step", "loss", *signals)
    )


def _first_departure(
    curves: pl.DataFrame, onset: int, signals: Sequence[Signal], run_id: str
) -> tuple[Signal, int]:
    """The signal that first differs from the twin's, the earlier named at the same step."""
    of_run, of_twin = (
        curves.filter(pl.col("role") == role, pl.col("step") >= onset).drop("role")
        for role in ("failing", "twin")
    )
    both = of_run.join(of_twin, on="step", suffix="_twin").sort("step")
    departures = {}
    for signal in signals:
        apart = both.filter(pl.col(signal).ne_missing(pl.col(f"{signal}_twin")))["step"]
        if len(apart):
            departures[signal] = int(apart[0])
    if not departures:
        raise BadInputError(
            PARAMS,
            "benchmark.signals",
            f"none of them departs in {run_id!r} from what its twin has.",
            REMEDY,
        )
    first = min(departures, key=departures.__getitem__)
    return first, departures[first]
