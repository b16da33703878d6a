from __future__ import annotations

import pytest


@pytest.fixture(scope="module", autouse=True)
def single_thread():
    """Tiny models are slower on several threads."""
    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
