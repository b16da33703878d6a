"""What tests of reasoning share; without torch those that train are left out."""

import pytest

from failbench.reasoning.conditions import read_declared

try:
    import torch  # noqa: F401
except ModuleNotFoundError:
    collect_ignore = ["test_models.py", "test_recorder.py"]


@pytest.fixture(scope="session")
def folder(repository):
    """The declarations and tables of reasoning."""
    return repository / "data/reasoning"


@pytest.fixture(scope="session")
def declared(folder):
    return read_declared(folder)
