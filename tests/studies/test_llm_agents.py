from __future__ import annotations

import polars as pl
import pytest

from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import categories_of
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import feature_table
from failbench.methods.llm.cache import CachedAnswer, LlmCache
from failbench.methods.llm.prompt import prompt_hash, prompts_of
from failbench.prediction.splits import make_splits
from failbench.statistics.intervals import IntervalSettings
from llm_agents import estimates as estimates_of
from llm_agents import metrics
from made_up_llm import settings
from made_up_ollama import DIGESTS, answer_text
from made_up_telemetry import made_up_scenarios, made_up_telemetry
from measure_llm_agents import replay
from shared.llm_agents import ANSWERED_SCHEMA, EXPLANATION_SCHEMA

SETTINGS = settings()
INTERVALS = IntervalSettings(
    resamples=1000,
    confidence=0.95,
    seed=0,
    wilson_from=0.9,
    wilson_below=0,
    calibration_bins=10,
    floor_draws=1000,
)
TELEMETRY = made_up_telemetry()
FAILURES = feature_table(TELEMETRY, made_up_scenarios()).filter(pl.col("kind") == "failure")
SPLITS = make_splits(categories_of(made_up_scenarios()), folds=2, repeats=3, seed=0)
RUNS = FAILURES.sort("run_id").select("run_id", "category").rows()
PROMPTS = prompts_of(TELEMETRY, [run_id for run_id, _ in RUNS], SETTINGS)


def cache_of(texts: dict[str, str], done_reason: str = "stop") -> LlmCache:
    return LlmCache(
        tuple(
            CachedAnswer(
                prompt=prompt_hash(PROMPTS[run_id], SETTINGS),
                model="mistral",
                digest=DIGESTS["mistral:latest"],
                text=text,
                done_reason=done_reason,
                attempt=0,
                client="0.6",
            )
            for run_id, text in texts.items()
        )
    )


def study(texts: dict[str, str], **changes) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    caches = {"mistral_7b": cache_of(texts)}
    return replay(TELEMETRY, FAILURES, SPLITS, caches, SETTINGS.model_copy(update=changes), {})


@pytest.fixture(scope="module")
def right_but_one():
    """Every answer is right but the first, which cannot be read; the second cites nothing."""
    texts = {run_id: answer_text(category) for run_id, category in RUNS}
    texts[RUNS[0][0]] = "I cannot tell."
    texts[RUNS[1][0]] = answer_text(RUNS[1][1], evidence=[])
    return study(texts)


@pytest.fixture(scope="module")
def estimates(right_but_one):
    predictions, explanations, _ = right_but_one
    table = estimates_of(predictions, explanations, INTERVALS)
    return {row["metric"]: row for row in table.rows(named=True)}


def test_an_answer_stands_in_every_repeat_and_for_every_feature_set(right_but_one):
    table = right_but_one[0]
    assert table.schema == PREDICTION_SCHEMA
    assert table.equals(table.sort(PREDICTION_SCHEMA.names()[:6]))
    assert set(table["method"]) == {"mistral_7b"}
    assert table.height == len(RUNS) * 3 * len(FEATURE_SETS)
    answers = table.group_by("run_id").agg(pl.col("prediction", "confidence").n_unique())
    assert answers.select("prediction", "confidence").unique().rows() == [(1, 1)]
    assert table.join(SPLITS, on=["repeat", "fold", "scenario"], how="semi").height == table.height


def test_confidence_is_the_answers_and_what_it_leaves_is_spread_evenly(right_but_one):
    row = right_but_one[0].filter(run_id=RUNS[2][0]).row(0, named=True)
    probabilities = {category: row[f"p_{category}"] for category in CATEGORIES}
    assert probabilities.pop(RUNS[2][1]) == row["confidence"] == 0.8
    assert set(probabilities.values()) == {0.05}
    assert (row["conditions"], row["reason"], row["route"]) == (1, None, None)


def test_what_cannot_be_read_abstains_and_is_never_right_nor_dropped(right_but_one, estimates):
    row = right_but_one[0].filter(run_id=RUNS[0][0]).row(0, named=True)
    assert (row["prediction"], row["confidence"], row["reason"]) == ("abstain", 0, "unreadable")
    assert {row[f"p_{category}"] for category in CATEGORIES} == {0.2}
    assert row["conditions"] is None
    assert estimates["accuracy"]["value"] == pytest.approx(1 - 1 / len(RUNS))
    assert estimates["unreadable"]["value"] == pytest.approx(1 / len(RUNS))


def test_estimates_of_explanations_are_over_scenarios_and_nothing_cited_counts_as_zero(estimates):
    assert estimates["cites_evidence"]["value"] == pytest.approx(1 - 2 / len(RUNS))
    speaks = {"optimization", "data_pipeline"}  # what the loss of every answer speaks for
    apt = sum(category in speaks for _, category in RUNS[2:])
    assert estimates["evidence_points"]["value"] == pytest.approx(apt / len(RUNS))
    for estimate in estimates.values():
        assert estimate["ci_low"] <= estimate["value"] <= estimate["ci_high"]
        assert (estimate["n"], estimate["resampling_unit"]) == (len(RUNS), "scenario")


def test_without_a_cache_nothing_is_predicted_and_nothing_measured():
    predictions, explanations, answered = study({})
    assert predictions.equals(PREDICTION_SCHEMA.to_frame())
    assert explanations.equals(EXPLANATION_SCHEMA.to_frame())
    assert answered.schema == ANSWERED_SCHEMA
    nothing = {"available": False, "answered": 0, "runs": len(RUNS)}
    found = metrics(predictions, explanations, answered, INTERVALS)
    assert found == {"mistral_7b": nothing, "llama_3_8b": nothing}


def test_a_part_of_the_runs_is_not_available_but_counted():
    predictions, _, answered = study({run_id: answer_text(name) for run_id, name in RUNS[1:]})
    assert predictions.is_empty()
    assert answered.row(0) == ("mistral_7b", len(RUNS) - 1, len(RUNS))


def test_answers_to_another_prompt_or_of_another_model_do_not_count():
    texts = {run_id: answer_text(category) for run_id, category in RUNS}
    other = {"mistral_7b": SETTINGS.models["mistral_7b"].model_copy(update={"digest": "0" * 12})}
    answered = [study(texts, **changes)[2] for changes in ({}, {"steps": 5}, {"models": other})]
    assert [table["answered"][0] for table in answered] == [len(RUNS), 0, 0]
