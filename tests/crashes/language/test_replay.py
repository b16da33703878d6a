"""From a server's answers to predictions: the command asks, the replay reads."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from failbench.cli.main import main
from failbench.cli.places import LLM_CRASH_ANSWERS
from failbench.crashes import cases as of_cases
from failbench.crashes.language.answer import CRASH
from failbench.crashes.language.replay import replayed
from failbench.crashes.question import ARMS
from failbench.methods.llm.cache import LlmCache, cache_path, read_cache
from made_up_crash_llm import VALUES, crash_text, settings
from made_up_ollama import OllamaServer, Reply, serving

GOOD = Reply(crash_text())
STATISTICS = {
    "confidence": 0.95,
    "resamples": 1000,
    "seed": 0,
    "wilson_from": 0.9,
    "wilson_below": 10,
    "practical_equivalence": 0.05,
    "equivalence_margin": 0.1,
    "power": 0.8,
}


@pytest.fixture
def cases(case):
    return (case(), case(version="mended", target="x.get(0)"))


@pytest.fixture
def questions(cases):
    return {
        (arm, case.notebook.card.pair, case.notebook.card.version): case.ask(arm)
        for arm in ARMS
        for case in cases
    }


@pytest.fixture(autouse=True)
def _project(tmp_path, monkeypatch, cases):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(of_cases, "read_cases", lambda folder, seed: cases)
    sections = {
        "crash_agents": VALUES | {"attempts": 1},
        "crash_prediction": {"control_seed": 0},
        "statistics": STATISTICS,
    }
    Path("params.yaml").write_text(yaml.safe_dump(sections), encoding="utf-8")


def replay(questions, label="mistral_7b", **values):
    given = settings(attempts=1, **values)
    cache = read_cache(cache_path(LLM_CRASH_ANSWERS, label))
    return replayed(questions, given.models[label], given, cache)


def ask(*arguments, server):
    return main(["llm", "--crashes", "--host", server.host, *arguments])


def test_every_notebook_is_asked_about_in_every_arm_and_replayed_without_the_server(questions):
    with serving(OllamaServer(otherwise=GOOD)) as server:
        assert ask(server=server) == 0
        assert len(server.questions) == 2 * len(questions)
        assert {body["format"]["title"] for body in server.questions} == {CRASH.schema["title"]}
        assert ask(server=server) == 0
        assert len(server.questions) == 2 * len(questions)
    for label in ("mistral_7b", "llama_3_8b"):
        answers = replay(questions, label)
        assert (answers.available, answers.unreadable, answers.cut) == (True, 0, 0)
        assert list(answers.predictions) == list(questions)
        assert {(each.crash, each.exception) for each in answers.predictions.values()} == {
            (True, "KeyError")
        }


def test_an_answer_is_to_its_own_question(questions):
    with serving(OllamaServer(otherwise=Reply(crash_text(crash=False)))) as server:
        server.replies = [GOOD]  # to the first notebook in the first arm
        assert ask("--model", "mistral_7b", server=server) == 0
    answers = replay(questions)
    crashing = [key for key, each in answers.predictions.items() if each.crash]
    assert crashing == [("code", "tried", "crashing")]


def test_nothing_is_available_where_nobody_asked(questions):
    given = settings()
    answers = replayed(questions, given.models["mistral_7b"], given, LlmCache())
    assert (answers.available, answers.answered, answers.predictions) == (False, 0, None)
    assert answers.questions == len(questions)


def test_a_part_of_the_answers_is_counted_and_is_not_available_and_the_command_goes_on(
    questions, capsys
):
    with serving(OllamaServer(replies=[GOOD] * 7 + [Reply(die=True)], otherwise=GOOD)) as server:
        assert ask("--model", "mistral_7b", server=server) == 1
        assert "are kept" in capsys.readouterr().err
        answers = replay(questions)
        assert (answers.available, answers.answered, answers.predictions) == (False, 7, None)
        assert ask("--model", "mistral_7b", server=server) == 0
        assert len(server.questions) == 8 + len(questions) - 7
    assert replay(questions).available
    assert not replay(questions, "llama_3_8b").available


def test_answers_that_cannot_be_read_are_counted_and_say_nothing(questions):
    with serving(OllamaServer(otherwise=Reply("I would rather not say."))) as server:
        assert ask("--model", "mistral_7b", server=server) == 0
    answers = replay(questions)
    assert answers.unreadable == len(questions)
    assert {each.crash for each in answers.predictions.values()} == {None}


def test_answers_to_another_prompt_do_not_count(questions):
    with serving(OllamaServer(otherwise=GOOD)) as server:
        assert ask("--model", "mistral_7b", server=server) == 0
    assert replay(questions, seed=1).answered == 0


def test_summaries_that_do_not_fit_are_counted(questions, cases):
    entry = {"value": {"value": "v" * 300}}
    for each in cases:
        each.summary.names["x"] = entry
    again = {(arm, place): case.ask(arm) for arm in ARMS for place, case in enumerate(cases)}
    assert replay(again, summary_characters=200).cut == 4  # in the arms value and all
    assert replay(again).cut == 0


def test_the_first_so_many_notebooks_are_asked_alone(questions):
    with serving(OllamaServer(otherwise=GOOD)) as server:
        assert ask("--limit", "1", server=server) == 0
        assert len(server.questions) == len(questions)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--model", "mistral"], "crash_agents.models: has no 'mistral'. Similar names are mis"),
        (["--host", "127.0.0.1:1"], "`ollama serve`"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(arguments, words, capsys):
    assert main(["llm", "--crashes", *arguments]) == 2
    error = capsys.readouterr().err.strip()
    assert words in error
    assert "\n" not in error


def test_another_digest_is_refused_by_the_field_of_the_section(capsys):
    with serving(OllamaServer(models={"mistral:latest": "f" * 64})) as server:
        assert ask("--model", "mistral_7b", server=server) == 2
    assert "crash_agents.models.mistral_7b.digest" in capsys.readouterr().err
