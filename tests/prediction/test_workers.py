from __future__ import annotations

import os

import pytest

from failbench.base.workers import available_workers


def test_a_process_bound_to_one_processor_uses_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert available_workers() == 1


@pytest.mark.parametrize(("count", "workers"), [(8, 8), (None, 1)])
def test_a_system_that_binds_none_uses_all(
    monkeypatch: pytest.MonkeyPatch, count: int | None, workers: int
) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: count)
    assert available_workers() == workers
