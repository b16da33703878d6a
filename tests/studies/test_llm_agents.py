import polars as pl
import pytest

from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.telemetry import categories_of
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import feature_table
from failbench.methods.llm.answer import CachedAnswer, LlmCache
from failbench.methods.llm.prompt import prompt_hash, prompts_of
from failbench.prediction.splits import make_splits
from llm_agents import estimates
from made_up_llm import settings
from made_up_ollama import DIGESTS, answer_text
from made_up_telemetry import made_up_scenarios, made_up_telemetry
from measure_llm_agents import replay
from study_settings import METHOD_INTERVALS

SETTINGS = settings()
TELEMETRY = made_up_telemetry()
FAILURES = feature_table(TELEMETRY, made_up_scenarios()).filter(kind="failure")
SPLITS = make_splits(categories_of(made_up_scenarios()), folds=2, repeats=3, seed=0)
RUNS = FAILURES.sort("run_id").select("run_id", "category").rows()
PROMPTS = prompts_of(TELEMETRY, [run_id for run_id, _ in RUNS], SETTINGS)
RIGHT = {run_id: answer_text(category) for run_id, category in RUNS}


def study(texts: dict[str, str], **changes) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Predictions, explanations and counts of a model that answered so."""
    same = {"model": "mistral", "digest": DIGESTS["mistral:latest"], "client": "0.6"}
    answers = (
        CachedAnswer(
            prompt=prompt_hash(PROMPTS[run], SETTINGS),
            text=text,
            done_reason="stop",
            attempt=0,
            **same,
        )
        for run, text in texts.items()
    )
    caches = {"mistral_7b": LlmCache(tuple(answers))}
    return replay(TELEMETRY, FAILURES, SPLITS, caches, SETTINGS.model_copy(update=changes), {})


@pytest.fixture(scope="module")
def right_but_one():
    """Every answer is right but the first, which cannot be read; the second cites nothing."""
    no_evidence = answer_text(RUNS[1][1], evidence=[])
    return study(RIGHT | {RUNS[0][0]: "I cannot tell.", RUNS[1][0]: no_evidence})


def row_of(predictions, number):
    return predictions.filter(run_id=RUNS[number][0]).row(0, named=True)


def test_an_answer_stands_in_every_repeat_and_for_every_feature_set(right_but_one):
    table = right_but_one[0]
    assert table.schema == PREDICTION_SCHEMA
    assert table.equals(table.sort(PREDICTION_SCHEMA.names()[:6]))
    assert table.height == len(RUNS) * 3 * len(FEATURE_SETS)
    answers = table.group_by("run_id").agg(pl.col("prediction", "confidence").n_unique())
    assert answers.select("prediction", "confidence").unique().rows() == [(1, 1)]
    assert table.join(SPLITS, on=["repeat", "fold", "scenario"], how="semi").height == table.height
    # confidence is the answer's, and what it leaves is spread evenly
    row = row_of(table, 2)
    probabilities = {category: row[f"p_{category}"] for category in CATEGORIES}
    assert probabilities.pop(RUNS[2][1]) == row["confidence"] == 0.8
    assert set(probabilities.values()) == {0.05}
    assert (row["conditions"], row["reason"], row["route"]) == (1, None, None)


def test_what_cannot_be_read_abstains_and_what_cites_nothing_counts_as_zero(right_but_one):
    predictions, explanations, _ = right_but_one
    row = row_of(predictions, 0)
    assert (row["prediction"], row["confidence"], row["reason"]) == ("abstain", 0, "unreadable")
    assert {row[f"p_{category}"] for category in CATEGORIES} == {0.2}
    table = estimates(predictions, explanations, METHOD_INTERVALS)
    speaks = {"optimization", "data_pipeline"}  # what the loss of every answer speaks for
    expected = {
        "accuracy": len(RUNS) - 1,
        "unreadable": 1,
        "cites_evidence": len(RUNS) - 2,
        "evidence_points": sum(category in speaks for _, category in RUNS[2:]),
    }
    values = dict(table.select("metric", "value").iter_rows())
    assert {name: len(RUNS) * values[name] for name in expected} == pytest.approx(expected)
    assert (table["ci_low"] <= table["value"]).all()
    assert (table["value"] <= table["ci_high"]).all()
    assert set(table.select("n", "resampling_unit").rows()) == {(len(RUNS), "scenario")}


def test_answers_to_another_prompt_or_of_another_model_do_not_count():
    other = {"mistral_7b": SETTINGS.models["mistral_7b"].model_copy(update={"digest": "0" * 12})}
    answered = [study(RIGHT, **changes)[2] for changes in ({}, {"steps": 5}, {"models": other})]
    assert [table["answered"][0] for table in answered] == [len(RUNS), 0, 0]
