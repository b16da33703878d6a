"""The predictors of crashes, as data; a module is imported when its predictor is built."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import ARMS, Arm, Question

Predict = Callable[[Question], CrashPrediction]


@dataclass(frozen=True)
class Predictor:
    """A predictor.

    Parameters
    ----------
    name, label
        In data, and in tables.
    place
        Module and name of the function from a question to a prediction.
    arms
        In which it is asked; of one that reads code alone, ``code``.
    recorded
        Whether its answers are recorded, as it executes code or needs what the pipeline does not
        install; else it is asked anew by the study.
    """

    name: str
    label: str
    place: str
    arms: tuple[Arm, ...]
    recorded: bool

    def build(self) -> Predict:
        """The function; this imports its module."""
        module, _, function = self.place.partition(":")
        built: Predict = getattr(import_module(module), function)
        return built


TOLD: Final[tuple[Arm, ...]] = ARMS[1:]
"""Arms in which a summary is told."""

PREDICTORS: Final = (
    Predictor("rules", "Rules", "failbench.crashes.rules.predict:predict", ARMS, recorded=False),
    Predictor(
        "dry_run", "Dry run", "failbench.crashes.dry_run.predict:predict", TOLD, recorded=True
    ),
    Predictor(
        "pyright", "Pyright", "failbench.crashes.checkers.pyright:predict", ("code",), recorded=True
    ),
    Predictor(
        "pylint", "Pylint", "failbench.crashes.checkers.pylint:predict", ("code",), recorded=True
    ),
)
"""All but the majority, which needs no question, and language models, which params.yaml names."""
