import subprocess
from importlib.util import find_spec

import pytest

from failbench.base.errors import BadInputError
from failbench.crashes import checkers
from failbench.crashes.question import Question

TOOLS = {"pyright": checkers.PYRIGHT, "pylint": checkers.PYLINT}
BEFORE = 3
FIRST = BEFORE + 1

DOUBLE = "def double(a):\n    return 2 * a"
ADDED = ("x = 1", "x = x + 1", "x = x + 1")
# questions, each with whether it crashes, the exception and the line
QUESTIONS = {
    Question(("x = 1",), "y = x\nprint(z)"): (True, "NameError", 2),
    Question(("x = 1", "print(z)"), "y = x"): (False, None, None),
    Question((DOUBLE,), "double(1)\ndouble(a=1, b=2)"): (True, "TypeError", 2),
    Question(ADDED, "y = x\nif x > 2:\n    y = 2"): (False, None, None),
    Question(("class Point:\n    pass", "p = Point()"), "p.colour()"): (True, "AttributeError", 1),
    Question((), "x = = 1"): (True, "SyntaxError", 1),
}
UNBOUND = next(iter(QUESTIONS))


def finding(line, rule="reportUndefinedVariable", column=0):
    return checkers.Finding(line, column, rule, "it is not defined")


def told(answer):
    return answer.crash, answer.exception, answer.line


@pytest.mark.parametrize(
    ("tool", "findings", "expected"),
    [
        ("pyright", [finding(FIRST + 1)], (True, "NameError", 2)),
        ("pyright", [finding(FIRST - 1), finding(1)], (False, None, None)),
        (  # the first in the code, in whatever order they are reported
            "pyright",
            [finding(FIRST + 1), finding(FIRST, "reportCallIssue", 5), finding(FIRST, "syntax", 9)],
            (True, "TypeError", 1),
        ),
        ("pylint", [finding(FIRST, "method-hidden")], (True, None, 1)),  # implies no exception
        ("pylint", [finding(FIRST)], (True, None, 1)),  # a rule of the other tool
    ],
)
def test_the_first_error_in_the_target_is_the_crash(tool, findings, expected):
    assert told(checkers.prediction_of(tool, BEFORE, findings)) == expected


def test_cells_are_in_order_of_execution_and_lines_before_the_target_are_counted():
    module = checkers.module_of(Question(("b = 1", "if False:\n    x = 1", "b = 1"), "a = 2"))
    lines = [line for line in module.text.splitlines() if line]
    assert lines == ["b = 1", "if False:", "    x = 1", "b = 1", "a = 2"]
    known: dict[str, object] = {}
    exec(module.text, known)
    assert known["a"] == 2
    for cell in ("x = 1", "x = 1\n", "x = 1\r\ny = 2\r", "y = 3  # \f"):
        module = checkers.module_of(Question((cell, cell), "here"))
        assert module.text.split("\n").index("here") == module.before


# The tools themselves


@pytest.fixture(params=TOOLS)
def tool(request):
    if find_spec(request.param) is None:
        pytest.skip(f"{request.param} is not installed: it is of the extra crashes")
    return TOOLS[request.param]


def test_errors_in_the_target_are_crashes_and_others_are_not(tool):
    answers = tool.predict_all([*QUESTIONS])
    assert [*map(told, answers)] == [*QUESTIONS.values()]
    assert tool.predict(UNBOUND) == answers[0]


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
    assert told(tool.predict(UNBOUND)) == QUESTIONS[UNBOUND]
    assert {path.name for path in tmp_path.iterdir()} == {"pyproject.toml", "pylintrc"}


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_a_tool_that_is_absent_or_prints_something_else_is_one_error(tool, monkeypatch):
    def absent(name):
        raise checkers.PackageNotFoundError(name)

    monkeypatch.setattr(checkers, "find_spec", lambda _: None)
    monkeypatch.setattr(checkers, "version", absent)
    for ask in (lambda: tool.predict(UNBOUND), tool.maker):
        with pytest.raises(BadInputError, match=rf"{tool.tool}: is not installed\. .*\[crashes\]"):
            ask()
    monkeypatch.setattr(checkers, "find_spec", lambda _: object())
    failed = subprocess.CompletedProcess((), 3, stdout="", stderr="Out of\nmemory")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(BadInputError, match=r"printed no JSON \(exit status 3\): Out of memory\."):
        tool.predict(UNBOUND)
