"""The walk through the inputs of stages, each of which is broken in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from broken_inputs import KNOWN, Answer, readers_of_known

from pipeline import EXPERIMENTS, REPOSITORY, published_study, stages

HERE = Path(__file__).parent
TIMEOUT = 900
"""Seconds for all breaks of a stage, on a slow machine too."""

INPUTS = [
    (stage.name, place)
    for stage in stages().values()
    for place in sorted(stage.inputs | stage.sections)
    if place != KNOWN or readers_of_known()
]
"""What every stage reads."""

REPORTS = {stage.name for stage in stages().values() if published_study(stage.script)}


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


def assert_refused(stage: str, place: str) -> None:
    """Every break of an input ends the stage with one line that names it, before it writes."""
    to_input = [answer for answer in answers(stage) if answer.belongs_to(place)]
    assert to_input, f"Nothing of {place} was broken for {stage}."
    faults = [answer.fault for answer in to_input if answer.fault is not None]
    assert not faults, "\n".join(faults)
