import pytest

from failbench.crashes.dry_run.known import Call, meanings
from failbench.crashes.dry_run.namespace import Definitions, Namespace
from failbench.crashes.dry_run.needs import NotRebuiltError


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
    assert known["layer"].call == Call("nn.Linear", (3,), {"out_features": 5})


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
