"""The committed answers about the committed notebooks, collected once."""

from __future__ import annotations

import pytest

from failbench.crashes.answers import read_answers
from failbench.crashes.cases import read_cases
from failbench.statistics.settings import read_with_statistics
from failbench.studies.crash_prediction.collected import collect, collected_table
from failbench.studies.crash_prediction.settings import CrashPredictionSettings


@pytest.fixture(scope="session")
def params(repository):
    return repository / "params.yaml"


@pytest.fixture(scope="session")
def settings(params):
    return read_with_statistics("crash_prediction", CrashPredictionSettings, params)


@pytest.fixture(scope="session")
def cases(repository, settings):
    return read_cases(repository / "data/notebooks", settings.control_seed)


@pytest.fixture(scope="session")
def place(repository):
    return repository / "data/crashes/answers.parquet"


@pytest.fixture(scope="session")
def recorded(place):
    return read_answers(place)


@pytest.fixture(scope="session")
def answers(cases, recorded, place):
    return collect(cases, recorded, place)


@pytest.fixture(scope="session")
def rows(cases, answers):
    return collected_table(cases, answers)
