"""Prompts on sheets, and answers that are taken in."""

import json
from dataclasses import replace

import pytest

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.crashes.language import CrashAgentsSettings
from failbench.crashes.question import ARMS
from failbench.crashes.readers import prompt_in, replay, sheets, take_in, write_kept, write_sheets
from failbench.notebooks.summaries import Summary


@pytest.fixture
def settings(repository):
    return read_section("crash_agents", CrashAgentsSettings, repository / "params.yaml")


@pytest.fixture
def cases(case):
    return [
        case(f"pair_{number}", version, target=f"x[{number}]")
        for number in range(12)
        for version in ("crashing", "mended")
    ]


def test_no_sheet_has_a_pair_twice_and_every_question_is_on_one(cases, settings):
    written = sheets(cases, "test", settings)
    questions = {
        prompt_in(each, arm, settings).sha256: (each.notebook.card.pair, arm)
        for each in cases
        for arm in ARMS
    }
    asked = [prompt.sha256 for sheet in written for prompt in sheet]
    # the two of a pair have equal code and summaries here, so that each is asked once
    assert sorted(asked) == sorted(questions)
    for sheet in written:
        pairs = [questions[prompt.sha256][0] for prompt in sheet]
        assert len(pairs) == len(set(pairs))
    arms = [{questions[prompt.sha256][1] for prompt in sheet} for sheet in written if sheet]
    assert min(map(len, arms)) > 1  # and none is of one arm


def test_no_sheet_has_a_pair_and_the_one_whose_facts_it_is_shown(cases, settings):
    owned = [
        replace(each, summary=Summary((f"n{place}",), {}, truncated=False))
        for place, each in enumerate(cases)
    ]
    lent = [
        replace(each, other=owned[(place + 2) % 24].summary) for place, each in enumerate(owned)
    ]
    pair_of = {
        prompt_in(each, arm, settings).sha256: place // 2
        for place, each in enumerate(lent)
        for arm in ARMS
    }
    written = sheets(lent, "test", settings)
    assert sorted(prompt.sha256 for sheet in written for prompt in sheet) == sorted(pair_of)
    for sheet in written:
        there = {pair_of[prompt.sha256] for prompt in sheet}
        assert not there & {(pair + 1) % 12 for pair in there}


def answers_to(cases, settings, arms, **changes):
    row = {"crash": True, "exception": "KeyError", "line": 1, "explanation": "It is not there."}
    hashes = {prompt_in(each, arm, settings).sha256 for each in cases for arm in arms}
    return [row | {"prompt_sha256": digest} | changes for digest in sorted(hashes)]


def written(path, rows):
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_an_arm_counts_when_all_of_it_is_answered_and_only_to_the_prompt_asked(
    case, cases, settings, tmp_path
):
    rows = answers_to(cases, settings, ["code", "all"])
    path = written(tmp_path / "answers.jsonl", rows[:-1])
    kept = tmp_path / "kept.csv"
    write_kept(kept, take_in(path, cases, settings))
    (arm,) = replay(kept, cases, settings)
    write_kept(kept, take_in(written(path, rows), cases, settings))
    found = replay(kept, cases, settings)
    assert {*found} == {"code", "all"} > {arm}
    assert {answer.exception for answer in found["all"].values()} == {"KeyError"}
    others = [case(each.notebook.card.pair, each.version, target="y") for each in cases]
    with pytest.raises(BadInputError, match="was asked otherwise"):
        replay(kept, others, settings)


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([{"prompt_sha256": "0" * 64, "crash": True}], "hash of no prompt"),
        ([{"prompt_sha256": "0" * 64}], "is no answer"),
        (["text"], "is no answer"),
        (
            [{"prompt_sha256": "0" * 64, "crash": crash} for crash in (True, False)],
            "otherwise than one before",
        ),
    ],
)
def test_answers_to_nothing_are_refused_with_their_place(cases, settings, tmp_path, rows, problem):
    with pytest.raises(BadInputError, match=problem):
        take_in(written(tmp_path / "answers.jsonl", rows), cases, settings)


def test_sheets_are_not_written_over_others(cases, settings, tmp_path):
    written_sheets = sheets(cases, "test", settings)
    write_sheets(tmp_path / "new", written_sheets)
    assert len(list((tmp_path / "new").iterdir())) == len(written_sheets)
    with pytest.raises(BadInputError, match="not empty"):
        write_sheets(tmp_path / "new", written_sheets)
