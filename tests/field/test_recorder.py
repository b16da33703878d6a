"""Programs of the field are run, ended, kept and held against their cards."""

import json
from itertools import product
from pathlib import Path

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.field import recorder
from failbench.field.corpus import NUMBERS, RECORDED, TABLE, nearest_of_others, publish
from failbench.field.programs import Shown, missing_from, read_programs
from failbench.field.recorder import CONSOLE, Recording, problems, record, wanted_runs

REPOSITORY = Path(__file__).parents[2]
HEAD = """
import argparse, os, signal, sys, time
sys.modules["transformers"] = None  # it takes seconds, and the helper does without
from field_record import logged
parser = argparse.ArgumentParser()
parser.add_argument("--healthy", action="store_true")
parser.add_argument("--seed", type=int, default=0)
args = parser.parse_args()
for step in range(8):
    loss = 2.0 if not args.healthy else 2.0 / (step + 1 + args.seed)
    print(f"step {step} loss {loss:.4f}")
    logged(step, loss=round(loss, 4))
"""
CARD = {
    "author": "author_1", "library": "torch", "task": "x", "cause": "The loss is fixed.",
    "category": "model_software", "kind": "curves", "ending": {"how": "completed", "error": None},
    "symptom": {"metric": "loss", "is": "constant", "bound": None, "beside": None},
    "healthy": {"metric": "loss", "is": "ends_below", "bound": 1.0}, "met_by": [],
}  # fmt: skip
ENDINGS = {
    "completed": ("", None),
    "exception": ("if not args.healthy: {}['lost']", "KeyError"),
    "killed": ("if not args.healthy: os.kill(os.getpid(), signal.SIGKILL)", None),
    "exit": ("if not args.healthy: sys.exit(3)", None),
    "timeout": ("if not args.healthy: time.sleep(60)", None),
}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """A function that writes a program, records it, and says what is not as its card says."""
    monkeypatch.setattr(recorder, "PRELOADED", {"torch": ("json",)})
    (tmp_path / "brief").mkdir()
    helper = REPOSITORY / "data/field/brief/field_record.py"
    (tmp_path / "brief/field_record.py").write_bytes(helper.read_bytes())

    def make(name="flat", code="", **changed):
        folder = tmp_path / f"development/author_1/{name}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "program.py").write_text(HEAD + code)
        (folder / "card.json").write_text(json.dumps({**CARD, "id": name, **changed}))
        recording = Recording(tmp_path, tmp_path / "work", seconds=8.0)
        programs = read_programs(tmp_path, "development")
        shown = []
        record(recording, wanted_runs(programs), 2, lambda *counts: shown.append(counts))
        return recording, programs, shown

    return make


@pytest.mark.parametrize("how", ENDINGS)
def test_a_program_ends_as_it_does_and_its_twin_learns(recorded, how):
    code, error = ENDINGS[how]
    recording, (program,), _ = recorded(code=code, ending={"how": how, "error": error})
    assert recording.ended(program, "run").how == how
    assert recording.ended(program, "healthy").how == "completed"
    assert problems(recording, program) == []
    assert recording.series(program, "healthy")["loss"][:3] == [2.0, 1.0, 0.6667]
    assert recording.series(program, "other_seed")["loss"][:2] == [1.0, 0.6667]


def test_a_console_is_what_a_person_sees_without_this_machine(recorded):
    recording, (program,), _ = recorded(code=ENDINGS["exception"][0])
    console = (recording.folder(program, "run") / CONSOLE).read_text()
    place = 'Traceback (most recent call last):\n  File "/home/user/train/program.py", line'
    assert place in console
    assert console.endswith("KeyError: 'lost'\n")
    assert "warm.py" not in console
    assert console.startswith("step 0 loss 2.0000\nstep 1")


def test_a_bar_that_returns_to_the_beginning_of_its_line_is_kept(recorded):
    recording, (program,), _ = recorded(code="print('10 %|\\r20 %|')")
    console = (recording.folder(program, "run") / CONSOLE).read_bytes()
    assert console.endswith(b"10 %|\r20 %|\n")


