"""Stage measure_llm_agents: what language models answered; where nothing is cached, no row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from failbench.base import measuring as st
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import read_features
from failbench.methods.llm import answer as llm
from failbench.methods.llm.faithfulness import Explanation, explanation_of
from failbench.methods.llm.prompt import Prompt, prompt_hash, prompts_by_reads
from failbench.methods.llm.record import MonitorRecord, monitor_records
from failbench.methods.llm.recorded import recorded_answers
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.monitor.records.scoring import ScoringParams, versioned
from failbench.monitor.records.tables import MONITORED_SCHEMA
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA
from failbench.monitor.records.versions import read_rules
from shared.llm_agents import ANSWERED_SCHEMA, EXPLANATION_SCHEMA

CACHE = Path("data/llm")
RECORDED = Path("data/llm/recorded_answers.csv")
TELEMETRY = Path("data/telemetry")
MONITORED = Path("data/monitor")
MONITORED_RUNS = Path("data/monitor/runs.parquet")
FROZEN = Path("data/monitor/frozen.json")
VERSIONS = Path("data/monitor/versions")
BREAKS = Path("data/measurements/invariants/breaks.parquet")
ENDS = Path("data/measurements/invariants/ends.parquet")
PREDICTIONS = Path("data/predictions/nested_cv/llm_agents.parquet")
ONCE_ASKED = Path("data/predictions/recorded/llm_unnamed_2026.parquet")
MEASUREMENTS = Path("data/measurements/llm_agents")
UNREADABLE: st.AnswerReason = "unreadable"


def replay(
    telemetry: st.Telemetry,
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    caches: Mapping[str, llm.LlmCache],
    settings: LlmAgentsSettings,
    records: Mapping[str, MonitorRecord],
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Predictions, explanations and how much was answered, from caches; no server is asked."""
    runs = failures.sort("run_id")
    asked = prompts_by_reads(telemetry, runs["run_id"].to_list(), settings, records)
    predictions = [st.PREDICTION_SCHEMA.to_frame()]
    explanations = [EXPLANATION_SCHEMA.to_frame()]
    answered = []
    for label, model in settings.models.items():
        prompts = asked[model.reads]
        keys = {run_id: prompt_hash(prompt, settings) for run_id, prompt in prompts.items()}
        cached = caches.get(label, llm.LlmCache()).of_model(model)
        answers = {run_id: cached[key] for run_id, key in keys.items() if key in cached}
        answered.append((label, len(answers), runs.height))
        if len(answers) == runs.height:
            readings = [
                reading(run_id, llm.read_answer(answer.text, answer.done_reason), prompts[run_id])
                for run_id, answer in answers.items()
            ]
            types = {"reason": pl.String, "conditions": pl.Int32}
            read = pl.DataFrame(readings, schema_overrides=types)
            rows = runs.join(read, on="run_id", validate="1:1").with_columns(method=pl.lit(label))
            predictions.append(in_every_repeat(rows, splits))
            explanations.append(rows.select(EXPLANATION_SCHEMA.names()).cast(EXPLANATION_SCHEMA))
    return (
        pl.concat(predictions).sort(st.PREDICTION_SCHEMA.names()[:6]),
        pl.concat(explanations),
        pl.DataFrame(answered, schema=ANSWERED_SCHEMA, orient="row"),
    )


def reading(run_id: str, answer: llm.LlmAnswer | llm.Unreadable, prompt: Prompt) -> dict[str, Any]:
    """An unreadable answer abstains, with no confidence in any category, and explains nothing."""
    if isinstance(answer, llm.Unreadable):
        named, confidence, reason = st.ABSTAIN, 0.0, UNREADABLE
        spread = dict.fromkeys(st.CATEGORIES, 1 / len(st.CATEGORIES))
        explanation = Explanation()
    else:
        named, confidence, reason = answer.category, answer.confidence, None
        rest = (1 - confidence) / (len(st.CATEGORIES) - 1)
        spread = dict.fromkeys(st.CATEGORIES, rest) | {answer.category: confidence}
        explanation = explanation_of(answer, prompt.shown)
    return {
        "run_id": run_id,
        "prediction": named,
        "confidence": round(confidence, st.DECIMALS),
        "reason": reason,
        **{f"p_{category}": round(value, st.DECIMALS) for category, value in spread.items()},
        # Where nothing is cited there is nothing to check.
        "conditions": explanation.items or None,
        "unreadable": isinstance(answer, llm.Unreadable),
        "cites_evidence": explanation.items > 0,
        "evidence_found": explanation.confirmed_share,
        "evidence_points": explanation.points_share,
    }


def in_every_repeat(rows: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    """The same answers as predictions in each repeat and for each feature set."""
    sets = pl.DataFrame({"feature_set": list(FEATURE_SETS)})
    return (
        splits.join(rows, on="scenario")
        .join(sets, how="cross")
        .with_columns(study=pl.lit(st.NESTED_CV), route=pl.lit(None, pl.String))
        .select(st.PREDICTION_SCHEMA.names())
        .cast(st.PREDICTION_SCHEMA)
    )


def main() -> None:
    settings = st.read_section("llm_agents", LlmAgentsSettings)
    reference = st.read_section("nested_cv", st.ReferenceStudy)
    version = st.read_section("monitor", ScoringParams).versions[-1]
    breaks = st.read_output(BREAKS, versioned(BREAK_SCHEMA)).filter(pl.col("version") == version)
    records = monitor_records(
        st.read_output(MONITORED_RUNS, MONITORED_SCHEMA),
        breaks,
        st.read_output(ENDS, END_SCHEMA),
        read_rules(MONITORED, version),
        settings,
    )
    failures, splits = reference.failures(read_features()), st.read_splits()
    predictions, explanations, answered = replay(
        st.read_telemetry(TELEMETRY),
        failures,
        splits,
        {label: llm.read_cache(llm.cache_path(CACHE, label)) for label in settings.models},
        settings,
        records,
    )
    once = recorded_answers(failures, st.RECORDED_SEED, RECORDED).with_columns(
        method=pl.lit(st.RECORDED_MODEL)
    )
    st.write_parquet(in_every_repeat(once, splits), ONCE_ASKED)
    st.write_parquet(predictions, PREDICTIONS)
    st.write_parquet(explanations, MEASUREMENTS / "explanations.parquet")
    st.write_parquet(answered, MEASUREMENTS / "answered.parquet")
    st.print_accuracy(predictions)


if __name__ == "__main__":
    st.run(main)
