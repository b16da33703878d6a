"""The walk through the inputs of stages, each stage walked once for all tests of its inputs."""

from functools import cache

from broken_inputs import KNOWN, readers_of_known
from broken_inputs import answers as answers_of

from pipeline import published_study, stages

INPUTS = [
    (stage.name, place)
    for stage in stages().values()
    for place in sorted(stage.inputs | stage.sections)
    if place != KNOWN or readers_of_known()
]
"""What every stage reads."""

REPORTS = {stage.name for stage in stages().values() if published_study(stage.script)}


answers = cache(lambda stage: tuple(answers_of(stage)))


def assert_refused(stage: str, place: str) -> None:
    """Every break of an input ends the stage with one line that names it, before it writes."""
    to_input = [answer for answer in answers(stage) if answer.belongs_to(place)]
    assert to_input, f"Nothing of {place} was broken for {stage}."
    faults = [answer.fault for answer in to_input if answer.fault is not None]
    assert not faults, "\n".join(faults)
