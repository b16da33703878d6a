"""Language models, measured: cached answers turned into predictions, and their explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.llm.answer import LlmAnswer, Unreadable, read_answer
from failbench.methods.llm.cache import LlmCache
from failbench.methods.llm.prompt import Prompt, prompt_hash, prompts_by_reads
from failbench.methods.llm.record import MonitorRecord
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.prediction.fold_plans import NESTED_CV
from failbench.predictions import DECIMALS, PREDICTION_SCHEMA
from failbench.studies.llm_agents.faithfulness import Explanation, explanation_of
from failbench.studies.llm_agents.measurements import ANSWERED_SCHEMA, EXPLANATION_SCHEMA
from failbench.telemetry import Telemetry
from failbench.vocabulary import ABSTAIN, CATEGORIES, AnswerReason, Category

UNREADABLE: AnswerReason = "unreadable"

KEYS = PREDICTION_SCHEMA.names()[:6]


@dataclass(frozen=True)
class AgentAnswers:
    """What all models answered."""

    predictions: pl.DataFrame
    explanations: pl.DataFrame
    answered: pl.DataFrame


def replay(
    telemetry: Telemetry,
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    caches: Mapping[str, LlmCache],
    settings: LlmAgentsSettings,
    records: Mapping[str, MonitorRecord],
) -> AgentAnswers:
    """Replay the cached answers to the failing runs of the study; no server is asked."""
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
            readings = {
                run_id: read_answer(answer.text, answer.done_reason)
                for run_id, answer in answers.items()
            }
            rows = runs.join(_rows(readings, prompts), on="run_id", validate="1:1")
            rows = rows.with_columns(method=pl.lit(label))
            predictions.append(_predictions(rows, splits))
            explanations.append(rows.select(EXPLANATION_SCHEMA.names()).cast(EXPLANATION_SCHEMA))
    return AgentAnswers(
        pl.concat(predictions).sort(KEYS),
        pl.concat(explanations),
        pl.DataFrame(answered, schema=ANSWERED_SCHEMA, orient="row"),
    )


def _rows(
    readings: Mapping[str, LlmAnswer | Unreadable], prompts: Mapping[str, Prompt]
) -> pl.DataFrame:
    """A row per run: its prediction, and how far its explanation holds."""
    rows = [_row(run_id, reading, prompts[run_id]) for run_id, reading in readings.items()]
    return pl.DataFrame(rows, schema_overrides={"reason": pl.String, "conditions": pl.Int32})


def _row(run_id: str, answer: LlmAnswer | Unreadable, prompt: Prompt) -> dict[str, object]:
    """An unreadable answer abstains, with no confidence in any category, and explains nothing."""
    if isinstance(answer, Unreadable):
        prediction: dict[str, object] = {
            "prediction": ABSTAIN,
            "confidence": 0.0,
            "reason": UNREADABLE,
            **_probabilities(dict.fromkeys(CATEGORIES, 1 / len(CATEGORIES))),
        }
        explanation = Explanation()
    else:
        rest = (1 - answer.confidence) / (len(CATEGORIES) - 1)
        spread = dict.fromkeys(CATEGORIES, rest) | {answer.category: answer.confidence}
        prediction = {
            "prediction": answer.category,
            "confidence": round(answer.confidence, DECIMALS),
            "reason": None,
            **_probabilities(spread),
        }
        explanation = explanation_of(answer, prompt.shown)
    return {
        "run_id": run_id,
        **prediction,
        # Where nothing is cited there is nothing to check.
        "conditions": explanation.items or None,
        "unreadable": isinstance(answer, Unreadable),
        "cites_evidence": explanation.items > 0,
        "evidence_found": explanation.confirmed_share,
        "evidence_points": explanation.points_share,
    }


def _probabilities(spread: Mapping[Category, float]) -> dict[str, float]:
    return {f"p_{category}": round(value, DECIMALS) for category, value in spread.items()}


def _predictions(rows: pl.DataFrame, splits: pl.DataFrame) -> pl.DataFrame:
    sets = pl.DataFrame({"feature_set": list(FEATURE_SETS)})
    return (
        splits.join(rows, on="scenario")
        .join(sets, how="cross")
        .with_columns(study=pl.lit(NESTED_CV), route=pl.lit(None, pl.String))
        .select(PREDICTION_SCHEMA.names())
        .cast(PREDICTION_SCHEMA)
    )
