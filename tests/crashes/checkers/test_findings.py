from __future__ import annotations

import builtins

import pytest

from failbench.crashes.checkers.exceptions import exceptions_of, implied
from failbench.crashes.checkers.findings import Finding, prediction_of
from failbench.crashes.checkers.module import module_of
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question

MODULE = module_of(Question(("x = 1",), "a\nb"))
FIRST = MODULE.before + 1


def finding(line, rule="reportUndefinedVariable", column=0):
    return Finding(line, column, rule, "it is not defined")


def test_an_error_in_the_target_is_a_crash_with_line_rule_and_exception():
    assert prediction_of("pyright", MODULE, [finding(FIRST + 1)]) == CrashPrediction(
        True, "NameError", "reportUndefinedVariable: it is not defined", 2
    )


def test_an_error_before_the_target_is_not_about_it():
    answer = prediction_of("pyright", MODULE, [finding(FIRST - 1), finding(1)])
    assert (answer.crash, answer.exception, answer.line) == (False, None, None)


def test_the_first_error_in_the_code_is_named_in_whatever_order_they_are_reported():
    errors = [finding(FIRST + 1), finding(FIRST, "reportCallIssue", 5), finding(FIRST, "syntax", 9)]
    answer = prediction_of("pyright", MODULE, errors)
    assert (answer.exception, answer.line) == ("TypeError", 1)


def test_a_rule_that_implies_no_exception_names_none():
    answer = prediction_of("pylint", MODULE, [finding(FIRST, "method-hidden")])
    assert (answer.crash, answer.exception, answer.line) == (True, None, 1)


def test_a_rule_of_one_tool_says_nothing_of_the_other():
    assert prediction_of("pylint", MODULE, [finding(FIRST)]).exception is None


@pytest.mark.parametrize("row", implied(), ids=lambda row: f"{row.tool} {row.rule}")
def test_every_exception_of_the_table_is_one_of_python(row):
    assert issubclass(getattr(builtins, row.exception), Exception)


def test_no_rule_is_there_twice():
    keys = [(row.tool, row.rule) for row in implied()]
    assert len(keys) == len(set(keys))
    assert len(exceptions_of("pyright")) + len(exceptions_of("pylint")) == len(keys)
