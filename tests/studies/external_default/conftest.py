"""One measurement of the made-up tables, which several tests read."""

from __future__ import annotations

import pytest

from failbench.studies.external_default.measure import measure
from made_up_default import RULES, released, settings
from pipeline import REPOSITORY


@pytest.fixture(scope="session")
def small():
    return settings(REPOSITORY)


@pytest.fixture(scope="session")
def tables():
    return released()


@pytest.fixture(scope="session")
def measured(tables, small):
    return measure(tables, small, RULES)
