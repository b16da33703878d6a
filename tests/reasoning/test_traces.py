import csv
import json
import re
from pathlib import Path

import polars as pl
import pytest

from failbench import reasoning
from failbench.base.errors import BadInputError
from failbench.reasoning.conditions import fingerprint, read_conditions, read_settings
from failbench.reasoning.grading import outcome
from failbench.reasoning.problems import Problem
from failbench.reasoning.traces import KEY, MODELS, TRACE_SCHEMA, TRACES, read_models, read_traces

ROW = {
    "model": "healthy-char-1",
    "condition": "healthy",
    "seed": 1,
    "tokenizer": "char",
    "task": "paths",
    "length": 4,
    "depth": 1,
    "item": 0,
    "prompt_ids": [5, 7, 7],
    "text": 'a1K:"K',
    "tokens": 6,
    "outcome": "correct",
    "guess": 0.25,
}
ROWS = [ROW | {"item": 1, "condition": None, "seed": None, "prompt_ids": []}, ROW]
SUFFIXES = (".parquet", ".jsonl", ".csv")


def frame(rows):
    return pl.DataFrame(rows, schema=TRACE_SCHEMA)


def written(rows, path):
    if path.suffix == ".parquet":
        pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        as_text = [row | {"prompt_ids": json.dumps(row["prompt_ids"])} for row in rows]
        pl.DataFrame(as_text, infer_schema_length=None).write_csv(path)
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_is_read_alike_from_every_format_and_sorted_by_key(tmp_path, suffix):
    read = read_traces(written(ROWS, tmp_path / f"traces{suffix}"))
    assert read.schema == TRACE_SCHEMA
    assert read.equals(frame(ROWS).sort(KEY))


def without(name):
    return [{each: value for each, value in ROW.items() if each != name}]


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize(
    ("rows", "field"),
    [
        ([ROW | {"item": 1}, ROW | {"outcome": "right"}], "outcome"),
        ([ROW | {"item": 1}, ROW | {"task": None}], "task"),
        ([ROW, ROW], "(key)"),
        ([ROW | {"colour": "red"}], "colour"),
        (without("tokens"), "tokens"),
    ],
)
def test_a_broken_file_is_refused_in_every_format(tmp_path, suffix, rows, field):
    with pytest.raises(BadInputError) as error:
        read_traces(written(rows, tmp_path / f"traces{suffix}"))
    assert error.value.field == field


@pytest.mark.parametrize(
    ("text", "is_ended", "expected"),
    [
        ("a1K:K", True, "correct"),
        ("nonsense:K", True, "correct"),  # the scratchpad is not graded
        ("a1K:L", True, "wrong"),
        ("a1K:KK", True, "wrong"),
        ("K", True, "wrong"),  # no answer is marked
        ("", True, "wrong"),
        ("a1K:K", False, "truncated"),
        ("a1K,a1K,a1K", False, "truncated"),
    ],
)
def test_grading(text, is_ended, expected):
    problem = Problem("aK?a1>", ("a1K",), ",", "K", 1.0)
    assert outcome(problem, text, is_ended=is_ended) == expected


def test_what_reads_traces_and_declarations_needs_no_torch():
    """The stages of the pipeline read traces, and run without it."""
    paths = Path(reasoning.__file__).parent.glob("*.py")
    sources = {path.stem: path.read_text(encoding="utf-8") for path in paths}
    direct = {name for name, text in sources.items() if re.search("(?m)^(import|from) torch", text)}
    imports = rf"failbench\.reasoning\.({'|'.join(direct)}) import"
    needing = {name for name, text in sources.items() if re.search(imports, text)}
    assert direct | needing == {"model", "recorder", "sampling", "training"}


# Declarations.


HEADER = "condition,tokenizer,prompt_tokenizer,steps,rate,context,is_causal,shuffled,looped,what\n"
CONDITION = "healthy,char,char,1,1,96,yes,0,0,nothing\n"


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (HEADER + CONDITION.replace("char,char", "char,words"), "prompt_tokenizer"),
        (HEADER + CONDITION.replace("yes,0", "yes,2"), "shuffled"),
        (HEADER + CONDITION + CONDITION, "condition"),
        (HEADER.replace(",looped", "") + CONDITION.replace("0,0", "0"), "looped"),
        ({"batch": 0}, "batch"),
        ({"shape": {"width": 10, "layers": 1, "heads": 2}}, "shape"),
    ],
)
def test_broken_conditions_and_settings_are_refused(folder, tmp_path, text, field):
    path = tmp_path / "declaration"
    if is_settings := isinstance(text, dict):
        known = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        text = json.dumps(known | text)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        read_settings(path) if is_settings else read_conditions(path, frozenset({"char"}))
    assert error.value.field == field


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
