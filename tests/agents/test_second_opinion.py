"""A local model beside the answer, against a server that speaks Ollama's API, and without one."""

import json
import socket

import pytest

import made_up_answers as answers
from failbench.agents import second_opinion
from failbench.agents.contents import compact, fit
from failbench.cli import places
from failbench.cli.main import main
from failbench.diagnose.outputs.document import schema
from made_up_ollama import OllamaServer, Reply, serving

LOG = f"{answers.rows(60)}RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)\n"
OURS = ("model_software", "shapes_mismatch")


def opinion(category=OURS[0], cause=OURS[1], confidence=0.95, evidence=(1,)):
    said = {"category": category, "cause": cause, "confidence": confidence}
    why = "The widths [bold]differ[/bold].\x1b]0;owned\x07"
    return Reply(json.dumps(said | {"explanation": why, "evidence": evidence}))


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with serving(OllamaServer(otherwise=opinion())) as ollama:
        yield ollama


@pytest.fixture
def ask(server, tmp_path, monkeypatch, capsys):
    """Diagnoses a log with a model beside it: exit status, output and errors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    at_once = second_opinion.ASKING.model_copy(update={"pause_seconds": 0})
    monkeypatch.setattr(second_opinion, "ASKING", at_once)
    log = tmp_path / "train.log"

    def asked(*options, text=LOG, model="mistral", host=None):
        log.write_text(text, encoding="utf-8")
        given = ["--llm", model, "--host", host or server.host, *options]
        status = main(["diagnose", str(log), *given])
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return asked


def test_a_model_is_shown_the_evidence_and_all_causes_but_not_our_answer(server, ask):
    status, out, err = ask()
    assert status == 1
    (question,) = server.questions
    system, user = (each["content"] for each in question["messages"])
    assert "cannot be multiplied (4x8 and 9x2)" in user
    assert '"number":1' in user
    assert "token_ids_beyond_table" in system
    (mark,) = {line.split()[2] for line in user.splitlines() if line.startswith("BEGIN RECORD")}
    assert mark in system
    headline = out.splitlines()[0]
    assert headline.startswith("Failed: model and software")
    for concluded in (headline, "Most likely cause", "root_causes"):
        assert concluded not in user
    assert "asking mistral" in err
    assert "known that the run failed" not in system
    ask("--failed")
    assert "known that the run failed" in server.questions[-1]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("reply", "said", "unsaid"),
    [
        (opinion(), ["They agree."], "disagree"),
        (
            opinion("data_pipeline", "token_ids_beyond_table", 0.99, (1, 99)),
            [
                "Second opinion of mistral: data pipeline, 99 % sure by its own word",
                "The widths [bold]differ[/bold].",
                "Evidence: 1, 99",
                "Where they disagree",
                "Category: failbench says model and software, mistral says data pipeline.",
                "that the model's table lacks” (for which nothing was found).",
                "Evidence: mistral cites findings that are not there: [99].",
            ],
            "Confidence:",
        ),
        (
            opinion(confidence=0.2),
            ["Confidence: failbench is ", "mistral 20 % sure (low)"],
            "agree.",
        ),
        (opinion(cause="none"), ["mistral's is none."], "Category:"),
        (opinion("healthy", "none"), ["mistral says healthy."], "agree."),
        (opinion(cause="\x1b[31mgremlins"), ["mistral's is gremlins (for which"], "Category:"),
        (Reply("I cannot tell."), ["answer cannot be read (there is no JSON object"], "agree"),
        (opinion("gremlins"), ["its answer cannot be read (category"], "agree"),
        (Reply('{"\\u001b[31mred": 1}'), ["its answer cannot be read ("], "agree"),
    ],
)
def test_the_page_has_both_answers_and_where_they_disagree(server, ask, reply, said, unsaid):
    server.otherwise = reply
    status, out, _ = ask()
    ours, second = out.split("Second opinion of ")
    assert status == 1
    assert "Most likely cause" in ours
    for sentence in said:
        assert sentence in f"Second opinion of {second}"
    assert unsaid not in second
    assert "\x1b" not in out


def test_where_failbench_names_none_the_model_does_and_a_healthy_run_may_be_doubted(server, ask):
    server.otherwise = opinion("optimization", "learning_rate_too_high")
    status, out, _ = ask(text="step 1 loss 3\nstep 2 loss 3\n")
    assert status == 5
    assert "failbench names no category, mistral says optimization." in out
    falls = "".join(f"step {step} loss {3 - step / 50:.3f}\n" for step in range(100))
    status, out, _ = ask(text=falls)
    assert status == 0
    assert "failbench says healthy, mistral says optimization." in out


def test_the_document_stands_unchanged_beside_the_opinion(server, ask):
    status, out, _ = ask("--json")
    both = json.loads(out, parse_constant=pytest.fail)
    assert status == 1
    assert set(both) == {"diagnosis", "second_opinion"}
    assert set(both["diagnosis"]) == set(schema()["properties"])
    assert both["second_opinion"]["opinion"]["evidence"] == [1]
    assert both["second_opinion"]["disagreements"] == []


def test_an_answer_is_kept_for_the_same_evidence_model_and_digest(server, ask):
    first, again = ask(), ask()
    assert first[1] == again[1]
    assert again[2] == ""
    assert len(server.questions) == 1
    assert (places.second_opinions() / "mistral%3Alatest.jsonl").is_file()
    ask(text=f"{LOG}ValueError: something else\n")
    ask(model="llama3:8b")
    server.models["mistral:latest"] = "9" * 64
    ask()
    assert len(server.questions) == 4


@pytest.mark.parametrize(
    ("break_it", "sentence"),
    [
        (lambda server: server.models.clear(), "Ollama: mistral: the server has no model"),
        (
            lambda server: setattr(server, "otherwise", Reply("bad format", status=400)),
            "the server refuses the request: bad format (status code: 400). Update the server",
        ),
        (
            lambda server: setattr(server, "otherwise", Reply("loading", status=500)),
            "Ollama: mistral: No answer in 3 attempts, at last: loading (status code: 500).",
        ),
    ],
)
def test_what_cannot_be_asked_ends_with_one_sentence_and_2(server, ask, break_it, sentence):
    break_it(server)
    status, out, err = ask()
    assert (status, out) == (2, "")
    assert sentence in err.splitlines()[-1]


def test_without_a_server_the_command_ends_with_one_sentence_and_2(ask):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else takes the port
        status, out, err = ask(host=f"127.0.0.1:{taken.getsockname()[1]}")
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("Ollama: --host: no server answers there. Start one with `ollama serve`")


def test_a_broken_cache_is_named_with_what_to_do(ask):
    ask()
    cache = places.second_opinions() / "mistral%3Alatest.jsonl"
    cache.write_text("{}\n", encoding="utf-8")
    status, _, err = ask()
    assert status == 2
    assert err.startswith(f"{cache}:1: ")
    assert err.endswith("Delete it, and ask again.\n")


@pytest.mark.parametrize("room", [200, 2_000, 20_000])
def test_a_record_fits_its_room_with_the_first_of_every_list(room):
    entries = [{"name": f"{place}" * 3, "words": ["x" * 5_000] * 3} for place in range(50)]
    record = {"few": ["first", "second"], "many": entries, "number": 1.5}
    left_out = fit(record, room)
    assert record["many"][0]["name"] == "000"
    assert record["few"][0] == "first"
    assert left_out >= 50 - len(record["many"])
    assert len(compact(record)) <= max(room, 1_200)
