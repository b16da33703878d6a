"""Stage measure_llm_agents: what language models answered; where nothing is cached, no row."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from failbench.base.predictions import DECIMALS, PREDICTION_SCHEMA, SPLIT_SCHEMA
from failbench.base.slices import ReferenceStudy
from failbench.base.stage import print_accuracy, read_output, read_section, run
from failbench.base.studies import NESTED_CV
from failbench.base.telemetry import Telemetry, read_telemetry, write_parquet
from failbench.base.vocabulary import ABSTAIN, CATEGORIES, AnswerReason
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import FEATURE_SCHEMA
from failbench.methods.llm.answer import (
    LlmAnswer,
    LlmCache,
    Unreadable,
    cache_path,
    read_answer,
    read_cache,
)
from failbench.methods.llm.faithfulness import Explanation, explanation_of
from failbench.methods.llm.prompt import Prompt, prompt_hash, prompts_by_reads
from failbench.methods.llm.record import MonitorRecord, monitor_records
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.monitor.records.scoring import ScoringParams, versioned
from failbench.monitor.records.tables import MONITORED_SCHEMA
from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA
from failbench.monitor.records.versions import read_rules
from shared.llm_agents import ANSWERED_SCHEMA, EXPLANATION_SCHEMA

CACHE = Path("data/llm")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
SPLITS = Path("data/features/splits.parquet")
MONITORED = Path("data/monitor")
MONITORED_RUNS = Path("data/monitor/runs.parquet")
FROZEN = Path("data/monitor/frozen.json")
VERSIONS = Path("data/monitor/versions")
BREAKS = Path("data/measurements/invariants/breaks.parquet")
ENDS = Path("data/measurements/invariants/ends.parquet")
PREDICTIONS = Path("data/predictions/nested_cv/llm_agents.parquet")
MEASUREMENTS = Path("data/measurements/llm_agents")
UNREADABLE: AnswerReason = "unreadable"


def replay(
    telemetry: Telemetry,
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    caches: Mapping[str, LlmCache],
    settings: LlmAgentsSettings,
    records: Mapping[str, MonitorRecord],
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Predictions, explanations and how much was answered, from caches; no server is asked."""
    runs = failures.sort("run_id")
    asked = prompts_by_reads(telemetry, runs["run_id"].to_list(), settings, records)
    predictions = [PREDICTION_SCHEMA.to_frame()]
    explanations = [EXPLANATION_SCHEMA.to_frame()]
    answered = []
    for label, model in settings.models.items():
        prompts = asked[model.reads]
        keys = {run_id: prompt_hash(prompt, settings) for run_id, prompt in prompts.items()}
        cached = caches.get(label, LlmCache()).of_model(model)
        answers = {run_id: cached[key] for run_id, key in keys.items() if key in cached}
        answered.append((label, len(answers), runs.height))
        if len(answers) == runs.height:
            readings = [
                reading(run_id, read_answer(answer.text, answer.done_reason), prompts[run_id])
                for run_id, answer in answers.items()
            ]
            types = {"reason": pl.String, "conditions": pl.Int32}
            read = pl.DataFrame(readings, schema_overrides=types)
            rows = runs.join(read, on="run_id", validate="1:1").with_columns(method=pl.lit(label))
            predictions.append(in_every_repeat(rows, splits))
            explanations.append(rows.select(EXPLANATION_SCHEMA.names()).cast(EXPLANATION_SCHEMA))
    return (
        pl.concat(predictions).sort(PREDICTION_SCHEMA.names()[:6]),
        pl.concat(explanations),
        pl.DataFrame(answered, schema=ANSWERED_SCHEMA, orient="row"),
    )


def reading(run_id: str, answer: LlmAnswer | Unreadable, prompt: Prompt) -> dict[str, Any]:
    """An unreadable answer abstains, with no confidence in any category, and explains nothing."""
    if isinstance(answer, Unreadable):
        named, confidence, reason = ABSTAIN, 0.0, UNREADABLE
        spread = dict.fromkeys(CATEGORIES, 1 / len(CATEGORIES))
        explanation = Explanation()
    else:
        named, confidence, reason = answer.category, answer.confidence, None
        rest = (1 - confidence) / (len(CATEGORIES) - 1)
        spread = dict.fromkeys(CATEGORIES, rest) | {answer.category: confidence}
        explanation = explanation_of(answer, prompt.shown)
    return {
        "run_id": run_id,
        "prediction": named,
        "confidence": round(confidence, DECIMALS),
        "reason": reason,
        **{f"p_{category}": round(value, DECIMALS) for category, value in spread.items()},
        # Where nothing is cited there is nothing to check.
        "conditions": explanation.items or None,
        "unreadable": isinstance(answer, Unreadable),
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
        .with_columns(study=pl.lit(NESTED_CV), route=pl.lit(None, pl.String))
        .select(PREDICTION_SCHEMA.names())
        .cast(PREDICTION_SCHEMA)
    )


def main() -> None:
    settings = read_section("llm_agents", LlmAgentsSettings)
    reference = read_section("nested_cv", ReferenceStudy)
    version = read_section("monitor", ScoringParams).versions[-1]
    breaks = read_output(BREAKS, versioned(BREAK_SCHEMA)).filter(pl.col("version") == version)
    records = monitor_records(
        read_output(MONITORED_RUNS, MONITORED_SCHEMA),
        breaks,
        read_output(ENDS, END_SCHEMA),
        read_rules(MONITORED, version),
        settings,
    )
    predictions, explanations, answered = replay(
        read_telemetry(TELEMETRY),
        reference.failures(read_output(FEATURES, FEATURE_SCHEMA)),
        read_output(SPLITS, SPLIT_SCHEMA),
        {label: read_cache(cache_path(CACHE, label)) for label in settings.models},
        settings,
        records,
    )
    write_parquet(predictions, PREDICTIONS)
    write_parquet(explanations, MEASUREMENTS / "explanations.parquet")
    write_parquet(answered, MEASUREMENTS / "answered.parquet")
    print_accuracy(predictions)


if __name__ == "__main__":
    run(main)
