"""Ranks compare their weights, and never wait for one another to do so."""

import json

import pytest
import torch
from torch import distributed

from failbench.monitor import Monitor, read_history
from failbench.monitor.ranks import checksums
from made_up_training import Texts, Tiny, cross_entropy

pytestmark = [
    pytest.mark.system,
    pytest.mark.skipif(
        not (distributed.is_available() and distributed.is_gloo_available()),
        reason="processes speak to one another by gloo",
    ),
]
STEPS, EVERY = 13, 4


def train(rank, folder, monitored, together):
    """What each rank does; without ``together`` gradients are not averaged."""
    torch.set_num_threads(1)
    store = f"file://{folder}/store"
    distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2)
    torch.manual_seed(0)
    model = Tiny(dropout=0)
    parallel = torch.nn.parallel.DistributedDataParallel(model)
    called = parallel if together else model
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = Monitor(folder / str(rank), every=EVERY) if rank in monitored else None
    if monitor is not None:
        monitor.watch(called, optimizer)
    losses = []
    for rows in Texts().rows.view(-1, 2, 4, 13)[:STEPS, rank]:
        logits = called(rows[:, :-1])
        loss = cross_entropy(logits, rows[:, 1:])
        if monitor is not None:
            monitor.loss(logits, rows[:, 1:], loss)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
        distributed.barrier()
    if monitor is not None:
        monitor.close()
    (folder / f"{rank}.json").write_text(json.dumps(losses))
    distributed.destroy_process_group()


@pytest.fixture
def run(tmp_path):
    def ranks(monitored, together=True):
        folder = tmp_path / f"{monitored} {together}"
        folder.mkdir()
        torch.multiprocessing.spawn(train, (folder, monitored, together), nprocs=2)
        losses = [json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)]
        return losses, [read_history(folder / str(rank)) for rank in monitored]

    return ranks


def test_ranks_that_train_together_agree_and_those_that_drift_apart_are_seen(run):
    losses, together = run((0, 1))
    assert losses == run(())[0], "a monitor changes nothing"
    for histories, apart in ((together, False), (run((0, 1), together=False)[1], True)):
        for history in histories:
            steps, disagreeing = history.series("ranks_disagree")
            assert list(steps) == [4, 8]
            assert list(disagreeing > 0) == [apart] * 2


def test_a_rank_without_a_monitor_blocks_none(run):
    _, (history,) = run((0,))
    assert history.end.kind == "completed"
    assert list(history.series("ranks_disagree")[0]) == []


def test_a_checksum_sees_every_bit():
    for kind in (torch.float64, torch.float32, torch.bfloat16, torch.float16):
        values = torch.randn(5, 7, generator=torch.Generator().manual_seed(0)).to(kind)
        changed = values.clone()
        changed[3, 2] = torch.nextafter(changed[3, 2].float(), torch.tensor(9.0)).to(kind) + 1
        first, again, other = checksums([values, values.clone(), changed])
        assert first == again != other
    assert checksums([]) == []
