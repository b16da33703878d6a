import pytest

from failbench.crashes.question import Question
from failbench.crashes.small_rules.predict import predict
from failbench.notebooks.summaries import Summary

FRAME = {
    "type": {"kind": "frame", "class": "pandas.core.frame.DataFrame"},
    "structural": {"columns": ["a", "b"], "shape": [3, 2]},
}


KERNEL = {"df": FRAME}


@pytest.mark.parametrize(
    ("target", "executed", "names", "exception"),
    [
        ("x = (1", (), {}, "SyntaxError"),
        ("print(total)", ("totals = 3",), {}, "NameError"),
        ("print(x)", ("x = 1", "del x"), {}, "NameError"),
        ("import numpy as np\nnp.no_such_function(3)", (), {}, "AttributeError"),
        ("d['b']", ("d = {'a': 1}",), {}, "KeyError"),
        ("x[3]", ("x = [1, 2, 3]",), {}, "IndexError"),
        ("a, b = x", ("x = (1, 2, 3)",), {}, "ValueError"),
        # what is not certain
        ("print(total)", ("from somewhere import *",), {}, None),
        ("d['b']", ("d = make()", "d['a'] = 1"), {}, None),
        ("x[3]", ("x = [1, 2, 3]", "x.append(4)"), {}, None),
        ("try:\n    d['b']\nexcept KeyError:\n    pass", ("d = {'a': 1}",), {}, None),
        ("if flag:\n    print(total)", ("flag = read()",), {}, None),
        # the summary says which columns are there
        ("df['c']", (), KERNEL, "KeyError"),
        ("df['a']", (), KERNEL, None),
        ("df['c']", (), {}, "NameError"),
        # cells that were executed raised nothing, whatever a rule says
        ("print(total)", ("print(total)", "total = 1"), {}, None),
    ],
)
def test_what_code_and_summary_contradict_is_foreseen(target, executed, names, exception):
    summary = Summary(tuple(names), names, truncated=False) if names else None
    assert predict(Question(executed, target, summary)).exception == exception


def test_a_name_that_the_kernel_lacks_is_not_there_whatever_ran_before():
    summary = Summary(("x",), {}, truncated=False)
    assert predict(Question(("x = 1",), "x + 1", summary)).exception == "NameError"
