"""The report of the study of logs."""

from __future__ import annotations

from typing import Any

import polars as pl

from failbench.causes.catalogue import causes
from failbench.diagnose.answer import NAMED
from failbench.reporting.cells import percent, with_interval
from failbench.reporting.study_report import StudyReport, Summary, rounded
from failbench.statistics.estimates import nest
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.studies.diagnose_logs.figure import logs_picture
from failbench.studies.diagnose_logs.peers import peer_table
from failbench.studies.diagnose_logs.results import (
    WHOLE,
    alarm_table,
    floors,
    rate_table,
    risk_coverage,
    scenario_table,
)
from failbench.studies.diagnose_logs.schemas import COMPLETE as COMPLETE_LOGS
from failbench.studies.diagnose_logs.settings import DiagnosedLogs
from failbench.studies.diagnose_logs.shown import COMPLETE, OURS, Shown
from failbench.studies.diagnose_logs.tables import tables
from failbench.vocabulary import ABSTAIN

POINTS = 20
"""Shares at which the risk is drawn."""


def report(
    answers: pl.DataFrame,
    evidence: pl.DataFrame,
    peers: pl.DataFrame,
    reference: str,
    settings: DiagnosedLogs,
    intervals: ScenarioIntervalSettings,
    example: str,
) -> StudyReport:
    """How often causes are named from logs, how sure that is, and other tools on the same."""
    is_complete = pl.col("format") == COMPLETE_LOGS
    answers = answers.with_columns(
        model=pl.when(is_complete).then(pl.lit(COMPLETE)).otherwise("model")
    )
    failing = answers.filter(kind="failure")
    rates = rate_table(failing, settings, intervals)
    ours = _ours(answers.filter(model=COMPLETE, setting=reference, repeat=0))
    runs = answers.filter(setting=reference, repeat=0).select(
        "run_id", "kind", "scenario", "category", "seed"
    )
    beside = peer_table(pl.concat([ours, peers]), runs.unique(), intervals)
    shown = Shown(
        rates=rates,
        alarms=alarm_table(answers.filter(pl.col("kind") != "failure"), intervals.confidence),
        floors=floors(failing, settings, settings.seed),
        risks=risk_coverage(failing, POINTS),
        peers=beside,
        evidence=evidence,
        evidence_logs=settings.evidence_logs,
        seeds=len(settings.run_seeds),
        runs=failing.filter(model="log")["run_id"].n_unique(),
        monitored=failing.filter(model="monitor")["run_id"].n_unique(),
        formats_per_run=settings.formats_per_run,
        repeats=settings.repeats,
        bins=settings.bins,
        causes=len(causes()),
        coverage=settings.coverage,
        confidence=intervals.confidence,
    )
    found = evidence.filter(pl.col("checked_by") != "course")["found"].to_numpy()
    metrics: dict[str, Any] = {
        "rates": nest(rates, "model", "part", "name", "metric"),
        "false_alarms": nest(shown.alarms, "model", "kind"),
        "calibration_floor": dict(shown.floors),
        "peers": nest(beside, "method", "metric"),
        "evidence_found": {"value": float(found.mean()), "n": len(found)},
    }
    points = {
        "diagnose_logs": rounded(rates),
        "diagnose_logs_risk": rounded(shown.risks),
        "diagnose_logs_false_alarms": rounded(shown.alarms),
        "diagnose_logs_scenarios": rounded(scenario_table(failing)),
        "diagnose_logs_peers": rounded(beside),
    }
    return StudyReport(
        metrics=metrics,
        points=points,
        tables=tables(shown),
        figures={"diagnose_logs": logs_picture(shown.risks, rates, settings.coverage)},
        sentences={"finding": _finding(shown), "example": example},
        summary=(
            Summary.of(
                rates.filter(part=WHOLE), "model", "metric", "value", "ci_low", "ci_high", "n"
            ),
            Summary.of(shown.alarms, "model", "kind", "value", "ci_high", "n"),
        ),
    )


def _ours(answers: pl.DataFrame) -> pl.DataFrame:
    """Our answers as a user gets them: no category where nothing is found or none stands out."""
    is_named = pl.col("alarm") & (pl.col("confidence") >= NAMED)
    return answers.select(
        method=pl.lit(OURS),
        format=pl.lit("complete log"),
        run_id="run_id",
        prediction=pl.when(is_named).then("prediction").otherwise(pl.lit(ABSTAIN)),
        detected="alarm",
    )


def _finding(shown: Shown) -> str:
    def cell(model: str, metric: str) -> str:
        (row,) = shown.rates.filter(model=model, part=WHOLE, metric=metric).to_dicts()
        return with_interval(row["value"], row["ci_low"], row["ci_high"])

    found = shown.evidence.filter(pl.col("checked_by") != "course")["found"].to_numpy()
    return (
        f"From a log of any format `failbench diagnose` names the right category of five of "
        f"{cell('log', 'accuracy')} % of failed runs of causes that it has not learnt from, told "
        f"that they failed; of complete logs {cell(COMPLETE, 'accuracy')} %; with the monitor's "
        f"log {cell('monitor', 'accuracy')} % (logic alone) and "
        f"{cell('monitor_bounds', 'accuracy')} % (bounds of healthy runs). "
        f"{percent(float(found.mean()))} % of its evidence stands in the log where it says.\n"
    )
