"""What a predictor of crashes answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CrashPrediction:
    """An answer.

    Parameters
    ----------
    crash
        Whether the target will raise; None if the predictor cannot say.
    exception
        Name of the class of the exception, as Python prints it without its module, if the target
        will crash and the predictor names one.
    reason
        What the answer rests on, in one sentence.
    line
        The line of the target, counted from 1, if the predictor points at one.
    """

    crash: bool | None
    exception: str | None
    reason: str
    line: int | None = None

    def __post_init__(self) -> None:
        if not self.crash and (self.exception is not None or self.line is not None):
            raise ValueError("only a crash has an exception and a line")
