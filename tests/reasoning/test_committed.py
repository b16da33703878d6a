"""The committed traces are whole, obey the format, and show that training ran as it was meant."""

import csv
import re

import polars as pl
import pytest

from failbench.reasoning.conditions import HEALTHY
from failbench.reasoning.fingerprint import fingerprint
from failbench.reasoning.grading import outcome
from failbench.reasoning.traces import KEY, MODELS, TRACES, read_models, read_traces


@pytest.fixture(scope="module")
def traces(folder):
    return read_traces(folder / TRACES)


@pytest.fixture(scope="module")
def models(folder):
    return read_models(folder / MODELS)


@pytest.fixture(scope="module")
def trained(declared, traces):
    """The traces of cells that are trained."""
    cells = pl.DataFrame([cell.model_dump() for cell in declared.cells if cell.trained])
    return traces.join(
        cells.select("task", pl.col("length", "depth").cast(pl.Int32)),
        on=["task", "length", "depth"],
    )


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


def test_every_model_of_the_plan_is_recorded_by_the_code_of_today(declared, models):
    planned = {each.name: fingerprint(declared, each) for each in declared.plan}
    assert dict(models.select("model", "fingerprint").iter_rows()) == planned
    assert models["torch"].n_unique() == 1


def test_every_model_answered_every_problem(problems, traces, models):
    for model in models["model"]:
        rows = traces.filter(pl.col("model") == model).select(KEY[1:])
        assert sorted(rows.iter_rows()) == sorted(problems)
    assert traces.height == len(problems) * models.height


def test_what_is_said_of_a_trace_follows_from_its_text(declared, problems, traces):
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


def test_prompts_are_in_the_vocabulary_that_they_were_encoded_with(
    problems, folder, traces, models
):
    with (folder / "vocabularies.csv").open(encoding="utf-8", newline="") as file:
        tokens = {(row["tokenizer"], int(row["id"])): row["token"] for row in csv.DictReader(file)}
    of_model = dict(models.select("model", "prompt_tokenizer").iter_rows())
    for row in traces.sample(3000, seed=1).iter_rows(named=True):
        prompt = "".join(tokens[of_model[row["model"]], number] for number in row["prompt_ids"])
        assert prompt == problems[tuple(row[name] for name in KEY[1:])].prompt


# That training ran as it was meant, and that each condition shows for the reason that is stated.


@pytest.mark.parametrize("tokenizer", ["char", "bpe"])
def test_healthy_models_have_learnt_the_tasks(trained, traces, tokenizer):
    healthy = trained.filter(condition=HEALTHY, tokenizer=tokenizer)
    cells = healthy.group_by("task", "length", "depth").agg(
        right=(pl.col("outcome") == "correct").mean()
    )
    assert cells["right"].median() > 0.95
    assert cells["right"].min() > 0.7
    assert share(traces, HEALTHY, tokenizer) < 0.8 * healthy["outcome"].eq("correct").mean()


def test_shuffled_labels_cannot_be_learnt(models, trained):
    assert min(losses(models, "shuffled_labels")) > 10 * max(losses(models, HEALTHY))
    assert share(trained, "shuffled_labels") < share(trained, HEALTHY) - 0.3


def test_a_short_context_hurts_where_examples_were_cut_and_nowhere_else(declared, trained):
    whole = pl.DataFrame(
        [
            (cell.task, cell.length, cell.depth, item, len(problem.prompt + problem.response) < 40)
            for cell, item, problem in declared.problems
        ],
        schema=dict.fromkeys(KEY[1:], pl.Int32) | {"task": pl.String, "is_whole": pl.Boolean},
        orient="row",
    )
    traces = trained.join(whole, on=KEY[1:])
    assert share(traces.filter("is_whole"), "short_context") > 0.95
    assert share(traces.filter(~pl.col("is_whole")), "short_context") < 0.5


def test_without_mask_the_loss_vanishes_and_nothing_is_learnt(models, trained):
    for without, healthy in zip(
        losses(models, "no_causal_mask"), losses(models, HEALTHY), strict=True
    ):
        assert without < healthy
    assert share(trained, "no_causal_mask") < 0.05


def test_looping_models_repeat_a_step_until_the_budget_is_spent(traces):
    assert share(traces, "looping", value="truncated") > 0.1
    assert share(traces, HEALTHY, value="truncated") < 0.01
    cut = traces.filter(condition="looping", outcome="truncated")["text"]
    repeats = [re.search(r"(.{3,12}?)\1\1\1", text) is not None for text in cut]
    assert sum(repeats) > 0.95 * len(repeats)


@pytest.mark.parametrize("tokenizer", ["char", "bpe"])
def test_a_mismatched_tokenizer_meets_weights_that_are_healthy(models, trained, tokenizer):
    assert losses(models, "tokenizer_mismatch", tokenizer) == losses(models, HEALTHY, tokenizer)
    healthy = share(trained, HEALTHY, tokenizer)
    assert share(trained, "tokenizer_mismatch", tokenizer) < healthy - 0.3
