"""The split of the corpus as it was drawn, once, before there was a predictor."""

import hashlib
from collections import Counter
from itertools import product
from typing import get_args

import polars as pl

from failbench.notebooks.corpus import LIBRARIES, Assigned, Misuse

MISUSES = get_args(Misuse)
SEED = 20261123


def draw_split(pairs, seed=SEED):
    """Halve the corpus, by misuse and library.

    The pairs of a misuse in a library are put in order of a hash of seed and name; one half of them
    is for development and the next is for test. Where one is left over it goes to the part that has
    fewer of the misuse, else fewer of the library, else by the hash. So the halves of a misuse, and
    those of a misuse within a library, differ by one pair at most.
    """
    parts = {}
    sizes = Counter()
    for misuse, library in product(MISUSES, LIBRARIES):
        cards = [pair.card for pair in pairs]
        names = [card.pair for card in cards if (card.misuse, card.library) == (misuse, library)]
        names.sort(key=lambda name: _hash(seed, name))
        half = len(names) // 2
        for place, name in enumerate(names):
            part = "development" if place < half else "test"
            if place == 2 * half:
                part = _part_of_rest(sizes, misuse, library, _hash(seed, name))
            parts[name] = part
            sizes.update([(misuse, part), (library, part)])
    return tuple(
        Assigned(
            **pair.card.model_dump(include={"pair", "library", "misuse", "difficulty"}),
            part=parts[pair.card.pair],
            sha256_crashing=pair.crashing.sha256,
            sha256_mended=pair.mended.sha256,
        )
        for pair in pairs
    )


def _part_of_rest(sizes, misuse, library, drawn):
    for group in (misuse, library):
        difference = sizes[group, "development"] - sizes[group, "test"]
        if difference:
            return "test" if difference > 0 else "development"
    return "test" if int(drawn, 16) % 2 else "development"


def _hash(seed, name):
    return hashlib.sha256(f"{seed}:{name}".encode()).hexdigest()


def write_split(path, assigned):
    pl.DataFrame([row.model_dump() for row in assigned]).write_csv(path)
