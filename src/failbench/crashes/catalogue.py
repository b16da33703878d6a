"""The predictors of crashes, as data; a module is imported when its predictor is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import ARMS, Arm, Question

Predict = Callable[[Question], CrashPrediction]
PredictAll = Callable[[Sequence[Question]], Sequence[CrashPrediction]]


@dataclass(frozen=True)
class Predictor:
    """A predictor."""

    name: str
    label: str
    place: str
    arms: tuple[Arm, ...]
    recorded: bool

    def build(self) -> Predict:
        """The function; this imports its module."""
        built: Predict = self._module.predict
        return built

    def build_for_many(self) -> PredictAll:
        """One that takes many questions at once, where it is of use; this imports its module."""
        module = self._module
        if hasattr(module, "predict_all"):
            many: PredictAll = module.predict_all
            return many
        predict: Predict = module.predict
        return lambda questions: [predict(question) for question in questions]

    @property
    def maker(self) -> str:
        """What answers, of one that is recorded: versions, or a hash of code."""
        made: str = self._module.maker()
        return made

    @property
    def _module(self) -> Any:
        return import_module(self.place)


TOLD: Final[tuple[Arm, ...]] = ARMS[1:]
"""Arms in which a summary is told."""

PREDICTORS: Final = (
    Predictor(
        "rules", "Small rules", "failbench.crashes.small_rules.predict", ARMS, recorded=False
    ),
    Predictor("dry_run", "Dry run", "failbench.crashes.dry_run.predict", TOLD, recorded=True),
    Predictor("pyright", "Pyright", "failbench.crashes.checkers.pyright", ("code",), recorded=True),
    Predictor("pylint", "Pylint", "failbench.crashes.checkers.pylint", ("code",), recorded=True),
)
"""All but the majority, which needs no question, and language models, which params.yaml names."""
