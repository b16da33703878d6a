"""The made-up anatomy, fitted once for all tests of the study."""

from __future__ import annotations

import pytest

from made_up_anatomy import made_up_anatomy, made_up_measurements


@pytest.fixture(scope="session")
def measured():
    return made_up_measurements()


@pytest.fixture(scope="session")
def results(measured):
    return made_up_anatomy(measured)
