"""What a predictor of crashes answers."""

from __future__ import annotations

from dataclasses import dataclass


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
