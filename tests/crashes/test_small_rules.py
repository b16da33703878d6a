"""Small rules fire where the target contradicts what is certain, and are silent elsewhere."""

from __future__ import annotations

import pytest

from failbench.crashes.question import Question
from failbench.crashes.small_rules.predict import predict
from failbench.notebooks.summaries import Summary


def foreseen(target, *executed, **names):
    """The exception that is foreseen, or None; names are entries of a summary."""
    summary = Summary(tuple(names), names, truncated=False) if names else None
    return predict(Question(executed, target, summary)).exception


FRAME = {
    "type": {"kind": "frame", "class": "pandas.core.frame.DataFrame"},
    "structural": {"columns": ["a", "b"], "shape": [3, 2]},
}


@pytest.mark.parametrize(
    ("target", "executed", "exception"),
    [
        ("x = (1", (), "SyntaxError"),
        ("print(total)", ("totals = 3",), "NameError"),
        ("print(x)", ("x = 1", "del x"), "NameError"),
        ("import numpy as np\nnp.no_such_function(3)", (), "AttributeError"),
        ("d['b']", ("d = {'a': 1}",), "KeyError"),
        ("x[3]", ("x = [1, 2, 3]",), "IndexError"),
        ("a, b = x", ("x = (1, 2, 3)",), "ValueError"),
    ],
)
def test_what_the_code_contradicts_is_foreseen(target, executed, exception):
    assert foreseen(target, *executed) == exception


@pytest.mark.parametrize(
    ("target", "executed"),
    [
        ("print(total)", ("from somewhere import *",)),
        ("d['b']", ("d = make()", "d['a'] = 1")),
        ("x[3]", ("x = [1, 2, 3]", "x.append(4)")),
        ("try:\n    d['b']\nexcept KeyError:\n    pass", ("d = {'a': 1}",)),
        ("if flag:\n    print(total)", ("flag = read()",)),
    ],
)
def test_what_is_not_certain_is_not_foreseen(target, executed):
    assert foreseen(target, *executed) is None


def test_the_summary_says_which_columns_are_there():
    assert foreseen("df['c']", df=FRAME) == "KeyError"
    assert foreseen("df['a']", df=FRAME) is None
    assert foreseen("df['c']") == "NameError"


def test_a_name_that_the_kernel_lacks_is_not_there_whatever_ran_before():
    summary = Summary(("x",), {}, truncated=False)
    assert predict(Question(("x = 1",), "x + 1", summary)).exception == "NameError"


def test_cells_that_were_executed_raised_nothing_whatever_a_rule_says():
    assert foreseen("print(total)", "print(total)", "total = 1") is None
