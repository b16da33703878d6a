import json
import resource
import subprocess
import sys

import pytest
import torch
from torch import nn

from failbench.preflight.memory import margin
from failbench.preflight.optimizer_memory import state_of
from failbench.preflight.preflight import preflight
from failbench.preflight.tensors import size_of

FACTOR = 1.05
"""Within which the estimate of a step's allocations lies, either way."""

OF_KERNELS = 2.5
"""The same where a kernel takes a workspace of its own, which fake tensors do not have."""

LOSS = nn.CrossEntropyLoss()


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.cell = nn.Embedding(500, 64), nn.LSTM(64, 64, 2, batch_first=True)
        self.head = nn.Linear(64, 500)

    def forward(self, ids):
        return self.head(self.cell(self.embed(ids))[0]).flatten(0, 1)


def perceptron(rows=512):
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 512), nn.Linear(512, 10))
    return model, (torch.randn(rows, 256), torch.zeros(rows).long())


def recurrent():
    return Recurrent(), (torch.zeros(16, 40).long(), torch.zeros(640).long())


def encoder():
    layer = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 3), nn.Flatten(1), nn.Linear(64 * 32, 5))
    return model, (torch.randn(16, 32, 64), torch.zeros(16).long())


def take_step(model, optimizer, batch):
    optimizer.zero_grad()
    LOSS(model(batch[0]), batch[1]).backward()
    optimizer.step()


def allocated(*step):
    """The most that a step allocates beyond what was there, by the profiler's own count."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profile:
        take_step(*step)
    events = profile.profiler.kineto_results.events()
    memory = [each for each in events if each.name() == "[memory]"]
    now = most = 0
    for each in sorted(memory, key=lambda each: each.start_ns()):
        now += each.nbytes()
        most = max(most, now)
    return most


@pytest.mark.parametrize(
    ("build", "factor"), [(perceptron, FACTOR), (encoder, FACTOR), (recurrent, OF_KERNELS)]
)
@pytest.mark.parametrize("kind", [torch.optim.AdamW, torch.optim.SGD])
def test_the_estimate_of_a_step_is_near_what_is_allocated(build, factor, kind):
    model, batch = build()
    optimizer = kind(model.parameters(), lr=0.01)
    memory = preflight(model, optimizer, LOSS, batch).memory
    there = memory.parameters + memory.buffers + memory.batch
    estimated = memory.peak - there
    take_step(model, optimizer, batch)  # the first step makes the optimizer's state
    after = preflight(model, optimizer, LOSS, batch).memory
    stateless = kind is torch.optim.SGD  # without momentum there is nothing to be made
    assert (memory.first, after.first) == (True, stateless)
    assert (memory.peaks, memory.optimizer) == (after.peaks, after.optimizer)
    # of events of one instant a release may be counted first, which makes a peak too small
    measured = max(allocated(model, optimizer, batch) for _ in range(3)) + memory.optimizer
    assert 1 / factor < estimated / measured < FACTOR
    assert memory.optimizer == size_of(state_of(optimizer))


def test_a_step_that_needs_more_than_there_is_will_crash():
    model, batch = perceptron()
    step = model, torch.optim.AdamW(model.parameters()), LOSS, batch
    need = preflight(*step).memory.peak
    crash = preflight(*step, capacity_bytes=need - 1).crash
    assert (crash.id, crash.category) == ("does_not_fit", "memory_hardware")
    report = preflight(*step, capacity_bytes=need)
    assert ([each.id for each in report.findings], report.fails) == (["tight"], False)
    assert preflight(*step, capacity_bytes=margin().of(need)).findings == ()


def differences(outputs, labels):
    return LOSS(outputs, labels) + (outputs[None] - outputs[:, None]).square().mean()


@pytest.mark.parametrize(
    ("rows", "loss", "cause"),
    [
        (9000, LOSS, "batch_exceeds_memory"),
        (2, LOSS, "model_exceeds_memory"),
        (512, differences, "tensor_blows_up"),
    ],
)
def test_the_largest_part_names_the_cause(rows, loss, cause):
    model, batch = perceptron(rows)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    assert preflight(model, optimizer, loss, batch, capacity_bytes=1000).crash.cause == cause


UNDER_A_LIMIT = """
import json, resource, torch
from failbench.preflight.capacity import free_bytes

device = torch.device("cpu")
free = free_bytes(device)
kept = torch.zeros(2**24)
pages = int(open("/proc/self/statm").read().split()[5])
hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
resource.setrlimit(resource.RLIMIT_DATA, (pages * resource.getpagesize() + 2**26, hard))
print(json.dumps([free, free_bytes(device)]))
"""


def test_what_is_free_is_less_under_a_limit_of_the_process():
    if resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY:
        pytest.skip("this process has a limit already")
    answer = subprocess.check_output([sys.executable, "-c", UNDER_A_LIMIT])
    free, limited = json.loads(answer)
    assert free > 2**27
    assert 2**26 <= limited < 2**27
