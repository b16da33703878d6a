"""Pairs of equal code: what is read, how a world is made, and that the committed ones are that."""

import ast
import json
import os
from collections import Counter

import pytest

from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.notebooks.corpus import OBSERVED, read_observed
from failbench.notebooks.equal import BYTES, make_world, read_equal, read_parts
from made_up_notebooks import document

CARD = {
    "pair": "tried", "library": "numpy", "author": "x", "misuse": "key", "facts": "value",
    "held": True, "differs_by": "file", "fact": "`a` is 1.", "words": ["a"], "remedy": "Mend it.",
    "source": "https://numpy.org/", "target": 1,
}  # fmt: skip
WORLD = """\
def files(version):
    open("a.txt", "w").write("1" if version == "crashing" else "2")
def environment(version):
    return {"WHERE": version}
def seed(version):
    return 7
def today(version):
    return "2024-02-29T10:00:00"
"""
CODE = """\
import datetime, os, random, numpy
known = [open("a.txt").read(), os.environ["WHERE"], str(datetime.date.today()), numpy.random.rand(),
         random.random()]"""


@pytest.fixture
def made(tmp_path):
    """Writes a pair, and returns the folder of its corpus."""

    def make(world=WORLD, sources=(CODE, "1 / (int(known[0]) - 1)"), **changes):
        folder = tmp_path / "corpus" / "numpy" / "tried"
        folder.mkdir(parents=True)
        raw = document(sources)
        raw["metadata"]["failbench"] = CARD | changes
        (folder / "notebook.ipynb").write_text(json.dumps(raw), encoding="utf-8")
        (folder / "world.py").write_text(world, encoding="utf-8")
        return folder.parents[1]

    return make


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"pair": "other"}, "metadata.failbench"), ({"words": []}, "words"), ({"held": "so"}, "held")],
)
def test_a_card_that_does_not_fit_is_named(made, changes, field):
    with pytest.raises(BadInputError) as caught:
        read_equal(made(**changes))
    assert field in str(caught.value)


@pytest.mark.parametrize(
    ("world", "problem"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def seed(version): return 'x'", "seed"),
        (f"def files(version): open('a', 'w').write('x' * {BYTES + 1})", "50,001 bytes"),
    ],
)
def test_a_world_that_cannot_be_made_is_refused_with_what_its_program_said(
    made, tmp_path, world, problem
):
    (pair,) = read_equal(made(world))
    work = tmp_path / "work"
    work.mkdir()
    with pytest.raises(BadInputError, match=problem):
        make_world(pair.world, "crashing", work, dict(os.environ))


def test_committed_pairs_are_of_equal_code_with_both_outcomes_and_as_when_split(repository):
    folder = repository / "data/equal_notebooks"
    pairs = read_equal(folder)
    parts = Counter(read_parts(folder, pairs).values())
    assert len(pairs) >= 80
    assert abs(parts["development"] - parts["test"]) <= 2
    table = read_observed(folder / OBSERVED)
    outcome = {(row["pair"], row["version"]): row["crash"] for row in table.iter_rows(named=True)}
    for pair in pairs:
        crashing, mended = pair.executions
        assert crashing.notebook is mended.notebook
        assert (outcome[pair.card.pair, "crashing"], outcome[pair.card.pair, "mended"]) == (
            True,
            False,
        )
        for cell in pair.notebook.cells:
            assert not cell.is_code or ast.parse(cell.source)
    # a summary of what decides is nothing without the rest: a fifth is of what none holds
    assert 0.15 <= sum(not pair.card.held for pair in pairs) / len(pairs) <= 0.25


@pytest.mark.system
def test_a_kernel_is_placed_in_its_world(made, tmp_path):
    pytest.importorskip("jupyter_client")
    pytest.importorskip("torch")
    pytest.importorskip("time_machine")
    from failbench.notebooks.kernel import forge
    from failbench.notebooks.recorder import MEMORY

    (pair,) = read_equal(made())
    seen = []
    with forge(limit=60, memory=MEMORY, cache=tmp_path / "cache") as kernels:
        for version in ("crashing", "crashing", "mended"):
            with kernels.kernel(pair.world, version) as kernel:
                assert kernel.execute(CODE) is None
                names = json.loads(kernel.summary(["known"], {}))["names"]
                seen.append(names["known"]["value"]["first"])
    assert seen[0] == seen[1]
    assert (seen[0][:3], seen[2][:3]) == (
        ["1", "crashing", "2024-02-29"],
        ["2", "mended", "2024-02-29"],
    )
    assert seen[0][3:] == seen[2][3:]  # the generators begin where both say


@pytest.mark.system
def test_pairs_recorded_again_are_what_is_committed(repository, tmp_path, monkeypatch):
    pytest.importorskip("jupyter_client")
    pytest.importorskip("torch")
    monkeypatch.chdir(repository)
    pairs = read_equal(repository / "data/equal_notebooks")
    again = [each.card.pair for each in pairs if each.card.differs_by != "file"][:4]
    assert main(["notebooks", "--equal", "--only", *again, "--output", str(tmp_path)]) == 0
    columns = ["pair", "version", "crash", "ename", "evalue", "line", "summary"]
    now = read_observed(tmp_path / OBSERVED).select(columns)
    known = read_observed(repository / "data/equal_notebooks" / OBSERVED).select(columns)
    assert now.equals(known.join(now, ["pair", "version"], "semi").sort("pair", "version"))
