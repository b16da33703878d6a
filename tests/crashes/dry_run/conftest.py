"""A sandbox with small limits, and what is asked of it."""

import os
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest

from failbench.crashes.dry_run.answer import read_answer
from failbench.crashes.dry_run.limits import NOTEBOOK
from failbench.crashes.dry_run.sandbox import available, sandbox


@pytest.fixture(scope="session")
def granted():
    """Skips where the system does not grant a sandbox."""
    reason = available()
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def limits():
    return replace(NOTEBOOK, memory=2**30, folder=16 * 2**20, processes=32)


@pytest.fixture(scope="session")
def brief_limits(limits):
    """For cells that do not end; what ends has the time of a real run, however busy a machine."""
    return replace(limits, seconds=1.0)


@pytest.fixture(scope="session")
def secret():
    """The name of a variable that whoever starts the sandbox has, and nobody in it."""
    name = "FAILBENCH_TEST_VARIABLE"
    os.environ[name] = "open sesame"
    yield name
    del os.environ[name]


@pytest.fixture(scope="module")
def small(granted, limits, secret):
    with sandbox(limits, ("failbench.crashes.dry_run.rehearsal",)) as started:
        yield started


@pytest.fixture(scope="module")
def brief(granted, brief_limits, secret):
    with sandbox(brief_limits, ("failbench.crashes.dry_run.rehearsal",)) as started:
        yield started


@pytest.fixture
def hostile(small, limits):
    """Carries out a cell that is told nothing, and looks that no process of it is left."""
    return asking(small, limits)


@pytest.fixture
def endless(brief, brief_limits):
    """The same of a cell that does not end by itself."""
    return asking(brief, brief_limits)


def asking(started, limits):
    def ask(code):
        order = {"executed": [], "target": textwrap.dedent(code), "summary": None, "seed": 1}
        prediction = read_answer(started.run(order), limits)
        assert left_of_runs() == []
        return prediction

    return ask


def left_of_runs():
    """Processes of dry runs: all that descend from those that runs are forked from."""
    parents, commands = {}, {}
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_text()
        except OSError:
            continue  # no process, or one that has just ended
        if folder.name.isdigit() and fields[0] != "Z":
            parents[folder.name], commands[folder.name] = fields[1], command
    starters = {
        number
        for number, parent in parents.items()
        if parent == str(os.getpid()) and "dry_run.warm" in commands[number]
    }
    forges = {number for number, parent in parents.items() if parent in starters}
    return [number for number, parent in parents.items() if parent in forges]
