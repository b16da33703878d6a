import csv

import pytest

from failbench.base.errors import BadInputError
from failbench.monitor.records.tables import histories, read_monitored
from failbench.neighbours.outside_list.bugs import read_bugs

ROW = {
    **dict.fromkeys(
        ("published", "title", "root_cause", "reason", "traincheck", "deviations"), "x"
    ),
    "id": "library-1",
    "component": "model_software",
    "ranks": "2",
    "onset": "0",
    "left_out": "",
}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([ROW | {"component": "weather"}], "line 2"),
        ([ROW | {"left_out": "it needs a GPU"}], "line 2"),
        ([ROW | {"onset": ""}], "line 2"),
        ([ROW, ROW], "line 3: id: 'library-1' is there twice"),
    ],
)
def test_a_row_that_says_half_of_something_or_stands_twice_is_refused(tmp_path, rows, words):
    path = tmp_path / "bugs.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ROW)
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(BadInputError, match=words):
        read_bugs(path)


@pytest.fixture(scope="module")
def stored(repository):
    monitored = read_monitored(repository / "data/outside")
    return {run["run_id"]: history for run, history in histories(monitored)}


SHOWN = {
    ("pytorch-forum-84911", "trainable_parameters"): lambda bad, good: set(bad).isdisjoint(good),
    ("mmpretrain-702", "trainable_parameters"): lambda bad, good: set(bad).isdisjoint(good),
    ("transformers-34204", "rows"): lambda bad, good: (set(bad), set(good)) == ({1}, {8}),
    # each second batch is the one before it
    ("stackoverflow-67180955", "repeated_batch"): lambda bad, good: (
        bad[1::2].all() and not bad[::2].any() and not good.any()
    ),
    # the first evaluation is far off, and later ones are not
    ("pytorch-51800", "evaluation_loss"): lambda bad, good: (
        bad[0] > 2 * good[0] and bad[-1] < 1.1 * good[-1]
    ),
    # lost activations slow learning down
    ("baichuan2-86", "loss"): lambda bad, good: (
        bad[0] == good[0] and bad[-10:].mean() > 1.1 * good[-10:].mean()
    ),
    # single precision computes other losses from the first step on
    ("lightning-thunder-725", "loss"): lambda bad, good: (
        bad[0] != good[0] and bad[0] == pytest.approx(good[0], rel=1e-2)
    ),
    # attention drops at random in evaluation
    ("transformers-33844", "probe_determinism"): lambda bad, good: bad.all() and not good.any(),
    # more than the ranks' parts drifts apart
    ("deepspeed-1801", "ranks_disagree"): lambda bad, good: bad.min() > good.max() > 0,
    # the compiled step leaves out a block after its freezing
    ("pytorch-115607", "weights_kept"): lambda bad, good: (set(bad), set(good)) == ({0, 12}, {0}),
}
"""By bug and signal what holds of the faulty run and its twin."""


@pytest.mark.parametrize(("bug", "signal"), SHOWN, ids="-".join)
def test_a_stored_run_shows_its_fault_and_its_twin_does_not(stored, bug, signal):
    names = (f"{bug}_{state}_0" for state in ("faulty", "healthy"))
    faulty, healthy = (stored[name].series(signal)[1] for name in names)
    assert SHOWN[bug, signal](faulty, healthy)
