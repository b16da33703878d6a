"""The skill says what is there: its form, commands and options, and the numbers of the README."""

import re
from typing import get_args

import pytest
import yaml

from failbench.agents import server
from failbench.cli.main import commands, main
from failbench.diagnose.answer import Status
from failbench.diagnose.outputs.document import schema
from failbench.publish.reproduction.printed import generated_blocks, text_differences


@pytest.fixture(scope="module")
def text(repository):
    return (repository / "skills/failbench/SKILL.md").read_text(encoding="utf-8")


def test_its_head_is_that_of_the_open_format(text, repository):
    head = yaml.safe_load(text.split("---\n")[1])
    assert set(head) <= {"name", "description", "license", "compatibility", "metadata"}
    assert head["name"] == "failbench"
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", head["name"])
    assert 0 < len(head["description"]) <= 1024
    assert len(head["compatibility"]) <= 500
    assert len(text.splitlines()) < 120


def test_every_command_option_and_tool_that_it_names_is_there(text, capsys):
    named = set(re.findall(r"failbench ([a-z]+)[ `]", text)) & {*commands(), "explain"}
    assert {"diagnose", "read", "inspect", "preflight", "mcp"} <= named <= set(commands())
    main(["diagnose", "--help"])
    options = set(re.findall(r"--[a-z]+", text))
    assert options >= {"--json", "--failed", "--llm"}
    helped = capsys.readouterr().out
    assert [option for option in options if option not in helped] == []
    for tool in ("diagnose_log", "read_log", "explain_cause"):
        assert f"`{tool}`" in text
        assert callable(getattr(server, tool))


def test_every_field_that_it_reads_is_one_of_the_document(text):
    document = str(schema())
    assert {f"`{status}`" for status in get_args(Status)} <= set(re.findall(r"`\w+`", text))
    for field in re.findall(r"`([a-z]+_[a-z_]+)`", text):
        known = field in ("left_out", "diagnose_log", "read_log", "explain_cause")
        assert known or f"'{field}'" in document, field


def test_its_accuracy_is_what_the_stage_wrote(text, repository):
    written = (repository / "paper/tables/diagnose_logs/headline.md").read_text(encoding="utf-8")
    differences = text_differences(generated_blocks(text)["logs table"], written)
    assert [str(each) for each in differences if not each.within] == [], "Run `make readme`."


def test_a_root_cause_from_an_ordinary_log_is_more_often_wrong_than_right_as_it_says(text):
    assert "more often wrong than right" in text
    rows = [
        line for line in text.splitlines() if re.match(r"\| failbench, (any|complete) log", line)
    ]
    rates = [float(row.split("|")[3].split("[")[0]) for row in rows if "–" not in row]
    assert len(rates) == 2
    assert max(rates) < 50
