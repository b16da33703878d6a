"""Which rank departed is told from the logs of all: by real runs, and by logs of three ranks."""

import json
import time
from dataclasses import replace

import pytest

from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.diagnose.rank_departures import (
    aligned,
    departures,
    fit_rank_bounds,
    packaged_rank_bounds,
    rank_signals,
)
from failbench.diagnose.ranks import diagnose_ranks, rank_folders, rank_signs, read_ranks
from failbench.monitor.end import End
from failbench.monitor.history import History, Row
from failbench.monitor.signals import SIGNAL_NAMES

STEPS, ONSET, EVERY = 60, 30, 5
COMPLETED = End("completed", "callback", 99)
LOST = End(
    "exception", "step", 50, "RuntimeError",
    "[../third_party/gloo/gloo/transport/tcp/pair.cc:537] Connection closed by peer [127.0.0.1]:1",
)  # fmt: skip
WAITED = replace(
    LOST, message="[gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 8000ms for recv"
)


def train(rank, folder, fault, guilty):
    """What each rank does: a plain loop under DDP, in which one rank may go wrong."""
    import torch
    from torch import distributed

    from failbench.monitor import Monitor, Vocabulary
    from made_up_training import TOKENS, Texts, Tiny, cross_entropy

    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2
    )
    torch.manual_seed(0)
    model = Tiny()
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    torch.manual_seed(rank)
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
    rows = Texts(2 * 4 * STEPS).rows.view(-1, 2, 4, 13)

    def batches():
        for step in range(STEPS):
            if fault == "sleeps" and rank == guilty and step >= ONSET:
                time.sleep(0.1)
            yield rows[step, rank]

    vocabulary = Vocabulary(TOKENS, padding=0, unknown=1)
    with Monitor(folder / f"rank{rank}", every=EVERY, vocabulary=vocabulary) as monitor:
        monitor.watch(parallel, optimizer)
        for step, batch in enumerate(monitor.data(batches())):
            logits, labels = parallel(batch[:, :-1]), batch[:, 1:]
            loss = monitor.loss(logits, labels, cross_entropy(logits, labels))
            loss.backward()
            if fault == "clips" and rank == guilty and step >= ONSET:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)
            optimizer.step()
            optimizer.zero_grad()
    distributed.destroy_process_group()


@pytest.fixture
def trained(tmp_path):
    torch = pytest.importorskip("torch")
    if not torch.distributed.is_gloo_available():
        pytest.skip("processes speak to one another by gloo")

    def ranks(fault, guilty=1):
        torch.multiprocessing.spawn(train, (tmp_path, fault, guilty), nprocs=2)
        return tmp_path

    return ranks


@pytest.mark.system
def test_of_a_healthy_run_no_rank_departs(trained, capsys):
    folder = trained("none")
    answer = diagnose_ranks(read_ranks(folder))
    assert (answer.status, answer.rank, answer.evidence) == ("none", None, ())
    assert main(["diagnose", str(folder)]) == 0
    assert "No rank departs" in capsys.readouterr().out


