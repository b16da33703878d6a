"""Every stage answers an input that is missing or broken in one line, before it writes anything."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from broken_inputs import KNOWN, Answer, readers_of_known

from pipeline import EXPERIMENTS, REPOSITORY, stages

pytestmark = pytest.mark.system

HERE = Path(__file__).parent
TIMEOUT = 900
"""Seconds for all breaks of a stage, on a slow machine too."""

INPUTS = [
    (stage.name, place)
    for stage in stages().values()
    for place in sorted(stage.inputs | stage.sections)
    if place != KNOWN or readers_of_known()
]
"""What every stage declares that it reads."""


@cache
def answers(stage: str) -> tuple[Answer, ...]:
    """What a stage answers to every break of every input."""
    paths = [REPOSITORY / "src", EXPERIMENTS, HERE.parent / "pipeline"]
    environment = {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "FAILBENCH_WORKERS": "1",
        "PYTHONWARNINGS": "ignore",
    }
    done = subprocess.run(
        [sys.executable, HERE / "broken_inputs.py", stage],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    return tuple(
        Answer(**{**row, "touched": tuple(row["touched"])}) for row in json.loads(done.stdout)
    )


@pytest.mark.parametrize(("stage", "place"), INPUTS, ids=lambda value: value)
def test_a_broken_input_ends_a_stage_with_one_line_that_names_it(stage, place):
    to_input = [answer for answer in answers(stage) if answer.belongs_to(place)]
    assert to_input, f"Nothing of {place} was broken for {stage}."
    faults = [answer.fault for answer in to_input if answer.fault is not None]
    assert not faults, "\n".join(faults)


def test_every_stage_that_reads_something_is_walked(capsys):
    walked = sorted({stage for stage, _ in INPUTS})
    with capsys.disabled():
        print(f"\nwalked {len(walked)} stages: {', '.join(walked)}")
    assert set(walked) == {name for name in stages() if name != "record"}
