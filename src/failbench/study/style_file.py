"""The style file of all figures: each line of it is understood, or refused by its number."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import matplotlib as mpl

from failbench.base.errors import BadInputError

LINE = re.compile(r"\bline (\d+)")


class _Complaints(logging.Handler):
    """What matplotlib logs of lines that it skips, where a misspelt one would go unseen."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def check_style(path: Path) -> None:
    """Refuse a style file that matplotlib would not follow to the last line."""
    complaints = _Complaints()
    logger = logging.getLogger(mpl.__name__)
    logger.addHandler(complaints)
    try:
        settings = mpl.rc_params_from_file(path, use_default_template=False)
    except (OSError, ValueError) as error:
        raise BadInputError(
            path, "(file)", "is missing or is not text.", "Restore it with git."
        ) from error
    finally:
        logger.removeHandler(complaints)
    numbers = [int(number) for text in complaints.messages for number in LINE.findall(text)[:1]]
    if numbers:
        line = path.read_text(encoding="utf-8").splitlines()[min(numbers) - 1].strip()
        raise BadInputError(
            path,
            f"line {min(numbers)}",
            f"{line!r} is no setting that matplotlib follows.",
            "Write `name: value` as it knows them, each name once, or restore it with git.",
        )
    if not settings:
        raise BadInputError(path, "(file)", "has no settings.", "Restore it with git.")
