"""What features, methods and statistics cost as their work grows: `make cost`."""

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from cost_cases import CASES, SIZES
from measured_child import Cost, MeasuredChild, can_measure

pytestmark = [
    pytest.mark.cost,
    pytest.mark.skipif(not can_measure(), reason="peak memory is read from Linux's /proc"),
]

STEP = SIZES[1] // SIZES[0]

QUICK_SECONDS, MOST_ROUNDS = 0.5, 5
"""What is expected to take less is done again, up to so often, and the fastest time counts."""

RESOLUTION = 1e-3
"""Seconds below which times are too short to have a ratio: a fit that learns nothing takes less."""

BOUNDED = 1.5
"""Times the memory of the size before: batches differ a little in what their runs hold."""

ALL = [(name, size) for name in CASES for size in SIZES]
WORKS = [
    (name, size, work)
    for name, size in ALL
    for work in CASES[name].works
    if CASES[name].measured(work, size)
]


@pytest.fixture(scope="module")
def measured() -> dict[tuple[str, int, str], Cost]:
    return {}


@pytest.fixture(scope="module")
def child(request: pytest.FixtureRequest) -> Iterator[MeasuredChild]:
    """The process of a case at a size; it lasts for all works of that case."""
    name, size = request.param
    process = MeasuredChild(CASES[name].build, size, warm_up=SIZES[0])
    yield process
    process.close()


def rounds_of(expected_seconds: float) -> int:
    return min(max(int(QUICK_SECONDS / (expected_seconds + 1e-9)), 1), MOST_ROUNDS)


@pytest.mark.parametrize(
    ("child", "name", "size", "work"),
    [((name, size), name, size, work) for name, size, work in WORKS],
    indirect=["child"],
    ids=[f"{name}-{work}-{size}x" for name, size, work in WORKS],
)
def test_cost_grows_more_slowly_than_is_claimed(benchmark, child, measured, name, size, work):
    before = measured.get((name, size // STEP, work))
    costs: list[Cost] = []
    benchmark.group = f"{name} {work}"
    benchmark.pedantic(
        lambda: costs.append(child.do(work)),
        setup=lambda: child.prepare(work),
        rounds=rounds_of(size * child.warm_up_seconds[work]),
    )
    cost = min(costs, key=lambda one: one.cpu_seconds)
    measured[name, size, work] = cost
    benchmark.extra_info.update(axis=CASES[name].axis, size=size, **asdict(cost))
    if before is not None:
        most = STEP ** CASES[name].exponent(work) * max(before.cpu_seconds, RESOLUTION)
        assert cost.cpu_seconds < most
        if name == "stream" and size > STEP:
            assert cost.peak_mib < BOUNDED * before.peak_mib
