"""Stage page: one page on which people browse the failures, and what each method said of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from failbench import study as st
from failbench.base.scenarios import Scenario
from failbench.base.slices import PARTNER_SCHEMA
from failbench.base.stage import run
from failbench.base.telemetry import Telemetry
from failbench.base.verdicts import ANSWER_SCHEMA, CONDITION_SCHEMA
from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.diagnose.model import read_model
from failbench.diagnose.words import read_words
from failbench.monitor.records.scoring import ScoringParams, versioned
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA, OWN, VERDICT_SCHEMA
from failbench.monitor.records.versions import read_rules
from failbench.publish.page import failure
from failbench.publish.page.by_symptom import symptoms_section
from failbench.publish.page.curves import MOST_POINTS, MOST_POINTS_ELSEWHERE, curves
from failbench.publish.page.document import page_of
from failbench.publish.page.failures import failures, settings_of, with_setting
from failbench.publish.page.methods import (
    CURVE_SCHEMA,
    ShownIntervals,
    answers_by_scenario,
    each_answer_once,
    landing,
    methods_section,
)
from failbench.publish.page.reported import (
    AUDIT_SCHEMA,
    audit_section,
    counterparts,
    looked_up,
    reported_section,
)
from recordings import read_recordings
from shared.answered import answered
from shared.difficulty import DIFFICULTY_SCHEMA

METRICS = Path("data/metrics")
FINDING = Path("paper/tables/intervals/finding.md")
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
MODEL = Path("src/failbench/fitted/log.json")
WORDS = Path("src/failbench/fitted/words.npy")
LOG_METRICS = METRICS / "diagnose_logs.json"
OURS = "diagnose_logs:peers/failbench_diagnose/accuracy"
"""Of complete logs of scenarios not learnt from, not given that the run failed."""

LOG_LINES = 3
PAGE = Path("paper/report.html")


def main() -> None:
    confidence = st.read_statistics(ShownIntervals).confidence
    study = st.read_section("nested_cv", st.ReferenceStudy)
    judged = st.read_section("monitor", ScoringParams)
    paper = st.read_reported()
    measured = st.read_metrics(METRICS / "intervals.json", st.PRIMARY_SET, recorded=True)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    predictions, asked_once = st.read_main_study(), each_answer_once(st.read_recorded_model())
    all_answers = pl.concat([predictions, asked_once])
    risks = st.read_points(CURVES, CURVE_SCHEMA)
    audit = st.read_points(AUDIT, AUDIT_SCHEMA)
    # of the studies whose numbers stand beside those of the paper
    named = {place.partition(":")[0] for each in counterparts().values() for place in each.ours}
    metrics = {name: st.read_earlier(METRICS / f"{name}.json") for name in sorted(named)}
    of_tool = {"diagnose_logs": st.read_earlier(LOG_METRICS)}
    accuracy = looked_up(OURS, of_tool, "stands beside answers of the tool")
    logs = st.read_output(LOGS, failure.LOG_SCHEMA)
    monitored = read_monitored(judged.versions[-1])
    alike = failure.LookAlikes(
        st.read_output(DIFFICULTY, DIFFICULTY_SCHEMA),
        st.read_output(NEIGHBOURS, st.NEIGHBOUR_SCHEMA),
        st.read_output(PARTNERS, PARTNER_SCHEMA),
    )
    explained = failure.explanations(
        st.read_output(EXPLANATIONS / "answers.parquet", ANSWER_SCHEMA),
        st.read_output(EXPLANATIONS / "conditions.parquet", CONDITION_SCHEMA),
    )
    answers = answers_by_scenario(all_answers)
    reference, seed = f"{study.architecture}-{study.optimizer}", min(study.run_seeds)
    recorded = (scenarios, telemetry.runs, answers)
    of_logs = failure.answers_to_logs(logs, reference)
    shown = (measured, paper, st.Scope.of(predictions), read_text(FINDING))
    where: dict[str, Any] = {"reference": reference, "seed": seed}
    majority, scale = st.majority_share(predictions), st.scale_of(telemetry.runs)
    sections: dict[str, object] = {
        "symptoms": symptoms_section(telemetry, **where),
        "answers": shown_answers(telemetry, scenarios, accuracy, **where),
        "landing": landing(*shown, scale=scale, majority=majority, confidence=confidence),
        "failures": failures(*recorded, alike.difficulty, **where),
        "failure": failure.details(*recorded, explained, of_logs, monitored, alike, **where),
    }
    for setting in settings_of(telemetry.runs, reference):
        most = MOST_POINTS if setting == reference else MOST_POINTS_ELSEWHERE
        sections[f"curves-{setting}"] = curves(telemetry, setting, seed, most)
    fitted = (all_answers, measured, risks, paper)
    sections["methods"] = methods_section(*fitted, confidence=confidence)
    sections["reported"] = reported_section(paper, metrics)
    sections["audit"] = audit_section(audit)
    text = page_of(sections)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: {PAGE.stat().st_size / 1e6:.2f} MB")


def shown_answers(
    telemetry: Telemetry,
    scenarios: Sequence[Scenario],
    accuracy: Mapping[str, float],
    *,
    reference: str,
    seed: int,
) -> dict[str, object]:
    """Three answers of the command, the first of each kind in the order of scenarios' names."""
    model, words = read_model(MODEL), read_words(WORDS)
    wanted = {
        "First right answer, of a run that raised an error": (True, True),
        "First right answer, of a run without an error": (True, False),
        "First wrong answer": (False, False),
    }
    shown: dict[tuple[bool, bool], dict[str, object]] = {}
    runs = with_setting(telemetry.runs).filter(setting=reference, seed=seed).sort("scenario")
    labels = {scenario.id: scenario for scenario in scenarios}
    for each in runs.iter_rows(named=True):
        scenario = labels[each["scenario"]]
        steps = telemetry.steps.filter(run_id=each["run_id"])
        answer = answered(each, steps, model, words)
        named = answer.diagnosis.category
        right = named == scenario.category
        kind = (right, right and each["error_type"] is not None)
        if named is not None and kind in wanted.values() and kind not in shown:
            shown[kind] = {
                "scenario": scenario.id,
                "right": right,
                "cause": causes()[cause_of_scenario()[scenario.id]].title,
                "session": answer.session(LOG_LINES),
            }
        if len(shown) == len(wanted):
            break
    return {
        "answers": [{"rule": rule, **shown[kind]} for rule, kind in wanted.items()],
        "accuracy": accuracy,
    }


def read_monitored(version: str) -> failure.Monitored:
    """What the monitor saw of runs by a version of its rules, by bounds of their own setting."""
    of_version = (pl.col("version") == version) & (pl.col("bounds") == OWN)
    breaks = st.read_output(INVARIANTS / "breaks.parquet", versioned(BREAK_SCHEMA))
    verdicts = st.read_output(INVARIANTS / "verdicts.parquet", versioned(VERDICT_SCHEMA))
    return failure.Monitored(
        read_rules(MONITORED, version),
        breaks.filter(of_version),
        verdicts.filter(of_version, pl.col("steps_ahead") == 0),
        st.read_output(INVARIANTS / "ends.parquet", END_SCHEMA),
    )


def read_text(path: Path) -> str:
    """A sentence that an earlier stage wrote."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise st.unreadable(path, "text") from error


if __name__ == "__main__":
    run(main)
