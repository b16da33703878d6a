"""Subject: whether a log is of a training at all, and not of a server, a shop or the weather."""

import re
from functools import cache
from typing import Annotated, Final

import numpy as np

from failbench.base.records import InCell, Record, packaged_rows
from failbench.diagnose.curves import curves_of
from failbench.diagnose.readers.log import Log
from failbench.diagnose.readers.names import POSITIONS, meaning

_OURS: Final = "training"  # what hardly another text says
# what curves tell, by their roles; speeds, times and sizes are those of anything
_TOLD: Final = {
    **dict.fromkeys(("learning_rate", "perplexity", "trainable"), _OURS),
    **dict.fromkeys(("rate", "error", "score", "margin"), "score"),
    "loss": "loss",
}
_ENOUGH: Final = 2  # other texts say "step" or "loss" or "train", and hardly two of these
_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMBERED: Final = re.compile(r"^.*(?:0|nan).*$", re.MULTILINE)  # as excerpts write a number
_ERROR: Final = re.compile(r"^\w+(?:error|exception) ?[:(]", re.MULTILINE)


class _Kind(Record):
    meaning: str
    words: Annotated[tuple[str, ...], InCell]


@cache
def _kinds() -> dict[str, str]:
    """Words of trainings, and of which kind each is."""
    rows = packaged_rows("failbench.diagnose", "training_words.csv", _Kind)
    return {word: row.meaning for row in rows for word in row.words}


def is_training_log(log: Log) -> bool:
    """Whether a log tells of a training, or of an error, which is looked into wherever it is from.

    Two kinds of what trainings say are asked for in names and lines with numbers, unless one is
    theirs alone, epochs count from the first or losses are most of what is measured.
    """
    if log.events or log.history is not None or _ERROR.search(log.words):
        return True
    numbers, curves = log.numbers, curves_of(log)
    told = {_TOLD[curve.role] for curve in curves if curve.role in _TOLD}
    told |= {curve.part for curve in curves if curve.part}
    losses = {curve.name for curve in curves if curve.role == "loss"}
    curved = {curve.name for curve in curves}
    size = len(numbers.names)
    counts = np.bincount(numbers.name, minlength=size)
    fractions = np.bincount(numbers.name, numbers.value != np.floor(numbers.value), size)
    lowest = np.full(size, np.inf)
    np.fmin.at(lowest, numbers.name, numbers.value)
    said, others = _NUMBERED.findall(log.words), 0
    for place in np.flatnonzero(counts).tolist():
        name = numbers.names[place].text
        found = meaning(name)
        if found is not None and found.of in POSITIONS:
            told.add(_OURS if found.of == "epoch" and lowest[place] <= 1 else found.of)
        elif name not in curved and fractions[place]:
            others += 1
        said.append(name.casefold())
    told |= {_kinds()[word] for text in said for word in _WORD.findall(text) if word in _kinds()}
    return _OURS in told or len(told) >= _ENOUGH or len(losses) > others
