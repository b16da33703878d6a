import ast
import json
from dataclasses import replace

import pytest

from failbench.crashes.dry_run.known import meanings
from failbench.crashes.dry_run.namespace import Definitions, Namespace
from failbench.crashes.dry_run.needs import NotRebuiltError
from failbench.crashes.dry_run.predict import order_of, predict
from failbench.crashes.dry_run.rehearsal import answer_to
from failbench.crashes.question import Question, told
from failbench.notebooks.relevant import relevant_names
from failbench.notebooks.summaries import Summary, parse_summary
from failbench.notebooks.summary.state import summarise

SALES = """
import numpy as np
import pandas as pd
sales = pd.DataFrame({"region": ["N", "S", "N"], "value": [1.0, 2.0, 4.0]})
limit = 2
def above(table, limit):
    return table.loc[table["value"] > limit, "Region"]
"""


def asked(executed, target, arm="all"):
    """A question of a kernel in which cells, which this test wrote, were executed."""
    names = {"__name__": "__main__"}
    for cell in executed:
        exec(cell, names)
    relevant = relevant_names(executed, target)
    summary = parse_summary(summarise(names, relevant.names, relevant.attributes))
    return Question(tuple(executed), target, told(arm, summary, summary))


def rehearsed(question):
    """What would be answered in the sandbox; the code is this test's own."""
    return answer_to(json.loads(json.dumps(order_of(question))))


def test_in_the_sandbox_a_crash_is_told_with_its_class_message_and_line(granted):
    prediction = predict(asked([SALES], "low = 1\nrows = above(sales, limit)\nprint(rows)"))
    assert (prediction.crash, prediction.exception, prediction.line) == (True, "KeyError", 2)
    assert prediction.reason == "'Region'"
    mended = SALES.replace('"Region"', '"region"')
    assert predict(asked([mended], "rows = above(sales, limit)\nprint(rows)")).crash is False


def test_in_the_sandbox_answers_are_the_same_again(granted):
    target = "raise ValueError(sales['value'].sample(2).tolist(), np.random.rand())"
    question = asked([SALES.replace("1.0, 2.0", "1.5, 2.5")], target)
    assert predict(question) == predict(question)


ARMS = {"structural": None, "type": None, "value": None, "all": True}


@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_that_tells_too_little_of_a_name_gives_no_answer(arm):
    answer = rehearsed(asked([SALES], "above(sales, limit)", arm))
    assert answer["crash"] is ARMS[arm]
    if answer["crash"] is None:
        assert "not known" in answer["reason"]


def test_an_error_that_not_every_draw_raises_is_not_foreseen(granted):
    executed = ["import numpy as np\nheights = np.random.default_rng(1).normal(size=400)"]
    question = asked(executed, "heights")
    foreseen = [
        predict(replace(question, target=f"if heights.argmax() % 7 {test}: raise ValueError")).crash
        for test in ("== 0", "== 1", "== 2", "== 3", "< 7")
    ]
    assert foreseen == [False, False, False, False, True]


@pytest.mark.parametrize("arm", ARMS)
def test_a_name_that_is_not_there_is_missed_in_every_arm(arm):
    executed = ["import math\nrate = 2\ndef cost(x): return math.ceil(x * rate)", "del rate"]
    answer = rehearsed(asked(executed, "cost(3)", arm))
    assert (answer["exception"], answer["line"]) == ("NameError", 1)


def test_a_name_that_was_not_asked_for_or_was_cut_is_unknown():
    question = asked(["import math\ncount = 3"], "count + 1")
    strange = Summary(relevant=("other",), names={}, truncated=False)
    cut = Summary(relevant=("count",), names={}, truncated=True)
    for summary in (strange, cut, None):
        assert rehearsed(Question(question.executed, "count + 1", summary))["crash"] is None
        assert rehearsed(Question(question.executed, "math.sqrt(4)", summary))["crash"] is False


def test_what_is_not_asked_for_needs_not_be_known():
    executed = ["parts = iter([1, 2])\nsize = 0"]
    assert rehearsed(asked(executed, "1 / size\nnext(parts)"))["exception"] == "ZeroDivisionError"
    for target in (
        "next(parts)",
        "try:\n    next(parts)\nexcept BaseException:\n    pass",
        "def f(): return next(parts)\nf()",
        "class A:\n    first = next(parts)",
    ):
        assert rehearsed(asked(executed, target))["crash"] is None


