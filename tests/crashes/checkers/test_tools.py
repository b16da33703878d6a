"""The tools themselves, on small questions; skipped where they are not installed."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.crashes.checkers import process, pylint, pyright
from failbench.crashes.checkers.exceptions import exceptions_of
from failbench.crashes.question import Question

TOOLS = {"pyright": pyright, "pylint": pylint}

QUESTIONS = (
    Question(("x = 1",), "y = x\nprint(z)"),  # a name that nothing binds
    Question(("x = 1", "print(z)"), "y = x"),  # the same, before the target
    Question(("def double(a):\n    return 2 * a",), "double(1)\ndouble(a=1, b=2)"),
    Question(("x = 1", "x = x + 1", "x = x + 1"), "y = x\nif x > 2:\n    y = 2"),
    Question(("class Point:\n    pass", "p = Point()"), "p.colour()"),
    Question((), "x = = 1"),
)
CRASHES = (
    (True, "NameError", 2),
    (False, None, None),
    (True, "TypeError", 2),
    (False, None, None),
    (True, "AttributeError", 1),
    (True, "SyntaxError", 1),
)


@pytest.fixture(params=TOOLS)
def tool(request):
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed: it is of the extra crashes")
    return TOOLS[request.param]


@pytest.fixture(scope="module")
def answers():
    """The answers of a tool to all questions, asked once."""
    known: dict[str, list[object]] = {}

    def answered(tool):
        if tool.TOOL not in known:
            known[tool.TOOL] = tool.predict_all(QUESTIONS)
        return known[tool.TOOL]

    return answered


def test_errors_in_the_target_are_crashes_and_others_are_not(tool, answers):
    said = [(answer.crash, answer.exception, answer.line) for answer in answers(tool)]
    assert said == list(CRASHES)


def test_one_question_is_answered_as_among_many(tool, answers):
    assert tool.predict(QUESTIONS[0]) == answers(tool)[0]


def test_settings_and_variables_of_others_change_nothing(tool, tmp_path, monkeypatch):
    """Both tools look for settings in the folders above the files, pylint also where a variable
    says."""
    off = "[tool.pyright]\nreportUndefinedVariable = false\n[tool.pylint.main]\ndisable = ['all']\n"
    (tmp_path / "pyproject.toml").write_text(off)
    (tmp_path / "pylintrc").write_text("[MAIN]\ndisable=all\n")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("PYLINTRC", str(tmp_path / "pylintrc"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    answer = tool.predict(QUESTIONS[0])
    assert (answer.crash, answer.exception, answer.line) == CRASHES[0]
    assert {path.name for path in tmp_path.iterdir()} == {"pyproject.toml", "pylintrc"}


def test_libraries_are_those_of_this_interpreter(tool):
    """Else the import could not be resolved, which is an error."""
    (answer,) = tool.predict_all([Question((), "import polars\n\npolars.DataFrame()")])
    assert answer.crash is False
    assert tool.predict(Question((), "import no_such_library")).exception == "ModuleNotFoundError"


def test_the_maker_names_the_tool_python_and_the_libraries(tool):
    said = tool.maker()
    assert said.startswith(f"{tool.TOOL} ")
    assert f"python {sys.version.split()[0]}, numpy " in said
    assert "+" not in said


def test_a_question_is_answered_whatever_else_is_asked(monkeypatch):
    """Pyright infers otherwise in a process that has seen more: each gets one of its own."""
    folders = []

    def noted(command, **options):
        folders.append(sorted(path.name for path in options["cwd"].glob("*.py")))
        printed = json.dumps({"generalDiagnostics": [], "messages": []})
        return subprocess.CompletedProcess(command, 0, stdout=printed, stderr="")

    monkeypatch.setattr(process, "find_spec", lambda _: object())
    monkeypatch.setattr(subprocess, "run", noted)
    for each in TOOLS.values():
        assert len(each.predict_all(QUESTIONS)) == len(QUESTIONS)
    assert folders == [["failbench_question.py"]] * (2 * len(QUESTIONS))


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_that_is_not_installed_is_one_error_with_the_remedy(name, monkeypatch):
    monkeypatch.setattr(process, "find_spec", lambda _: None)
    with pytest.raises(BadInputError, match=rf"{name}: is not installed\. .*\[crashes\]"):
        TOOLS[name].predict(QUESTIONS[0])
    monkeypatch.setattr(process, "version", _absent)
    with pytest.raises(BadInputError, match=rf"{name}: is not installed\. .*\[crashes\]"):
        TOOLS[name].maker()


def _absent(name):
    raise process.PackageNotFoundError(name)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_that_prints_something_else_is_one_error_that_quotes_it(name, monkeypatch):
    monkeypatch.setattr(process, "find_spec", lambda _: object())
    failed = subprocess.CompletedProcess((), 3, stdout="", stderr="Out of\nmemory")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(BadInputError, match=r"printed no JSON \(exit status 3\): Out of memory\."):
        TOOLS[name].predict(QUESTIONS[0])


def test_pylint_has_every_rule_of_the_table():
    if find_spec("pylint") is None:
        pytest.skip("pylint is not installed: it is of the extra crashes")
    command = [sys.executable, "-m", "pylint", "--list-msgs-enabled"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert {rule for rule in exceptions_of("pylint") if f"  {rule} (" not in listed} == set()


def test_pyright_has_every_rule_of_the_table():
    if find_spec("pyright") is None:
        pytest.skip("pyright is not installed: it is of the extra crashes")
    script = Path(str(import_module("pyright").__file__)).parent / "dist/dist"
    texts = [path.read_text(encoding="utf-8") for path in script.glob("*.js")]
    rules = exceptions_of("pyright").keys()
    assert {rule for rule in rules if not any(rule in text for text in texts)} <= {pyright.SYNTAX}
