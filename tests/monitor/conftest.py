import sys
import threading
from contextlib import contextmanager

import pytest

try:
    import torch
except ModuleNotFoundError:
    collect_ignore_glob = ["*.py"]


@pytest.fixture(autouse=True, scope="session")
def a_single_thread():
    """Models are so small that threads would wait for one another; child processes inherit it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)


@pytest.fixture
def watched(tmp_path):
    """A tiny model and its optimizer that a monitor watches; no hook of it is left afterwards."""
    from failbench.monitor import Monitor
    from made_up_training import Tiny, adamw, hooks_of

    @contextmanager
    def attached(level="standard", every=1, kind=Monitor, **settings):
        torch.manual_seed(0)
        model = Tiny()
        (optimizer,) = adamw(model)
        before = sys.excepthook, threading.excepthook
        try:
            with kind(tmp_path / "run", level, every, **settings) as monitor:
                monitor.watch(model, optimizer)
                assert list(hooks_of(model))
                yield monitor, model, optimizer
        finally:
            assert not list(hooks_of(model))
            assert (sys.excepthook, threading.excepthook) == before

    return attached
