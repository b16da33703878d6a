"""A recording goes on where it was interrupted, and records again what changed and nothing else."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from failbench.cli.reasoning import reasoning
from failbench.reasoning.declared import read_declared
from failbench.reasoning.recorder import Folders, missing, record, record_model
from failbench.reasoning.traces import MODELS, TRACES, read_models, read_traces

GRID = """task,length,depth,trained
arithmetic,2,1,yes
brackets,4,1,yes
paths,2,1,yes
paths,3,1,no
"""
CONDITIONS = """\
condition,tokenizer,prompt_tokenizer,steps,rate,context,is_causal,shuffled,looped,what
healthy,char,char,1,1,60,yes,0,0,nothing
mismatch,char,reordered,1,1,60,yes,0,0,another order
short,char,char,1,1,12,yes,0,0,examples are cut
"""
TOKENIZERS = """name,kind,order,text,size
char,characters,code,all,75
reordered,characters,frequency,all,75
"""
SETTINGS = {
    "shape": {"width": 8, "layers": 1, "heads": 2},
    "batch": 4,
    "steps": 6,
    "learning_rate": 0.01,
    "warmup": 2,
    "decay": 0.5,
    "weight_decay": 0.0,
    "clip": 1.0,
    "temperature": 0.7,
    "budget": 8,
    "items": 3,
    "problem_seed": 0,
    "seeds": [1],
    "mixture": {"arithmetic": 1, "brackets": 1, "paths": 1},
}


@pytest.fixture
def folders(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "grid.csv").write_text(GRID, encoding="utf-8")
    (data / "conditions.csv").write_text(CONDITIONS, encoding="utf-8")
    (data / "tokenizers.csv").write_text(TOKENIZERS, encoding="utf-8")
    (data / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")
    return Folders(data, tmp_path / "work")


@pytest.fixture
def one_process(monkeypatch):
    """Models are recorded where the test runs: a process more takes seconds to start."""

    monkeypatch.setattr(
        "failbench.reasoning.recorder.ProcessPoolExecutor",
        lambda workers, **_: ThreadPoolExecutor(workers),
    )


def names(folders):
    return [planned.name for planned in missing(read_declared(folders.data), folders.data)]


def test_every_model_answers_every_problem_and_a_second_recording_does_nothing(
    folders, one_process
):
    assert len(names(folders)) == 3
    assert [progress.done for progress in record(folders)] == [1, 2, 3]
    traces = read_traces(folders.data / TRACES)
    assert traces.height == 3 * 4 * 3
    assert traces["tokens"].max() <= 8
    assert read_models(folders.data / MODELS)["steps"].to_list() == [6, 6, 6]
    assert names(folders) == []
    assert list(record(folders)) == []
    assert read_traces(folders.data / TRACES).equals(traces)


def test_an_interrupted_recording_goes_on_and_ends_alike(folders, one_process, tmp_path):
    list(record(folders))
    whole = (folders.data / TRACES).read_bytes(), (folders.data / MODELS).read_bytes()
    for name in (TRACES, MODELS):
        (folders.data / name).unlink()
    again = Folders(folders.data, tmp_path / "other")
    record_model(again, "short-char-1")  # and then it was killed
    rest = {progress.row["model"] for progress in record(again)}
    assert rest == {"healthy-char-1", "mismatch-char-1"}
    assert ((folders.data / TRACES).read_bytes(), (folders.data / MODELS).read_bytes()) == whole


def test_a_changed_condition_is_recorded_again_and_the_others_are_kept(
    folders, one_process, tmp_path
):
    list(record(folders))
    before = read_traces(folders.data / TRACES)
    path = folders.data / "conditions.csv"
    path.write_text(path.read_text("utf-8").replace("1,1,12,yes", "1,1,9,yes"), "utf-8")
    assert names(folders) == ["short-char-1"]
    rows = [progress.row["model"] for progress in record(Folders(folders.data, tmp_path / "other"))]
    assert rows == ["short-char-1"]
    after = read_traces(folders.data / TRACES)
    kept = before["model"] != "short-char-1"
    assert after.filter(kept).equals(before.filter(kept))
    assert names(folders) == []


@pytest.mark.system
def test_the_command_records_with_several_processes(folders):
    assert reasoning(output=folders.data, work=folders.work, workers=2) == 0
    assert read_traces(folders.data / TRACES).height == 36
