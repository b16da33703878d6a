"""Scale ``paper`` and the child of a GPU, as far as a machine without one can tell."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch

from failbench.base.errors import BadInputError
from failbench.recording.architectures import PAPER_SHAPES, ModelSize, build_model
from failbench.recording.memory import MemoryMeter
from failbench.recording.sandbox import execute, fork_server, require_recording_extra

TOTAL = 2**34
MILLIONS = {"transformer": 35, "t5": 60, "distilbert": 66, "bert": 110, "lstm": 25, "gru": 12}


class FakeGpu:
    """Stands in for the caching allocator: what is reserved is the process's own memory."""

    def __init__(self, patch):
        self.fractions = []
        self.meter = MemoryMeter()
        device = SimpleNamespace(total_memory=TOTAL)
        patch.setattr(torch.cuda, "get_device_properties", lambda _: device)
        patch.setattr(torch.cuda, "memory_reserved", self.meter.read)
        patch.setattr(torch.cuda, "set_per_process_memory_fraction", self.fractions.append)


def train_on_fake_gpu(order, line):
    from failbench.recording.gpu import main

    FakeGpu(pytest.MonkeyPatch())
    main(order, line)


@pytest.mark.parametrize("architecture", PAPER_SHAPES)
def test_a_model_of_scale_paper_has_the_papers_parameters(architecture):
    width, layers, heads = PAPER_SHAPES[architecture]
    with torch.device("meta"):
        model = build_model(architecture, ModelSize(width, layers, heads, 512, 512, 0.0))
    parameters = sum(one.numel() for one in model.parameters())
    assert parameters == pytest.approx(1e6 * MILLIONS[architecture], rel=0.1)


@pytest.mark.system
def test_a_run_of_scale_paper_reports_its_steps_and_the_devices_memory(order, nominal):
    order = replace(order, scale="paper", nominal=replace(nominal, planned_steps=2))
    report = execute(fork_server(), order, 120.0, 240.0, train_on_fake_gpu)
    assert (report.ending, len(report.steps)) == ("completed", 2)
    assert report.configuration["parameters"] > 11e6
    # Weights, their gradients and AdamW's two moments, of four bytes a parameter.
    assert report.steps[-1]["memory_bytes"] > 16 * report.configuration["parameters"]


def test_capacity_is_a_share_of_the_device_and_lifting_gives_it_all_back(monkeypatch):
    from failbench.recording.gpu import CudaMeter

    gpu, meter = FakeGpu(monkeypatch), CudaMeter()
    assert meter.baseline == pytest.approx(gpu.meter.read(), abs=2**20)
    meter.baseline = 0
    meter.limit(TOTAL // 8)
    meter.limit(2 * TOTAL)
    meter.lift()
    assert gpu.fractions == [0.125, 1.0, 1.0]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_recording_on_a_gpu_that_is_not_there_is_refused():
    with pytest.raises(BadInputError, match="finds no CUDA device"):
        require_recording_extra("cuda")
