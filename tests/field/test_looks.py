"""A part of the field is scored in totals that name nothing, and each look at ``test`` counts."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

from failbench.base.params import PARAMS
from failbench.cli.main import main
from failbench.diagnose.readers.records import log_of_history
from failbench.diagnose.readers.text import read_text
from failbench.field import looks
from failbench.field.programs import read_programs
from failbench.field.recorder import wanted_runs
from failbench.statistics.intervals import ScenarioIntervalSettings
from failbench.statistics.settings import read_statistics
from made_up_monitored import history

REPOSITORY = Path(__file__).parents[2]
SECRET = "flamingo"
CRASH = f"""step 1 loss 2.5
Traceback (most recent call last):
  File "/home/user/train/program.py", line 3, in <module>
    {SECRET}()
RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB
"""
FLAT = "".join(f"step {step} loss 2.3026\n" for step in range(40))
FALLING = "".join(f"step {step} loss {2.5 * 0.9**step:.4f}\n" for step in range(40))
CARD = {
    "library": "torch", "task": "x", "cause": SECRET, "symptom": None, "met_by": [],
    "ending": {"how": "completed", "error": None},
    "healthy": {"metric": "loss", "is": "ends_below", "bound": 1.0},
}  # fmt: skip
PROGRAMS = {
    "memory": ("exception", "memory_hardware", CRASH),
    "flat": ("curves", "optimization", FLAT),
    "odd": ("oddity", None, FALLING),
}


def write_part(folder):
    """Programs that were recorded as their cards say, each with what it printed."""
    for name, (kind, category, console) in PROGRAMS.items():
        place = folder / "author_9" / name
        place.mkdir(parents=True)
        (place / "program.py").write_text(f"# {SECRET} {name}\n")
        card = {**CARD, "id": name, "author": "author_9", "kind": kind, "category": category}
        (place / "card.json").write_text(json.dumps(card))
        for run in ("run", "healthy", "other_seed"):
            (place / run).mkdir()
            (place / run / "console.txt").write_text(console if run == "run" else FALLING)
    programs = read_programs(folder.parent, folder.name)
    with (folder / "recorded.csv").open("w") as file:
        rows = csv.writer(file)
        names = "program,run,how,seconds,fingerprint,problems,nearest,similarity"
        rows.writerow(names.split(","))
        for program, run in wanted_runs(programs):
            facts = (program.name, run, "completed", 1.0, program.fingerprint, "", "", "")
            rows.writerow(facts)
    of = "program,category_1,cause_1,category_2,cause_2\n"
    for name, cause in (("memory", "batch_exceeds_memory"), ("flat", "none")):
        category = PROGRAMS[name][1]
        of += f"author_9/{name},{category},{cause},{category},{cause}\n"
    (folder / "readers.csv").write_text(of)
    (folder.parent / looks.LOOKS).write_text("look,date,commit\n")
    looks.TABLE.write(folder / "answers.parquet", [])


def git(*arguments):
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def commit():
    git("add", "--all")
    git("commit", "--quiet", "--message", "x")


@pytest.fixture
def part(tmp_path, monkeypatch):
    """The folder of a part ``test`` in a repository of its own, which is where it is scored."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(REPOSITORY / PARAMS, PARAMS)
    folder = Path("data/field/test")
    write_part(folder)
    git("init", "--quiet")
    commit()
    return folder


def test_totals_name_no_program_and_quote_no_log(part, capsys):
    assert main(["field", "--score", "test"]) == 0
    said = capsys.readouterr().out
    assert "Category right of exceptions" in said
    assert not any(word in said for word in (SECRET, "author_9", "memory", "flat"))
    kept = pl.read_parquet(part / "answers.parquet")
    assert SECRET not in str(kept.to_dicts())
    assert set(kept["look"]) == {1}
    asked = kept.filter(program="author_9/memory", run="run")["asked"].to_list()
    assert asked == ["against", "told", "untold"]  # a crash is no fault that numbers alone show


def test_looks_are_counted_and_one_more_than_allowed_is_refused(part, capsys):
    for number in (1, 2, 3):
        assert main(["field", "--score", "test"]) == 0
        table = pl.read_csv(part.parent / looks.LOOKS)
        assert table["look"].to_list() == [*range(1, number + 1)]
        commit()
    assert len(set(table["commit"])) == looks.ALLOWED == 3
    assert (table["programs"][0], table["runs"][0]) == (3, 7)
    assert set(looks.TABLE.read(part / "answers.parquet")["look"]) == {1, 2, 3}
    capsys.readouterr()
    assert main(["field", "--score", "test"]) == 2
    assert "was looked at 3 times" in capsys.readouterr().err