@pytest.mark.system
@pytest.mark.parametrize("guilty", [0, 1])
def test_the_rank_that_sleeps_is_named_and_not_the_one_that_waits(trained, guilty, capsys):
    folder = trained("sleeps", guilty)
    answer = diagnose_ranks(read_ranks(folder))
    assert (answer.status, answer.rank) == ("departed", guilty)
    assert ONSET <= answer.step <= ONSET + EVERY
    assert main(["diagnose", str(folder), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["ranks"]["rank"], said["ranks"]["category"]) == (guilty, answer.category)
    assert {each["kind"] for each in said["diagnosis"]["root_causes"][0]["evidence"]} >= {"rank"}


@pytest.mark.system
def test_the_rank_that_clips_by_itself_is_named_with_its_category(trained):
    answer = diagnose_ranks(read_ranks(trained("clips", 0)))
    assert (answer.rank, answer.category) == (0, "optimization")
    assert answer.evidence[0].sign == "gradients_clipped"


def history(signals, end=COMPLETED, steps=100):
    """A log of checks whose signals are given as functions of the step, or as numbers."""
    rows = tuple(
        Row(step, {name: float(v(step) if callable(v) else v) for name, v in signals.items()})
        for step in range(0, min(steps, end.step + 1), 5)
    )
    return History("standard", 5, {}, {}, rows, end)


def wave(rank):
    """A loss that differs between ranks as batches do."""
    return lambda step: 2.0 + 0.05 * ((7 * step + 13 * rank) % 10)


def of_three(**odd):
    """Three ranks of which the second may be odd in some signals."""
    alike = {"gradient_norm": lambda step: 1 + 0.01 * (step % 7), "weight_gain": 1.0}
    return {
        rank: history({**alike, "loss": wave(rank), **(odd if rank == 1 else {})})
        for rank in range(3)
    }


def test_of_three_ranks_the_one_that_differs_from_the_others_is_odd():
    assert diagnose_ranks(of_three()).rank is None
    parted = diagnose_ranks(of_three(weight_gain=lambda step: 1 + 0.001 * (step >= 50)))
    assert (parted.rank, parted.step) == (1, 50)
    unlike = diagnose_ranks(of_three(loss=lambda step: wave(1)(step) * (8 if step >= 40 else 1)))
    assert (unlike.rank, unlike.step, unlike.category) == (1, 40, "data_pipeline")


def test_a_rank_that_is_set_back_has_moved_and_not_the_one_that_goes_on():
    gains = (lambda step: 1 + step / 100, lambda step: 1 + (step if step < 50 else 30) / 100)
    ranks = {rank: history({"weight_gain": gain}) for rank, gain in enumerate(gains)}
    assert diagnose_ranks(ranks).rank == 1


@pytest.mark.parametrize(
    ("ends", "rank", "sign"),
    [
        ((LOST, End("killed", "data", 50)), 1, "lost"),
        ((End("killed", "data", 50), WAITED), 0, "stuck_in_data"),
        ((LOST, End("exception", "forward", 50, "ValueError", "a shape")), 1, "own_error"),
        ((LOST, End("completed", "callback", 45)), 1, "left_early"),
        ((LOST, End("completed", "callback", 50)), 1, "left_ahead"),
        ((End("hung", "step", 50), End("hung", "loss", 50)), 1, "stuck_elsewhere"),
        ((COMPLETED, COMPLETED), None, None),
        ((End("exception", "loss", 50, "ValueError", "a shape"),) * 2, None, None),
    ],
)
def test_the_victim_of_an_end_is_not_the_rank_that_departed(ends, rank, sign):
    ranks = {place: history({"weight_gain": 1.0}, end) for place, end in enumerate(ends)}
    answer = diagnose_ranks(ranks)
    assert answer.rank == rank
    assert [each.sign for each in answer.evidence] == ([] if sign is None else [sign])


def test_the_part_of_a_step_in_which_a_rank_died_is_not_compared():
    died = End("exception", "loss", 50, "ValueError", "a shape")
    half = history({"backwards": lambda step: step < 50}, died)
    ranks = {0: history({"backwards": 1.0}, LOST), 1: half}
    assert list(aligned(ranks, "backwards").steps) == list(range(0, 50, 5))


def test_ranks_that_read_the_same_batches_share_the_cause():
    ranks = {rank: history({"loss": wave(0), "token_surprise": wave(0)}) for rank in range(2)}
    answer = diagnose_ranks(ranks)
    assert (answer.status, answer.rank, answer.category) == ("shared", None, "data_pipeline")


def test_bounds_are_of_healthy_runs_and_hold_them():
    quiet, noisy = (
        [{r: history({"loss": lambda s, r=r, k=k: 2 + k * wave(r)(s)}) for r in range(2)}] * 2
        for k in (0.1, 1.0)
    )
    bounds = fit_rank_bounds({"quiet": quiet, "noisy": noisy}, (1.0, 4.0), "two settings")
    assert "loss" in bounds.values
    assert [departures(run, bounds) for run in (*quiet, *noisy)] == [[]] * 4


def test_what_jumps_from_side_to_side_does_not_last():
    bounds = packaged_rank_bounds()
    jumps = [{r: history({"loss": lambda s, r=r: 2 + 6 * ((s // 5 + r) % 2)}) for r in range(2)}]
    jumps += [{r: history({"loss": wave(r) if r else 9.0}) for r in range(2)}]
    assert [bool(departures(run, bounds)) for run in jumps] == [False, True]


def test_every_signal_and_sign_that_is_declared_is_known():
    known = {name for each in rank_signals() for name in each.signal.split("+")}
    assert known <= set(SIGNAL_NAMES)
    assert {each.sign for each in rank_signals()} <= set(rank_signs())
    alike = {each.signal for each in rank_signals() if each.kind == "alike"}
    assert {*packaged_rank_bounds().values, *packaged_rank_bounds().starts} <= alike


def test_a_folder_of_one_rank_is_none_of_several(tmp_path):
    for name in ("rank0", "rank-1", "notes"):
        (tmp_path / name).mkdir()
    (tmp_path / "rank0" / "signals.jsonl").touch()
    assert rank_folders(tmp_path) == {}
    with pytest.raises(BadInputError, match="contains no logs of several ranks"):
        read_ranks(tmp_path)
    (tmp_path / "rank-1" / "signals.jsonl").touch()
    assert sorted(rank_folders(tmp_path)) == [0, 1]
