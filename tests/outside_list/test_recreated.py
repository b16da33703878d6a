"""What is stored of a re-created bug shows its fault, alarm or not, and that of its twin none."""

from __future__ import annotations

import pytest

from failbench.monitor.records.tables import histories, read_monitored


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


def test_each_second_batch_is_the_one_before_it(stored):
    faulty, healthy = both(stored, "stackoverflow-67180955", "repeated_batch")
    assert faulty[1::2].all()
    assert not faulty[::2].any()
    assert not healthy.any()


def test_a_batch_is_one_row(stored):
    faulty, healthy = both(stored, "transformers-34204", "rows")
    assert set(faulty) == {1}
    assert set(healthy) == {8}


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
