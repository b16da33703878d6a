"""What a predictor of crashes answers, and the predictors as data, imported when one is built."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import Any, Final

from failbench.crashes.question import ARMS, Arm, Question


@dataclass(frozen=True)
class CrashPrediction:
    """An answer."""

    crash: bool | None
    exception: str | None
    reason: str
    line: int | None = None

    def __post_init__(self) -> None:
        if not self.crash and (self.exception is not None or self.line is not None):
            raise ValueError("only a crash has an exception and a line")


Predict = Callable[[Question], CrashPrediction]
PredictAll = Callable[[Sequence[Question]], Sequence[CrashPrediction]]
TOLD: Final[tuple[Arm, ...]] = ARMS[1:]  # arms in which a summary is told


@dataclass(frozen=True)
class Predictor:
    """A predictor; ``place`` is the module, or the object in one, that has its function."""

    name: str
    label: str
    place: str
    arms: tuple[Arm, ...]
    recorded: bool

    def build(self) -> Predict:
        """The function; this imports its module."""
        built: Predict = self._built.predict
        return built

    def build_for_many(self) -> PredictAll:
        """One that takes many questions at once, where it is of use; this imports its module."""
        if hasattr(self._built, "predict_all"):
            many: PredictAll = self._built.predict_all
            return many
        predict = self.build()
        return lambda questions: [predict(question) for question in questions]

    @property
    def maker(self) -> str:
        """What answers, of one that is recorded: versions, or a hash of code."""
        made: str = self._built.maker()
        return made

    @property
    def _built(self) -> Any:
        return resolve_name(self.place)


ROOM: Final = "failbench.crashes"
# all but the majority, which needs no question, and language models, which params.yaml names
PREDICTORS: Final = (
    Predictor("rules", "Small rules", f"{ROOM}.small_rules.predict", ARMS, recorded=False),
    Predictor("dry_run", "Dry run", f"{ROOM}.dry_run.predict", TOLD, recorded=True),
    Predictor("pyright", "Pyright", f"{ROOM}.checkers:PYRIGHT", ("code",), recorded=True),
    Predictor("pylint", "Pylint", f"{ROOM}.checkers:PYLINT", ("code",), recorded=True),
)
