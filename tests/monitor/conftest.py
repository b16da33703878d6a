"""Fixtures of the monitor's tests."""

from contextlib import contextmanager

import pytest

try:
    import torch
except ModuleNotFoundError:
    collect_ignore_glob = ["*.py"]


@pytest.fixture(autouse=True, scope="session")
def a_single_thread():
    """Models of a test are so small that threads would wait for one another, on a busy machine
    longer than anything takes; processes that a test starts inherit the variable."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)


@pytest.fixture
def watched(tmp_path):
    """A tiny model and its optimizer that a monitor watches, with a check at every step."""
    from failbench.monitor import Monitor
    from made_up_training import Tiny, adamw

    @contextmanager
    def attached(level="standard", every=1, kind=Monitor, **settings):
        torch.manual_seed(0)
        model = Tiny()
        (optimizer,) = adamw(model)
        with kind(tmp_path / "run", level, every, **settings) as monitor:
            monitor.watch(model, optimizer)
            yield monitor, model, optimizer

    return attached