@pytest.mark.parametrize(
    "target",
    [
        "open('missing.csv')",
        "import pandas as pd\npd.read_csv('missing.csv')",
        "raise ValueError('x') from FileNotFoundError('missing.csv')",
        "import subprocess",
        "from socket import socket",
    ],
)
def test_nothing_is_said_of_a_target_that_asks_for_files_or_other_modules(target):
    assert rehearsed(asked([], target))["crash"] is None


def test_cells_before_are_not_executed():
    executed = ("print('x' / 0)\nstate = {}\nstate['a'] = 1 / 0\ndef f(): return 1",)
    summary = Summary(relevant=("f",), names={"f": {}}, truncated=False)
    assert rehearsed(Question(executed, "f()", summary))["crash"] is False


def test_only_the_line_of_the_target_is_told_for_an_error_in_a_function():
    answer = rehearsed(asked([SALES], "x = 1\n\nabove(\n    sales, limit\n)"))
    assert answer["line"] == 3


def test_a_name_means_what_it_was_bound_to_last():
    known = meanings(
        [
            "import numpy as np\nfrom math import sqrt, pi\ndef f(x): return x\nf = 3",
            "def g(x, y=2): return x\nsquare = lambda x: x * x\nx, y = 1, 2",
            "this is no Python",
            "layer = nn.Linear(3, out_features=width)",
            "width = 5\nlayer = nn.Linear(3, out_features=width)\nmade = nn.Linear(len([]))",
            "if x:\n    import scipy.stats\n    g = None",
            "import scipy.sparse",
        ]
    )
    kinds = {name: meaning.kind for name, meaning in known.items()}
    assert kinds["np"] == kinds["sqrt"] == kinds["scipy"] == "import"
    assert kinds["square"] == "definition"
    assert kinds["f"] == kinds["g"] == kinds["x"] == kinds["width"] == kinds["made"] == "other"
    assert known["pi"].code == "from math import pi"
    assert known["scipy"].modules == ("scipy.stats", "scipy.sparse")
    layer = known["layer"]
    assert ast.unparse(layer.value).startswith("nn.Linear(3")
    assert layer.before["width"].value.value == 5


SAFE = (
    "def f(x=1, *, y=np.pi, z=('a', -2)): boom()",
    "@torch.no_grad()\ndef f(): boom()",
    "@dataclass(frozen=True)\nclass f:\n    '''Text.'''\n    x: int = 3\n    def g(self): boom()",
    "class f(Base, metaclass=Meta):\n    pass",
    "f = lambda x, y=2: boom()",
)
UNSAFE = (
    "def f(x=boom()): pass",
    "@boom(boom())\ndef f(): pass",
    "@boom().x\ndef f(): pass",
    "class f(boom()): pass",
    "class f:\n    x = boom()",
    "class f:\n    boom()",
    "class f:\n    for x in boom(): pass",
    "class f:\n    def g(self, x=boom()): pass",
    "f = lambda x=boom(): x",
    "f = boom()",
)


@pytest.mark.parametrize("code", SAFE + UNSAFE)
def test_a_definition_is_executed_if_nothing_but_literals_and_names_is(code):
    assert (meanings([code])["f"].kind == "definition") == (code in SAFE)


def test_a_definition_brings_what_it_needs_and_nothing_else():
    namespace = Namespace()
    code = """
from math import pi
from subprocess import run

class Base:
    pass

class Shape(Base):
    turn = pi

def other():
    pass

def of_a_shell(how=run):
    pass
"""
    definitions = Definitions(meanings([code]), namespace)
    assert definitions.define("Shape").turn == pytest.approx(3.14159, abs=1e-5)
    assert {"pi", "Base"} <= namespace.keys()
    assert "other" not in namespace
    with pytest.raises(NotRebuiltError, match="NameError"):
        definitions.define("of_a_shell")
    with pytest.raises(NotRebuiltError, match="does not define"):
        definitions.define("unheard_of")
