"""The official client over standard input and output, against the command in its own process."""

import asyncio
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import jsonschema
import pytest

pytest.importorskip("mcp", reason="needs the extra `mcp`")

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client

import made_up_answers as answers
from failbench.agents.server import ANSWER, TEXT, Explanation, explain_cause
from failbench.base.errors import BadInputError
from failbench.causes.catalogue import causes
from failbench.cli.main import main

ERROR = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x8 and 9x2)"
LOG = f"{answers.rows(60)}{ERROR}\n"
ERRORS = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "IndexError: index out of range in self",
    "OSError: [Errno 28] No space left on device",
    ERROR,
)
LONG = "".join(
    f"step {step} loss {3 + step:.2f}\nUserWarning: wait for `lr_scheduler.step()`, {step}\n"
    f"ValueError: row {step} is {'x' * 2000}\n"
    for step in range(400)
) + "\n".join(ERRORS)
CALLS = {
    "path": ("diagnose_log", {"path": "runs/train.log"}),
    "settings": (
        "diagnose_log",
        {"path": "runs/train.log", "configuration": "runs/config.json", "code": ["runs/train.py"]},
    ),
    "text": ("diagnose_log", {"text": LOG}),
    "failed": ("diagnose_log", {"text": answers.rows(60), "failed": True}),
    "against": ("diagnose_log", {"path": "runs/flat.log", "against": "runs/good.log"}),
    "nan": ("read_log", {"text": "step 1 loss 2.0\nstep 2 loss nan\n"}),
    "json": ("read_log", {"text": '{"step": 1, "loss": 2.5}\n{"step": 2, "loss": 2.4}\n'}),
    "long": ("diagnose_log", {"text": LONG}),
    "long read": ("read_log", {"text": LONG}),
    "cause": ("explain_cause", {"cause": "gradients_explode"}),
    "largest": ("read_log", {"text": "loss: 3\n" + "x" * (TEXT - 8)}),
}
REFUSED = {
    "outside": ("diagnose_log", {"path": "../other.log"}, "../other.log: path: is no path within"),
    "link": ("read_log", {"path": "runs/link.log"}, "runs/link.log: path: is no path within"),
    "absolute": ("read_log", {"path": "/etc/hostname"}, "/etc/hostname: path: is no path within"),
    "input": ("read_log", {"path": "-"}, "-: path: is no path within"),
    "code": (
        "diagnose_log",
        {"text": LOG, "code": ["../secret.py"]},
        "../secret.py: code: is no path within",
    ),
    "against": (
        "diagnose_log",
        {"text": LOG, "against": "../other.log"},
        "../other.log: against: is no path within",
    ),
    "too large": ("read_log", {"text": "x" * (TEXT + 1)}, "log: text: has 1,048,577 bytes"),
    "letters": ("read_log", {"text": "ü" * (TEXT // 2 + 1)}, "log: text: has 1,048,578 bytes"),
    "both": ("read_log", {"text": LOG, "path": "runs/train.log"}, "log: path: a log is given by"),
    "none": ("diagnose_log", {}, "log: path: a log is given by"),
    "blank": ("read_log", {"text": " \n"}, "text: (file): is empty"),
    "cause": (
        "explain_cause",
        {"cause": "gradient_explodes"},
        "explain_cause: gradient_explodes: there is no such cause (gradients_explode",
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agent")
    runs = folder / "work/runs"
    runs.mkdir(parents=True)
    for path in (folder / "other.log", runs / "train.log"):
        path.write_text(LOG, encoding="utf-8")
    for name, end in (("flat.log", 4), ("good.log", 80)):
        losses = (0.5 + 2.5 * 0.93 ** min(step, end) for step in range(80))
        rows = [f"step={step} loss={loss:.4g}\n" for step, loss in enumerate(losses)]
        (runs / name).write_text("".join(rows), encoding="utf-8")
    (folder / "secret.py").write_text("x = 1\n", encoding="utf-8")
    (runs / "link.log").symlink_to(folder / "other.log")
    (runs / "train.py").write_text("optimizer.step()\n", encoding="utf-8")
    (runs / "config.json").write_text('{"learning_rate": 30.0}', encoding="utf-8")
    return folder / "work"


@pytest.fixture(scope="module")
def session(folder):
    """What the tools are and what they answered, in one process of the server."""
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = ["-m", "failbench.cli.main", "mcp"]
    server = StdioServerParameters(
        command=sys.executable, args=command, cwd=folder, env=environment
    )

    async def talk():
        async with Client(stdio_client(server)) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            calls = {**CALLS, **{f"refused {name}": call[:2] for name, call in REFUSED.items()}}
            return tools, {
                name: await client.call_tool(tool, arguments)
                for name, (tool, arguments) in calls.items()
            }

    # a browser that tests of the page keep open has a loop that runs in the main thread
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, talk()).result()


def told(session, name):
    result = session[1][name]
    assert not result.is_error, result.content[0].text
    return result.structured_content


@pytest.mark.parametrize("name", CALLS)
def test_an_answer_fits_its_schema_and_its_room_and_says_the_same_as_text(session, name):
    tools, _ = session
    content = told(session, name)
    tool = tools[CALLS[name][0]]
    jsonschema.Draft202012Validator(tool.output_schema).validate(content)
    jsonschema.Draft202012Validator(tool.input_schema).validate(CALLS[name][1])
    (text,) = session[1][name].content
    assert json.loads(text.text, parse_constant=pytest.fail) == content
    assert len(text.text) <= ANSWER


def test_the_tools_change_nothing_and_describe_every_argument(session):
    tools, _ = session
    assert set(tools) == {"diagnose_log", "read_log", "explain_cause"}
    for tool in tools.values():
        assert tool.annotations.read_only_hint
        assert all(each["description"] for each in tool.input_schema["properties"].values())
    assert tools["explain_cause"].input_schema["properties"]["cause"]["enum"] == [*causes()]


def test_a_diagnosis_is_that_of_the_command(session, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    options = ["--config", "runs/config.json", "--code", "runs/train.py"]
    for name, given in (("path", []), ("settings", options)):
        assert main(["diagnose", "runs/train.log", "--json", *given]) == 1
        assert told(session, name) == {**json.loads(capsys.readouterr().out), "left_out": 0}
    assert main(["read", "runs/train.log", "--json"]) == 0
    assert told(session, "text")["root_causes"][0]["evidence"][0]["source"] == "text"
    assert told(session, "failed")["status"] != "healthy"


def test_a_log_is_held_against_that_of_a_run_that_worked(session, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    main(["diagnose", "runs/flat.log", "--json", "--against", "runs/good.log"])
    assert told(session, "against") == {**json.loads(capsys.readouterr().out), "left_out": 0}
    assert "parting" in json.dumps(told(session, "against"))


def test_what_is_read_has_null_for_no_number_and_errors_before_warnings(session):
    (signal,) = told(session, "nan")["signals"]
    assert (signal["last"], signal["not_finite"], signal["last_line"]) == (None, 1, 2)
    assert told(session, "json")["signals"][0]["last"] == 2.4
    events = told(session, "long read")["events"]
    assert events[0]["kind"] == "exception"
    assert all(len(event["message"]) <= 1_002 for event in events)


def test_what_a_long_answer_leaves_out_is_counted(session):
    assert told(session, "long read")["left_out"] > 0
    assert told(session, "long")["root_causes"]


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_done_is_an_error_with_the_sentence_of_the_command(session, name):
    result = session[1][f"refused {name}"]
    assert result.is_error
    assert result.content[0].text.startswith(REFUSED[name][2])


def test_every_cause_is_explained_in_the_room_of_an_answer():
    for name in causes():
        explained = explain_cause(name)
        assert isinstance(explained, Explanation)
        assert explained.cause.id == name
        assert len(explained.model_dump_json()) <= ANSWER
    with pytest.raises(BadInputError, match="there is no such cause"):
        explain_cause("nonsense")