def test_a_watched_run_is_asked_about_alone_and_beside_its_console():
    console = read_text("console.txt", [FLAT.encode()])
    watched = log_of_history("monitor", history())
    found = dict(looks.asked_of(console, None, watched, fails=True, in_curves=True))
    assert [*found] == [
        "told", "untold", "numbers", "monitor, untold", "monitor",
        "console and monitor, untold", "console and monitor",
    ]  # fmt: skip
    sources = [source.format for source in found["console and monitor"].log.sources]
    assert sources == [console.sources[0].format, "monitor"]
    assert found["monitor"].log.sources == watched.sources
    without = looks.asked_of(console, None, None, fails=False, in_curves=False)
    assert [name for name, _ in without] == ["untold"]


def test_what_is_not_committed_has_no_look(part, capsys):
    Path(PARAMS).write_text(Path(PARAMS).read_text() + "\n")
    assert main(["field", "--score", "test"]) == 2
    assert "the working tree has changes" in capsys.readouterr().err
    assert looks.read_looks(part.parent).is_empty()


@pytest.mark.parametrize("change", ["program", "console", "reading"])
def test_a_part_that_is_not_whole_has_no_look_and_its_program_stays_unnamed(part, capsys, change):
    if change == "program":
        (part / "author_9/flat/program.py").write_text("changed")
    elif change == "console":
        (part / "author_9/odd/run/console.txt").unlink()
    else:
        text = (part / "readers.csv").read_text()
        (part / "readers.csv").write_text("\n".join(text.splitlines()[:2]))
    commit()
    assert main(["field", "--score", "test"]) == 2
    said = capsys.readouterr().err
    assert "lacks " in said
    assert "flat" not in said
    assert "odd" not in said


def test_development_is_scored_without_a_look(part, capsys):
    shutil.copytree(part, part.parent / "development")
    assert main(["field", "--score", "development"]) == 0
    assert "have learnt from these programs" in capsys.readouterr().out
    assert looks.read_looks(part.parent).is_empty()


def answer(**facts):
    row = {
        "look": 1, "program": "p", "run": "run", "kind": "exception", "category": "optimization",
        "cause": "overfitting", "asked": "told", "status": "failed", "prediction": "optimization",
        "likeliest": "optimization", "level": "high", "causes": ["overfitting"], "found": True,
    }  # fmt: skip
    return row | facts


def test_totals_are_shares_of_what_they_say():
    healthy = {"category": None, "cause": None, "asked": "untold", "status": "healthy"}
    answers = pl.DataFrame(
        [
            answer(program="a"),
            answer(program="b", prediction="abstain", level="low", causes=["x", "overfitting"]),
            answer(program="c", kind="curves", cause=None, prediction="unknown", causes=[]),
            answer(program="c", kind="curves", cause=None, asked="untold", status="healthy"),
            answer(program="d", run="healthy", **healthy, found=False),
            answer(program="d", run="other_seed", **healthy | {"status": "failed"}),
            answer(program="e", run="run", **healthy, found=False),
        ],
        looks.TABLE.schema,
    )
    totals = looks.totals_of(answers, read_statistics(ScenarioIntervalSettings))
    found = {row["metric"]: (round(row["value"], 3), row["n"]) for row in totals.to_dicts()}
    assert found == {
        "accuracy": (0.333, 3),  # an abstention is wrong
        "exception": (0.5, 2),
        "curves": (0.0, 1),
        "likeliest": (1.0, 3),
        "named": (0.667, 3),
        "high": (0.5, 2),
        "cause": (0.5, 2),  # of those with an id
        "cause_of_three": (1.0, 2),
        "cause_said": (0.5, 2),
        "silent": (1.0, 1),
        "healthy_failed": (0.25, 2),  # a program weighs one, however many runs it has
        "healthy_found": (0.25, 2),
        "untold": (1.0, 1),
    }


def test_numbers_alone_hold_no_word_of_a_log():
    log = read_text("train.log", [CRASH.encode()])
    assert log.events
    bare = looks.without_words(log)
    assert (bare.events, bare.words) == ((), "")
    assert len(bare.rows) == len(log.rows) == 1


def test_committed_totals_are_what_the_answers_of_each_look_come_to():
    data = REPOSITORY / "data/field"
    told = pl.read_csv(data / looks.LOOKS).to_dicts()
    answers = looks.TABLE.read(data / "test" / looks.ANSWERS)
    assert sorted(answers["look"].unique()) == [row["look"] for row in told]
    totals = looks.totals_of(answers, read_statistics(ScenarioIntervalSettings))
    for row in totals.to_dicts():
        (look,) = (each for each in told if each["look"] == row["look"])
        # a look has no total of what was not yet counted when it was taken
        kept = look.get(row["metric"])
        assert kept is None or kept == pytest.approx(row["value"], abs=1e-6), row["metric"]
