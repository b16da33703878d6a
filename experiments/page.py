"""Stage page: one page on which people browse the failures, and what each method said of them."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl

from failbench.base.predictions import NEIGHBOUR_SCHEMA, PREDICTION_SCHEMA
from failbench.base.slices import PARTNER_SCHEMA, ReferenceStudy
from failbench.base.stage import (
    read_names,
    read_output,
    read_outputs,
    read_points,
    read_section,
    run,
    unreadable,
)
from failbench.base.studies import LANGUAGE_MODELS, prediction_files
from failbench.base.verdicts import ANSWER_SCHEMA, CONDITION_SCHEMA
from failbench.base.vocabulary import PRIMARY_SET
from failbench.monitor.records.scoring import ScoringParams, versioned
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, OWN, VERDICT_SCHEMA
from failbench.monitor.records.versions import read_rules
from failbench.publish.page.answers import ShownIntervals, answers_by_scenario, landing
from failbench.publish.page.curves import MOST_POINTS, MOST_POINTS_ELSEWHERE, curves
from failbench.publish.page.document import page_of
from failbench.publish.page.failure import (
    LOG_SCHEMA,
    LookAlikes,
    Monitored,
    answers_to_logs,
    details,
    explanations,
)
from failbench.publish.page.failures import failures, settings_of
from failbench.publish.page.methods import CURVE_SCHEMA, methods_section
from failbench.publish.page.reported import AUDIT_SCHEMA, reported_section
from failbench.statistics.settings import read_statistics
from failbench.study.inputs import Scope, majority_share, read_metrics, read_reported
from recordings import read_recordings
from shared.difficulty import DIFFICULTY_SCHEMA

INTERVALS = Path("data/metrics/intervals.json")
FINDING = Path("paper/tables/intervals/finding.md")
PREDICTIONS = Path("data/predictions/nested_cv")
TELEMETRY = Path("data/telemetry")
SCENARIOS = Path("data/scenarios")
DIFFICULTY = Path("data/measurements/difficulty/scenarios.parquet")
NEIGHBOURS = Path("data/measurements/unknown_anatomy/neighbours.parquet")
PARTNERS = Path("data/measurements/unknown_anatomy/partners.parquet")
LOGS = Path("data/measurements/diagnose_logs/answers.parquet")
EXPLANATIONS = Path("data/measurements/explanations")
MONITORED = Path("data/monitor")
INVARIANTS = Path("data/measurements/invariants")
CURVES = Path("data/plots/risk_coverage.csv")
AUDIT = Path("data/plots/paper_audit.csv")
COUNTERPARTS = (
    Path("data/metrics/ablation.json"),
    Path("data/metrics/abstention.json"),
    Path("data/metrics/architectures.json"),
    Path("data/metrics/case_studies.json"),
    Path("data/metrics/check.json"),
    Path("data/metrics/human_baseline.json"),
    Path("data/metrics/hybrid.json"),
    Path("data/metrics/importance.json"),
    Path("data/metrics/intervals.json"),
    Path("data/metrics/label_audit.json"),
    Path("data/metrics/lead_time.json"),
    Path("data/metrics/learned_rules.json"),
    Path("data/metrics/per_category.json"),
    Path("data/metrics/portability.json"),
    Path("data/metrics/significance.json"),
)
"""Metrics that stand beside numbers of the paper."""
PAGE = Path("paper/report.html")


def main() -> None:
    methods = read_names("methods")
    confidence = read_statistics(ShownIntervals).confidence
    study = read_section("nested_cv", ReferenceStudy)
    judged = read_section("monitor", ScoringParams)
    paper = read_reported()
    measured = read_metrics(INTERVALS, PRIMARY_SET)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    predictions = read_outputs(
        PREDICTIONS, prediction_files(methods), PREDICTION_SCHEMA, (LANGUAGE_MODELS,)
    )
    risks = read_points(CURVES, CURVE_SCHEMA)
    audit = read_points(AUDIT, AUDIT_SCHEMA)
    counterparts = {path.stem: read_json(path) for path in COUNTERPARTS}
    logs = read_output(LOGS, LOG_SCHEMA)
    monitored = read_monitored(judged.versions[-1])
    alike = LookAlikes(
        read_output(DIFFICULTY, DIFFICULTY_SCHEMA),
        read_output(NEIGHBOURS, NEIGHBOUR_SCHEMA),
        read_output(PARTNERS, PARTNER_SCHEMA),
    )
    explained = explanations(
        read_output(EXPLANATIONS / "answers.parquet", ANSWER_SCHEMA),
        read_output(EXPLANATIONS / "conditions.parquet", CONDITION_SCHEMA),
    )
    answers = answers_by_scenario(predictions)
    reference, seed = f"{study.architecture}-{study.optimizer}", min(study.run_seeds)
    index = failures(
        scenarios, telemetry.runs, answers, alike.difficulty, reference=reference, seed=seed
    )
    text = page_of(
        {
            "landing": landing(
                measured,
                paper,
                Scope.of(predictions),
                read_text(FINDING),
                majority=majority_share(predictions),
                confidence=confidence,
            ),
            "failures": index,
            "failure": details(
                scenarios,
                telemetry.runs,
                answers,
                explained,
                answers_to_logs(logs, reference),
                monitored,
                alike,
                reference=reference,
                seed=seed,
            ),
            **{
                f"curves-{setting}": curves(
                    telemetry,
                    setting,
                    seed,
                    MOST_POINTS if setting == reference else MOST_POINTS_ELSEWHERE,
                )
                for setting in settings_of(telemetry.runs, reference)
            },
            "methods": methods_section(predictions, measured, risks, paper, confidence=confidence),
            "reported": reported_section(paper, counterparts, audit),
        }
    )
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: {PAGE.stat().st_size / 1e6:.2f} MB")


def read_monitored(version: str) -> Monitored:
    """What the monitor saw of runs by a version of its rules, by bounds of their own setting."""
    of_version = (pl.col("version") == version) & (pl.col("bounds") == OWN)
    breaks = read_output(INVARIANTS / "breaks.parquet", versioned(BREAK_SCHEMA))
    verdicts = read_output(INVARIANTS / "verdicts.parquet", versioned(VERDICT_SCHEMA))
    return Monitored(
        read_rules(MONITORED, version),
        breaks.filter(of_version),
        verdicts.filter(of_version, pl.col("steps_ahead") == 0),
        read_output(INVARIANTS / "ends.parquet", END_SCHEMA),
    )


def read_text(path: Path) -> str:
    """A sentence that an earlier stage wrote."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise unreadable(path, "text") from error


def read_json(path: Path) -> dict[str, object]:
    """Metrics that an earlier stage wrote."""
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, "JSON") from error
    if not isinstance(metrics, dict):
        raise unreadable(path, "JSON")
    return metrics


if __name__ == "__main__":
    run(main)
