"""Fixtures of the monitor's tests."""

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
