import csv

import polars as pl
import pytest

from failbench.reasoning.declared import fingerprint
from failbench.reasoning.grading import outcome
from failbench.reasoning.traces import KEY, MODELS, TRACES, read_models, read_traces


@pytest.fixture(scope="module")
def traces(folder):
    return read_traces(folder / TRACES)


@pytest.fixture(scope="module")
def models(folder):
    return read_models(folder / MODELS)


@pytest.fixture(scope="module")
def problems(declared):
    """By the key of their traces."""
    return {
        (cell.task, cell.length, cell.depth, item): problem
        for cell, item, problem in declared.problems
    }


def test_every_model_of_the_plan_is_recorded_by_the_code_of_today_and_answered_every_problem(
    declared, problems, traces, models
):
    planned = {each.name: fingerprint(declared, each) for each in declared.plan}
    assert dict(models.select("model", "fingerprint").iter_rows()) == planned
    assert models["torch"].n_unique() == 1
    for model in planned:
        rows = traces.filter(pl.col("model") == model).select(KEY[1:])
        assert sorted(rows.iter_rows()) == sorted(problems)
    assert traces.height == len(problems) * models.height


def test_what_is_said_of_a_trace_follows_from_its_prompt_and_text(
    declared, problems, folder, traces, models
):
    with (folder / "vocabularies.csv").open(encoding="utf-8", newline="") as file:
        tokens = {(row["tokenizer"], int(row["id"])): row["token"] for row in csv.DictReader(file)}
    of_model = dict(models.select("model", "prompt_tokenizer").iter_rows())
    budget = declared.settings.budget
    assert traces["tokens"].max() == budget
    for row in traces.sample(3000, seed=0).iter_rows(named=True):
        problem = problems[tuple(row[name] for name in KEY[1:])]
        is_ended = row["outcome"] != "truncated"
        assert is_ended or row["tokens"] == budget
        assert row["outcome"] == outcome(problem, row["text"], is_ended=is_ended)
        assert row["guess"] == problem.guess
        if row["tokenizer"] == "char":
            assert row["tokens"] == len(row["text"]) + is_ended
        prompt = "".join(tokens[of_model[row["model"]], number] for number in row["prompt_ids"])
        assert prompt == problem.prompt


# That training ran as it was meant, and that each condition shows for the reason that is stated.
