"""Language models as methods: cached answers turned into predictions, and their explanations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.llm.answer import LlmAnswer, Unreadable, read_answer
from failbench.methods.llm.cache import LlmCache
from failbench.methods.llm.prompt import Prompt, prompt_hash, prompts_of
from failbench.methods.llm.settings import LlmAgentsSettings
from failbench.prediction.fold_plans import NESTED_CV
from failbench.predictions import DECIMALS, PREDICTION_SCHEMA
from failbench.statistics.bootstrap import Interval
from failbench.statistics.intervals import LEAVES, IntervalSettings, scenario_intervals
from failbench.statistics.metrics import OVERALL, ValueMetric
from failbench.statistics.scenario_values import over_scenarios
from failbench.statistics.scores import scenario_answers
from failbench.studies.llm_agents.faithfulness import Explanation, explanation_of
from failbench.telemetry import Telemetry
from failbench.vocabulary import ABSTAIN, CATEGORIES, AnswerReason, Category

UNREADABLE: AnswerReason = "unreadable"

KEYS = PREDICTION_SCHEMA.names()[:6]

FIGURES = {
    "unreadable": (
        "probability that the answer to a new scenario cannot be read, and so counts as wrong"
    ),
    "cites_evidence": "probability that the answer to a new scenario cites any value",
    "evidence_found": (
        "mean share of the values cited for a new scenario that the record shows; an answer that "
        "cites none counts as zero"
    ),
    "evidence_points": (
        "mean share of the signals cited for a new scenario that speak for the category named; an "
        "answer that cites none counts as zero"
    ),
}
"""What is measured of explanations, each with its estimand."""


@dataclass(frozen=True)
class AgentResult:
    """What one model answered.

    Attributes
    ----------
    answered, runs
        How many runs of the study it answered, of how many. A model that has not answered all of
        them is not available: a part of the runs is another benchmark.
    figures
        Accuracy and the figures of its explanations; empty where it is not available.
    """

    answered: int
    runs: int
    figures: Mapping[str, Interval]

    @property
    def available(self) -> bool:
        """Whether it answered every run."""
        return self.answered == self.runs


@dataclass(frozen=True)
class AgentStudy:
    """What all models answered.

    Attributes
    ----------
    predictions
        Rows of ``predictions.PREDICTION_SCHEMA`` of the models that are available. A model learns
        nothing from the training folds and sees no features, so that its one answer to a run stands
        in every repeat and for every feature set.
    models
        By their label.
    """

    predictions: pl.DataFrame
    models: Mapping[str, AgentResult]


def agent_study(
    telemetry: Telemetry,
    failures: pl.DataFrame,
    splits: pl.DataFrame,
    caches: Mapping[str, LlmCache],
    settings: LlmAgentsSettings,
    intervals: IntervalSettings,
) -> AgentStudy:
    """Replay the cached answers to the failing runs of the study; no server is asked.

    Parameters
    ----------
    telemetry
        Recorded runs, of which the prompts are made anew: an answer counts only for the very
        prompt that it was given to.
    failures
        Feature table of the failing runs of the study.
    splits
        Which scenarios each fold of each repeat tests.
    caches
        By label of the model; those that are not there are empty.
    settings
        What models are asked.
    intervals
        How intervals are made.
    """
    runs = failures.sort("run_id")
    prompts = prompts_of(telemetry, runs["run_id"].to_list(), settings)
    parts = [PREDICTION_SCHEMA.to_frame()]
    models = {}
    keys = {run_id: prompt_hash(one, settings) for run_id, one in prompts.items()}
    for label, model in settings.models.items():
        answered = caches.get(label, LlmCache()).of_model(model)
        kept = {run_id: answered[key] for run_id, key in keys.items() if key in answered}
        figures: Mapping[str, Interval] = {}
        if len(kept) == runs.height:
            read = {run_id: read_answer(one.text, one.done_reason) for run_id, one in kept.items()}
            rows = runs.join(_answers(read, prompts), on="run_id", validate="1:1")
            figures = _figures(rows, intervals)
            parts.append(_predictions(rows, label, splits))
        models[label] = AgentResult(len(kept), runs.height, figures)
    return AgentStudy(pl.concat(parts).sort(KEYS), models)


def _answers(
    read: Mapping[str, LlmAnswer | Unreadable], prompts: Mapping[str, Prompt]
) -> pl.DataFrame:
    """A row a run: its prediction, and how far its explanation holds."""
    rows = [_row(run_id, one, prompts[run_id]) for run_id, one in read.items()]
    return pl.DataFrame(rows, schema_overrides={"reason": pl.String, "conditions": pl.Int32})


def _row(run_id: str, answer: LlmAnswer | Unreadable, prompt: Prompt) -> dict[str, object]:
    """An unreadable answer abstains, with no confidence in any category, and explains nothing."""
    if isinstance(answer, Unreadable):
        said: dict[str, object] = {
            "prediction": ABSTAIN,
            "confidence": 0.0,
            "reason": UNREADABLE,
            **_probabilities(dict.fromkeys(CATEGORIES, 1 / len(CATEGORIES))),
        }
        explanation = Explanation()
    else:
        rest = (1 - answer.confidence) / (len(CATEGORIES) - 1)
        spread = dict.fromkeys(CATEGORIES, rest) | {answer.category: answer.confidence}
        said = {
            "prediction": answer.category,
            "confidence": round(answer.confidence, DECIMALS),
            "reason": None,
            **_probabilities(spread),
        }
        explanation = explanation_of(answer, prompt.shown)
    return {
        "run_id": run_id,
        **said,
        # Where nothing is cited there is nothing to check.
        "conditions": explanation.items or None,
        "unreadable": isinstance(answer, Unreadable),
        "cites_evidence": explanation.items > 0,
        "evidence_found": explanation.found_share,
        "evidence_points": explanation.points_share,
    }


def _probabilities(spread: Mapping[Category, float]) -> dict[str, float]:
    return {f"p_{name}": round(one, DECIMALS) for name, one in spread.items()}


def _figures(rows: pl.DataFrame, settings: IntervalSettings) -> dict[str, Interval]:
    answers = rows.with_columns(repeat=pl.lit(0))
    values = tuple(
        ValueMetric(name, over_scenarios(answers, pl.col(name)), estimand, kind="proportion")
        for name, estimand in FIGURES.items()
    )
    accuracy = tuple(one for one in OVERALL if one.name == "accuracy")
    return scenario_intervals(scenario_answers(answers), accuracy, settings, values)


def _predictions(rows: pl.DataFrame, label: str, splits: pl.DataFrame) -> pl.DataFrame:
    sets = pl.DataFrame({"feature_set": list(FEATURE_SETS)})
    return (
        splits.join(rows, on="scenario")
        .join(sets, how="cross")
        .with_columns(study=pl.lit(NESTED_CV), method=pl.lit(label), route=pl.lit(None, pl.String))
        .select(PREDICTION_SCHEMA.names())
        .cast(PREDICTION_SCHEMA)
    )


def agent_metrics(study: AgentStudy) -> dict[str, dict[str, object]]:
    """Figures by model as scalars, with ``available``, and ``answered`` of ``runs``."""
    return {
        label: {
            "available": one.available,
            "answered": one.answered,
            "runs": one.runs,
            **{name: figure.model_dump(include={*LEAVES}) for name, figure in one.figures.items()},
        }
        for label, one in study.models.items()
    }
