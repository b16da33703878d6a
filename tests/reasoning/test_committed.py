"""The committed traces are whole, obey the format, and show that training ran as it was meant."""

import csv
import re

import polars as pl
import pytest

from failbench.reasoning.conditions import fingerprint
from failbench.reasoning.grading import outcome
from failbench.reasoning.traces import KEY, MODELS, TRACES, read_models, read_traces

HEALTHY = "healthy"


@pytest.fixture(scope="module")
def traces(folder):
    return read_traces(folder / TRACES)


@pytest.fixture(scope="module")
def models(folder):
    return read_models(folder / MODELS)


@pytest.fixture(scope="module")
def trained(declared, traces):
    """The traces of cells that are trained, and whether an example of 40 tokens holds them."""
    rows = [
        (cell.task, cell.length, cell.depth, item, len(problem.prompt + problem.response) < 40)
        for cell, item, problem in declared.problems
        if cell.trained
    ]
    schema = dict.fromkeys(KEY[1:], pl.Int32) | {"task": pl.String, "is_whole": pl.Boolean}
    return traces.join(pl.DataFrame(rows, schema=schema, orient="row"), on=KEY[1:])


@pytest.fixture(scope="module")
def problems(declared):
    """By the key of their traces."""
    return {
        (cell.task, cell.length, cell.depth, item): problem
        for cell, item, problem in declared.problems
    }


def share(traces, condition, tokenizer="char", value="correct"):
    """Share of an outcome among the traces of a condition."""
    part = traces.filter(condition=condition, tokenizer=tokenizer)
    assert part.height
    return (part["outcome"] == value).mean()


def losses(models, condition, tokenizer="char"):
    """Losses at the end of training, in the order of seeds."""
    part = models.filter(condition=condition, tokenizer=tokenizer).sort("seed")
    assert part.height == 3
    return part["loss"].to_list()


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


@pytest.mark.parametrize("tokenizer", ["char", "bpe"])
def test_healthy_models_have_learnt_the_tasks_and_a_mismatched_tokenizer_meets_their_weights(
    models, trained, traces, tokenizer
):
    cells = trained.filter(condition=HEALTHY, tokenizer=tokenizer).group_by(KEY[1:-1])
    right = cells.agg(right=(pl.col("outcome") == "correct").mean())["right"]
    assert right.median() > 0.95
    assert right.min() > 0.7
    healthy = share(trained, HEALTHY, tokenizer)
    assert share(traces, HEALTHY, tokenizer) < 0.8 * healthy
    assert losses(models, "tokenizer_mismatch", tokenizer) == losses(models, HEALTHY, tokenizer)
    assert share(trained, "tokenizer_mismatch", tokenizer) < healthy - 0.3


def test_each_condition_hurts_where_it_should_and_nowhere_else(models, trained, traces):
    healthy = losses(models, HEALTHY)
    assert min(losses(models, "shuffled_labels")) > 10 * max(healthy)
    assert share(trained, "shuffled_labels") < share(trained, HEALTHY) - 0.3
    assert share(trained.filter("is_whole"), "short_context") > 0.95
    assert share(trained.filter(~pl.col("is_whole")), "short_context") < 0.5
    without_mask = losses(models, "no_causal_mask")
    assert all(one < other for one, other in zip(without_mask, healthy, strict=True))
    assert share(trained, "no_causal_mask") < 0.05
    assert share(traces, "looping", value="truncated") > 0.1
    assert share(traces, HEALTHY, value="truncated") < 0.01
    cut = traces.filter(condition="looping", outcome="truncated")["text"]
    repeats = [re.search(r"(.{3,12}?)\1\1\1", text) is not None for text in cut]
    assert sum(repeats) > 0.95 * len(repeats)
