"""The list of published bugs is whole; what is stored of each shows its fault, and no twin does."""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from failbench.base.errors import BadInputError
from failbench.monitor.records.tables import histories, read_monitored
from failbench.neighbours.outside_list.bugs import BUGS, read_bugs

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


@pytest.fixture
def written(tmp_path):
    """Writes rows as the file of the list."""

    def write(*rows):
        path = tmp_path / "bugs.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ROW)
            writer.writeheader()
            writer.writerows(rows)
        return path

    return write


@pytest.fixture(scope="module")
def bugs(repository):
    return read_bugs(repository / "data/outside" / BUGS)


def test_at_least_twelve_are_recreated_and_every_other_says_why_not(bugs):
    left_out = Counter(bool(bug.left_out) for bug in bugs)
    assert left_out[False] >= 12
    assert all(bug.is_recreated != bool(bug.left_out) for bug in bugs)


def test_every_recreated_bug_has_a_program_and_every_program_a_bug(bugs):
    for library in ("torch", "transformers", "accelerate"):
        pytest.importorskip(library)
    from failbench.neighbours.outside_list.bugs import programs

    assert set(programs()) == {bug.id for bug in bugs if bug.is_recreated}


@pytest.mark.parametrize(
    "change",
    [
        {"component": "weather"},
        {"left_out": "it needs a GPU"},
        {"onset": ""},
        {"ranks": "-1"},
        {"id": ""},
    ],
)
def test_a_row_that_says_half_of_something_is_refused_with_its_line(written, change):
    with pytest.raises(BadInputError, match="line 2"):
        read_bugs(written(ROW | change))


def test_a_bug_that_stands_twice_is_refused(written):
    with pytest.raises(BadInputError, match="line 3: id: 'library-1' is there twice"):
        read_bugs(written(ROW, ROW))


@pytest.fixture(scope="module")
def stored(repository):
    monitored = read_monitored(repository / "data/outside")
    return {run["run_id"]: history for run, history in histories(monitored)}


def both(stored, bug, signal, rank=0):
    """A signal of a faulty run and of its twin."""
    names = (f"{bug}_{state}_{rank}" for state in ("faulty", "healthy"))
    return tuple(stored[name].series(signal)[1] for name in names)


@pytest.mark.parametrize("bug", ["pytorch-forum-84911", "mmpretrain-702"])
def test_other_weights_are_trained(stored, bug):
    faulty, healthy = both(stored, bug, "trainable_parameters")
    assert set(faulty).isdisjoint(healthy)


def test_each_second_batch_is_the_one_before_it_and_a_batch_is_one_row(stored):
    faulty, healthy = both(stored, "transformers-34204", "rows")
    assert (set(faulty), set(healthy)) == ({1}, {8})
    faulty, healthy = both(stored, "stackoverflow-67180955", "repeated_batch")
    assert faulty[1::2].all()
    assert not faulty[::2].any()
    assert not healthy.any()


def test_the_first_evaluation_is_far_off_and_later_ones_are_not(stored):
    faulty, healthy = both(stored, "pytorch-51800", "evaluation_loss")
    assert faulty[0] > 2 * healthy[0]
    assert faulty[-1] < 1.1 * healthy[-1]


def test_lost_activations_slow_learning_down(stored):
    faulty, healthy = both(stored, "baichuan2-86", "loss")
    assert faulty[0] == healthy[0]
    assert faulty[-10:].mean() > 1.1 * healthy[-10:].mean()


def test_single_precision_computes_other_losses_from_the_first_step_on(stored):
    faulty, healthy = both(stored, "lightning-thunder-725", "loss")
    assert faulty[0] != healthy[0]
    assert faulty[0] == pytest.approx(healthy[0], rel=1e-2)


def test_attention_drops_at_random_in_evaluation(stored):
    faulty, healthy = both(stored, "transformers-33844", "probe_determinism")
    assert faulty.all()
    assert not healthy.any()


def test_more_than_the_ranks_parts_drifts_apart(stored):
    faulty, healthy = both(stored, "deepspeed-1801", "ranks_disagree")
    assert faulty.min() > healthy.max() > 0


def test_the_compiled_step_leaves_out_a_block_after_its_freezing(stored):
    faulty, healthy = both(stored, "pytorch-115607", "weights_kept")
    assert set(faulty) == {0, 12}
    assert set(healthy) == {0}
