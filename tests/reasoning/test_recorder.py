import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from failbench.cli.reasoning import reasoning
from failbench.reasoning.conditions import read_declared
from failbench.reasoning.recorder import Folders, missing, record, record_model
from failbench.reasoning.traces import MODELS, TRACES, read_models, read_traces

DECLARED = {
    "grid.csv": """task,length,depth,trained
arithmetic,2,1,yes
brackets,4,1,yes
paths,2,1,yes
paths,3,1,no
""",
    "conditions.csv": """\
condition,tokenizer,prompt_tokenizer,steps,rate,context,is_causal,shuffled,looped,what
healthy,char,char,1,1,60,yes,0,0,nothing
mismatch,char,reordered,1,1,60,yes,0,0,another order
short,char,char,1,1,12,yes,0,0,examples are cut
""",
    "tokenizers.csv": """name,kind,order,text,size
char,characters,code,all,75
reordered,characters,frequency,all,75
""",
}
SMALLER = {
    "shape": {"width": 8, "layers": 1, "heads": 2},
    "batch": 4,
    "steps": 6,
    "warmup": 2,
    "budget": 8,
    "items": 3,
    "seeds": [1],
}


@pytest.fixture
def folders(tmp_path, folder):
    data = tmp_path / "data"
    data.mkdir()
    for name, text in DECLARED.items():
        (data / name).write_text(text, encoding="utf-8")
    settings = json.loads((folder / "settings.json").read_text("utf-8")) | SMALLER
    (data / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
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


def contents(folders):
    return [(folders.data / name).read_bytes() for name in (TRACES, MODELS)]


def test_every_model_answers_every_problem_and_a_second_recording_does_nothing(
    folders, one_process
):
    assert len(names(folders)) == 3
    assert [progress.done for progress in record(folders)] == [1, 2, 3]
    traces = read_traces(folders.data / TRACES)
    assert (traces.height, traces["tokens"].max() <= 8) == (3 * 4 * 3, True)
    assert read_models(folders.data / MODELS)["steps"].to_list() == [6, 6, 6]
    whole = contents(folders)
    assert (names(folders), list(record(folders)), contents(folders)) == ([], [], whole)


def test_an_interrupted_recording_goes_on_and_ends_alike(folders, one_process, tmp_path):
    list(record(folders))
    whole = contents(folders)
    for name in (TRACES, MODELS):
        (folders.data / name).unlink()
    again = Folders(folders.data, tmp_path / "other")
    record_model(again, "short-char-1")  # and then it was killed
    rest = {progress.row["model"] for progress in record(again)}
    assert rest == {"healthy-char-1", "mismatch-char-1"}
    assert contents(folders) == whole


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
