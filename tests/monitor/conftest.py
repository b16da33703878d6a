"""Fixtures of the monitor's tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def a_single_thread() -> Iterator[None]:
    """Models of a test are so small that threads would wait for one another, on a busy machine
    longer than anything takes; processes that a test starts inherit the variable."""
    import torch

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        yield
        torch.set_num_threads(before)
