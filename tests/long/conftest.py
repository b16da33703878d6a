"""Simulations that take minutes: what every one of them prints, and how often it is repeated."""

from collections.abc import Iterable, Sequence

import pytest

from failbench.base.stage import print_table


@pytest.fixture
def report(capsys: pytest.CaptureFixture[str]):
    """Print a table past pytest's capture: a simulation is run for its figures."""

    def write(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        with capsys.disabled():
            print(f"\n\n{title}")
            print_table(header, rows)

    return write
