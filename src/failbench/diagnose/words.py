"""Words: what the words of a log speak for, by pieces of two to five letters.

What a person wrote into a log, and what libraries said in it, is more than any catalogue knows. The
pieces are hashed, so that a table of fixed size has all that was learnt, and no text.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from failbench.base.arrays import Array
from failbench.base.errors import BadInputError
from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import causes

BINS: Final = 2**15
SHORTEST, LONGEST = 2, 5
TABLE: Final = "words.npy"
RARITY_STEP, WEIGHT_STEP = 1 / 16, 1 / 32
_MOST_STEPS: Final = 127
_REMEDY: Final = "Restore it with `git checkout`, or run `dvc repro`."


class Counted(NamedTuple):
    """Pieces of a text: their bins, in order, and how often each is there."""

    bins: NDArray[np.int32]
    counts: NDArray[np.int32]


@cache
def no_words() -> Counted:
    """Of a log without a line of text."""
    return Counted(np.zeros(0, np.int32), np.zeros(0, np.int32))


def counted(text: str) -> Counted:
    """The pieces of the words of a text, each word between spaces, by bins.

    >>> counted("nan nan").counts.tolist() == [2] * 10
    True
    """
    words = Counter(text.split())
    found: Counter[int] = Counter()
    for word, times in words.items():
        padded = f" {word} "
        for size in range(SHORTEST, min(LONGEST, len(padded)) + 1):
            for at in range(len(padded) - size + 1):
                found[crc32(padded[at : at + size].encode()) % BINS] += times
    bins = np.array(sorted(found), np.int32)
    return Counted(bins, np.array([found[each] for each in bins.tolist()], np.int32))


class WordSupport(NamedTuple):
    """How much words speak for each category, and for each cause; the means of both are 0."""

    categories: Array
    causes: Array


NO_SUPPORT: Final = WordSupport(np.zeros(len(CATEGORIES)), np.zeros(len(causes())))


@dataclass(frozen=True)
class WordWeights:
    """What was learnt of pieces.

    Attributes
    ----------
    rarity
        Of each bin, of shape (bins,): the logarithm of how few texts have it.
    categories
        Of each bin for each category, of shape (bins, categories).
    causes
        Of each bin for each cause of the catalogue, of shape (bins, causes).
    """

    rarity: Array
    categories: Array
    causes: Array

    def support(self, words: Counted) -> WordSupport:
        """What a text speaks for."""
        if not len(words.bins):
            return NO_SUPPORT
        values = (1.0 + np.log(words.counts)) * self.rarity[words.bins]
        values /= np.sqrt(np.square(values).sum())
        of_both = (values @ table[words.bins] for table in (self.categories, self.causes))
        return WordSupport(*(scores - scores.mean() for scores in of_both))


def write_words(path: Path, words: WordWeights) -> None:
    """Write weights as whole numbers of steps: processors differ in digits far behind these."""
    weights = np.column_stack([words.categories, words.causes]) / WEIGHT_STEP
    table = np.column_stack([words.rarity / RARITY_STEP, weights]).round()
    np.save(path, np.clip(table, -_MOST_STEPS, _MOST_STEPS).astype(np.int8))


def read_words(path: Path) -> WordWeights:
    """Read weights."""
    try:
        table = np.load(path).astype(np.float64)
    except (OSError, ValueError, EOFError) as error:
        raise BadInputError(path, "(file)", f"is no table ({error}).", _REMEDY) from error
    first = 1 + len(CATEGORIES)
    if table.shape != (BINS, first + len(causes())):
        raise BadInputError(path, "(shape)", f"is {table.shape}.", _REMEDY)
    rarity, weights = RARITY_STEP * table[:, 0], WEIGHT_STEP * table[:, 1:]
    return WordWeights(rarity, weights[:, : len(CATEGORIES)], weights[:, len(CATEGORIES) :])


@cache
def fitted_words() -> WordWeights:
    """The weights of the package."""
    with as_file(files("failbench.fitted").joinpath(TABLE)) as path:
        return read_words(path)
