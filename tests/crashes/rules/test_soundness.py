"""Whatever the code is, prediction ends, is the same again, and executes nothing of it."""

from __future__ import annotations

import ast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from failbench.crashes.question import Question
from failbench.crashes.rules.evaluation import registry
from failbench.crashes.rules.knowledge.interfaces import recorded, rows
from failbench.crashes.rules.predict import predict

EXPRESSIONS = st.recursive(
    st.sampled_from(
        [
            "1",
            "0",
            "-2.5",
            "'ab'",
            "None",
            "True",
            "[]",
            "{}",
            "x",
            "df",
            "t",
            "np",
            "X",
            "model",
            "f",
            "ax",
        ]
    ),
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(["+", "-", "*", "@", "&", "<", "in", "%", "//"]), inner
        ).map(lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"),
        st.tuples(inner, inner).map(lambda parts: f"{parts[0]}[{parts[1]}]"),
        st.tuples(
            inner,
            st.sampled_from(
                [
                    "shape",
                    "sum",
                    "reshape",
                    "T",
                    "loc",
                    "fit",
                    "predict",
                    "mean",
                    "append",
                    "items",
                    "view",
                ]
            ),
        ).map(lambda parts: f"({parts[0]}).{parts[1]}"),
        st.tuples(inner, inner).map(lambda parts: f"({parts[0]})({parts[1]})"),
        st.tuples(
            st.sampled_from(
                [
                    "np.array",
                    "len",
                    "pd.DataFrame",
                    "torch.tensor",
                    "list",
                    "np.zeros",
                    "sum",
                    "ax.plot",
                    "nn.Linear",
                    "pd.concat",
                    "np.where",
                    "torch.cat",
                    "zip",
                    "df.groupby",
                    "df.merge",
                    "int",
                    "plt.subplots",
                ]
            ),
            inner,
            inner,
        ).map(lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"),
        st.lists(inner, max_size=3).map(lambda parts: "[" + ", ".join(parts) + "]"),
        inner.map(lambda part: f"[{part} for x in {part}]"),
        inner.map(lambda part: f"(lambda x: {part})"),
    ),
    max_leaves=8,
)

STATEMENTS = st.one_of(
    EXPRESSIONS,
    EXPRESSIONS.map(lambda part: f"x = {part}"),
    EXPRESSIONS.map(lambda part: f"x, y = {part}"),
    EXPRESSIONS.map(lambda part: f"df['a'] = {part}"),
    EXPRESSIONS.map(lambda part: f"x[0] = {part}"),
    EXPRESSIONS.map(lambda part: f"x += {part}"),
    EXPRESSIONS.map(lambda part: f"for x in {part}:\n    t = x"),
    EXPRESSIONS.map(lambda part: f"while {part}:\n    x = 1"),
    EXPRESSIONS.map(lambda part: f"if {part}:\n    x = {part}\nelse:\n    del x"),
    EXPRESSIONS.map(lambda part: f"def f(x, *a, **k):\n    return {part}"),
    EXPRESSIONS.map(
        lambda part: f"class C:\n    y = {part}\n    def __init__(self): self.z = {part}"
    ),
    EXPRESSIONS.map(
        lambda part: f"try:\n    {part}\nexcept (KeyError, x):\n    pass\nfinally:\n    y = 1"
    ),
    EXPRESSIONS.map(lambda part: f"with {part} as x:\n    pass"),
    st.just("match x:\n    case 1:\n        pass\n    case _:\n        y = 2"),
    st.just("import os, a.b.c as d"),
)

WORLD = (
    "import numpy as np\nimport pandas as pd\nimport torch\nfrom torch import nn\n"
    "import matplotlib.pyplot as plt\nfrom sklearn.svm import SVC\n"
    "x = np.arange(6)\nX = np.random.default_rng(0).random((6, 2))\nt = torch.ones(2, 3)\n"
    "df = pd.DataFrame({'a': [1, 2], 'b': ['u', 'v']})\nmodel = SVC()\nfig, ax = plt.subplots()\n"
    "def f(x):\n    return f(x) if x else 0\n"
)


@settings(
    max_examples=250, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(st.lists(STATEMENTS, min_size=1, max_size=4))
def test_odd_code_never_raises_and_is_answered_alike_twice(statements):
    target = "\n".join(statements)
    asked = Question((WORLD, *statements), target)
    first = predict(asked)
    assert first == predict(asked)
    assert first.crash is (first.exception is not None)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.text(max_size=60))
def test_any_text_is_answered(text):
    try:
        ast.parse(text)
        is_python = True
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_python = False
    prediction = predict(Question((text,), text))
    if not is_python and text[:1] not in ("%", "!") and "%" not in text and "!" not in text:
        assert prediction.crash


def test_a_target_that_is_no_python_is_a_syntax_error():
    prediction = predict(Question((), "a = 1\nb = (\n"))
    assert (prediction.crash, prediction.exception) == (True, "SyntaxError")


@pytest.mark.parametrize(
    "code",
    [
        "open('{}', 'w').write('x')",
        "__import__('pathlib').Path('{}').write_text('x')",
        "import os\nos.mkdir('{}')",
        "import numpy as np\nnp.save('{}', np.ones(3))",
        "exec(\"open('{}', 'w')\")",
        "import numpy as np\nnp.apply_along_axis(lambda r: open('{}', 'w'), 0, np.ones(3))",
    ],
)
def test_no_code_of_the_notebook_is_executed(code, tmp_path):
    path = tmp_path / "made"
    source = code.format(path)
    predict(Question((source,), source))
    assert not path.exists()
    assert not list(tmp_path.iterdir())


def test_long_loops_and_deep_recursion_end():
    assert predict(Question((), "while True:\n    pass")).crash is False
    assert (
        predict(Question((), "n = 0\nfor a in range(10**9):\n    n += a\nprint(n)")).crash is False
    )
    predict(Question(("def f(n):\n    return f(n + 1)",), "f(0)"))


def test_arrays_that_do_not_fit_into_memory_are_not_made():
    prediction = predict(Question(("import numpy as np",), "np.ones((10**5, 10**6))"))
    assert prediction.exception == "MemoryError"
    predict(Question(("import numpy as np",), "np.outer(np.arange(90_000), np.arange(90_000))"))


def test_each_row_of_the_table_of_what_was_removed_has_a_page():
    table = rows("removed.csv")
    assert all(row["page"].startswith("https://") for row in table)
    keys = [(row["owner"], row["name"], row["kind"]) for row in table]
    assert len(keys) == len(set(keys))


def test_what_was_removed_is_not_in_the_recorded_interface():
    content = recorded()
    for row in rows("removed.csv"):
        if row["kind"] == "attribute" and row["owner"] in content["modules"]:
            names = content["modules"][row["owner"]]
            assert row["name"] not in names or row["exception"] != "AttributeError", row
        if row["kind"] == "argument" and row["owner"] in content["calls"]:
            words = {
                word.rstrip("!").rstrip(":/") for word in content["calls"][row["owner"]].split()
            }
            assert row["name"] not in words, row


def test_every_module_of_rules_is_found():
    assert len(registry.functions()) > 500
