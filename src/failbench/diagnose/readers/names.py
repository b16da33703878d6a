"""Names and numbers: what a name in a log stands for, and what a number printed there is."""

import re
from functools import cache, lru_cache
from typing import Annotated, Final, Literal, NamedTuple, get_args

from failbench.base.records import OrNone, Record, packaged_rows

Split = Literal["train", "validation"]
SignalName = Literal["loss", "grad_norm", "learning_rate", "perplexity", "memory", "throughput"]
Position = Literal["step", "epoch"]
SPLITS: Final[tuple[Split, ...]] = get_args(Split)
SIGNALS: Final[tuple[SignalName, ...]] = get_args(SignalName)
POSITIONS: Final[tuple[Position, ...]] = get_args(Position)
_HELD_OUT: Final = ("eval", "evaluation", "val", "valid", "validation", "dev", "test")
# words that say on what a value was measured; held-out data are one split here
SPLIT_WORDS: Final[dict[str, Split]] = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(_HELD_OUT, "validation"),
}

# words that change nothing of what a value is
_FILLERS: Final = frozenset({"avg", "average", "mean", "running", "current", "value", "dataloader"})
# words that, behind another name, say over what Lightning took the mean
_WHEN: Final = frozenset({"step", "epoch"})
_WORDS: Final = re.compile(r"[^\W_]+")
LONGEST_NAME: Final = 80

# letters of the longest text that is read as a number; a loss of more digits is none
LONGEST_NUMBER: Final = 64


# bytes of units, in powers of 1,000 and of 1,024
BYTES: Final = {
    f"{letter}{binary}B": base**power
    for power, letter in enumerate("KMGT", start=1)
    for binary, base in (("", 1000.0), ("i", 1024.0))
}


class Meaning(NamedTuple):
    """What a name stands for."""

    of: SignalName | Position
    split: Split | None = None


@lru_cache(maxsize=4096)
def meaning(name: str) -> Meaning | None:
    """What a name in a log stands for, or None where it is none that is read.

    >>> meaning("train/loss"), meaning("eval_loss").split, meaning("lr-AdamW").of
    (Meaning(of='loss', split='train'), 'validation', 'learning_rate')
    >>> meaning("loss_scale"), meaning("trainer/global_step").of
    (None, 'step')
    """
    if len(name) > LONGEST_NAME:
        return None
    words = _WORDS.findall(name.lower())
    split = next((SPLIT_WORDS[word] for word in words if word in SPLIT_WORDS), None)
    kept = [word for word in words if word not in SPLIT_WORDS and word not in _FILLERS]
    known = _known_names()
    found = known.get(" ".join(kept))
    if found is None and len(kept) > 1 and kept[-1] in _WHEN:
        found = known.get(" ".join(kept[:-1]))
    if found is None and len(kept) > 1 and kept[0] == "lr":  # of one of several optimizers
        found = Meaning("learning_rate")
    return None if found is None else Meaning(found.of, found.split or split)


def meaning_at_end(name: str) -> Meaning | None:
    """What the last words of a phrase stand for: the longest of its ends that is a name.

    >>> meaning_at_end("rank 0 finished with loss").of
    'loss'
    """
    found = meaning(name)
    while found is None and " " in name:
        name = name.split(" ", 1)[1]
        found = meaning(name)
    return found


class _Name(Record):
    name: str
    meaning: SignalName | Position
    split: Annotated[Split | None, OrNone]
    source: str


@cache
def _known_names() -> dict[str, Meaning]:
    rows = packaged_rows("failbench.diagnose.readers", "names.csv", _Name)
    return {row.name: Meaning(row.meaning, row.split) for row in rows}


def number(text: str, decimal: str = ".") -> float | None:
    """The number that a text shows, or None where it shows none.

    Not a number and infinity are numbers here, as logs tell of them. A comma before three digits
    parts thousands unless it is said to be the decimal one; before others it is.

    >>> number(" 1,234.5 "), number("1e-3"), number("-Infinity"), number("3.2e"), number("")
    (1234.5, 0.001, -inf, None, None)
    >>> number("92,97"), number("0,125"), number("1,234", ","), number("1.234,5", ",")
    (92.97, 0.125, 1.234, 1234.5)
    """
    if len(text) > LONGEST_NUMBER:
        return None
    if "," in text:
        head, _, tail = text.strip().rpartition(",")
        is_decimal = decimal == "," or len(tail) != 3 or head.lstrip("+-") == "0"
        if is_decimal and "," not in head and "." not in tail:
            text = f"{head.replace('.', '')}.{tail}"
        else:
            text = text.replace(",", "")
    try:
        return float(text)
    except ValueError:
        return None


# numbers that can be read in one way alone, with a comma and with a point, and in both ways
_COMMAS: Final = re.compile(r"[ \t=:][-+]?(?:0,\d+|\d{1,6},(?:\d{1,2}|\d{4,12}))(?![\d,.])")
_POINTS: Final = re.compile(
    r"[ \t=:'\"][-+]?\d{1,6}\.\d{1,12}(?=[\s,;|}'\"]|$)(?!\s\w{1,12}/)", re.MULTILINE
)
_EITHER: Final = re.compile(r"[ \t=:][-+]?\d,\d{3}(?![\d,.])")
_SEVERAL: Final = 3


def decimal_of(text: str) -> str:
    """The decimal sign that a text has mostly, by which a number is read that may be either.

    >>> decimal_of("Verlust 0,52 Fehler 1,234"), decimal_of("loss 0.52 tokens 1,234")
    (',', '.')
    """
    commas, points = len(_COMMAS.findall(text)), len(_POINTS.findall(text))
    if not commas and not points:
        return "," if len(_EITHER.findall(text)) >= _SEVERAL else "."
    return "," if commas > points else "."