def test_what_is_known_is_not_run_again_and_what_was_changed_is(recorded):
    assert recorded()[2][0] == (0, 3)
    assert recorded()[2] == [(3, 3)]
    assert recorded(code="\n")[2][0] == (0, 3)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"ending": {"how": "killed", "error": None}}, "ends as completed, not killed"),
        ({"ending": {"how": "completed", "error": "OSError"}}, "OSError is not in the console"),
        ({"healthy": {"metric": "loss", "is": "ends_below", "bound": 0.1}}, "healthy: loss is not"),
        ({"healthy": {"metric": "reward", "is": "ends_above", "bound": 0.1}}, "no value of reward"),
        (
            {"symptom": {"metric": "loss", "is": "ends_above", "bound": 0.1}},
            "the healthy twin has the symptom, too",
        ),
    ],
)
def test_a_card_that_says_something_else_is_told(recorded, changed, told):
    recording, (program,), _ = recorded(**changed)
    assert told in "; ".join(problems(recording, program))


def test_a_published_part_has_its_consoles_and_the_values_that_were_logged(recorded):
    recorded(name="sharp")
    recording, programs, _ = recorded()
    runs = wanted_runs(programs)
    publish(recording, "development", runs)
    for program, run in product(programs, ("run", "healthy")):
        assert (program.folder / run / CONSOLE).read_text().startswith("step 0")
    numbers = TABLE.read(recording.data / "development" / NUMBERS)
    flat = numbers.filter(program="author_1/flat", run="run")
    assert flat.select("name", "step", "value").rows() == [("loss", at, 2.0) for at in range(8)]
    table = pl.read_csv(recording.data / "development" / RECORDED)
    assert table["how"].to_list() == ["completed"] * len(runs)


def test_an_unknown_card_is_refused_with_its_file(recorded):
    with pytest.raises(BadInputError, match=r"card\.json: kind"):
        recorded(kind="odd")


def test_similarity_is_to_programs_of_other_authors(recorded):
    _, (program,), _ = recorded()
    twin = program.__class__(
        program.part, program.folder, program.card.model_copy(update={"author": "author_2"})
    )
    assert nearest_of_others([program])["author_1/flat"] == ("", "0.000")
    assert nearest_of_others([program, twin])["author_1/flat"] == ("author_2/flat", "1.000")


RISING, NAN = [0.1, 0.2, 0.5, 0.9], [1.0, float("nan")]


@pytest.mark.parametrize(
    ("values", "said", "shows"),
    [
        (NAN, {"shape": "nan"}, True), ([1.0, 2.0], {"shape": "nan"}, False),
        ([2.00004] * 2 + [2.00001], {"shape": "constant"}, True),
        ([2.0, 2.0], {"shape": "constant"}, False), (RISING, {"shape": "constant"}, False),
        ([0.0] * 3, {"shape": "zero"}, True), ([0.0, 0.0, 1e-9], {"shape": "zero"}, False),
        (RISING, {"shape": "not_below", "bound": 0.9}, True),
        (RISING, {"shape": "not_below", "bound": 0.91}, False),
        (RISING, {"shape": "not_above", "bound": 0.9}, True),
        (RISING, {"shape": "rises", "bound": 0.7}, True),
        (RISING, {"shape": "rises", "bound": 0.8}, False),
        ([1.0, -0.1], {"shape": "below_zero"}, True), ([0.0], {"shape": "below_zero"}, False),
        (RISING, {"shape": "gap", "bound": 0.5, "beside": "other"}, True),
        (RISING, {"shape": "gap", "bound": 0.7, "beside": "other"}, False),
        (RISING, {"shape": "ends_below", "bound": 0.9}, False),
        (RISING, {"shape": "ends_above", "bound": 0.8}, True),
    ],
)  # fmt: skip
def test_a_shape_is_what_the_brief_says(values, said, shows):
    series = {"loss": values, "other": [0.0, 0.1, 0.2, 0.3]}
    assert (missing_from(series, Shown(metric="loss", **said)) is None) == shows
