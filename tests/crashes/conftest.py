"""Cases of a test's own: small pairs of notebooks with what was observed of them."""

from pathlib import Path

import pytest

from failbench.crashes.cases import Case
from failbench.notebooks.corpus import Card, Cell, Notebook
from failbench.notebooks.summaries import Summary


def summary_of(name):
    entry = {
        "type": {"kind": "number", "class": "int"},
        "structural": {"length": 1},
        "value": {"value": 3},
    }
    return Summary((name,), {name: entry}, truncated=False)


@pytest.fixture
def case():
    """Makes a case of a pair and version."""

    def make(pair="tried", version="crashing", part="test", exception="KeyError", target="x[0]"):
        card = Card.model_construct(
            pair=pair,
            version=version,
            library="numpy",
            misuse="key",
            difficulty="easy",
            target=1,
            cause=0,
        )
        cells = (Cell(True, "x = {}", (1,)), Cell(True, target, (2,)))
        notebook = Notebook(Path(f"{pair}/{version}.ipynb"), "0" * 64, card, cells)
        raised = exception if version == "crashing" else None
        return Case(notebook, version, part, summary_of("x"), summary_of("y"), raised)

    return make
