"""Real images: the handwritten digits that scikit-learn ships, as documents of the recorder.

An image is a line of the svmlight format, ``label place:level place:level``, where levels of grey
are 0 to 16 and places without ink are left out. So it is read, drawn, cut and filtered by the same
code, and by the same faults, as a passage of text.
"""

from __future__ import annotations

import json
import os
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

SIDE = 8  # of the images as they are shipped
LEVELS = 17
CLASSES = 10
SLICES = 2  # neighbouring images, which are of the same writers
HELD_OUT_EVERY = 10

Image = NDArray[np.int64]


def write_images(cache: Path) -> None:
    """Write a corpus of images in the format of :func:`failbench.recording.corpus.load_corpus`."""
    if cache.exists():
        return
    from sklearn.datasets import load_digits

    digits = load_digits()
    rows = digits.data.astype(np.int64)
    documents = [document(*each) for each in zip(digits.target, rows, strict=True)]
    slices = []
    for part in np.array_split(np.arange(len(documents)), SLICES):
        training = [int(each) for place, each in enumerate(part) if place % HELD_OUT_EVERY]
        slices.append(
            {
                "training": [documents[each] for each in training],
                "validation": [documents[each] for each in part[::HELD_OUT_EVERY]],
                "statistics": _statistics(rows[training]),
            }
        )
    names = Tokenizer(WordLevel({str(label): label for label in range(CLASSES)}))
    cache.parent.mkdir(parents=True, exist_ok=True)
    partial = cache.with_name(f".{cache.name}.{os.getpid()}")
    content = {"slices": slices, "tokenizer": names.to_str()}
    partial.write_text(json.dumps(content), encoding="utf-8")
    partial.replace(cache)


def _statistics(rows: Image) -> dict[str, Any]:
    counts = np.bincount(rows.ravel(), minlength=LEVELS)
    frequencies = counts[counts > 0] / counts.sum()
    return {
        "corpus_documents": len(rows),
        "corpus_tokens": int(rows.size),
        "corpus_distinct_tokens": int((counts > 0).sum()),
        "corpus_unknown_rate": 0.0,
        "corpus_token_entropy": float(-(frequencies * np.log(frequencies)).sum()),
    }


def document(label: int, levels: Image) -> str:
    """The line of an image."""
    inked = np.flatnonzero(levels)
    return " ".join([str(label), *(f"{place}:{levels[place]}" for place in inked)])


def read_document(line: str) -> tuple[int, Image]:
    """Label and image, of shape (side, side), of a line."""
    label, *pairs = line.split()
    levels = np.zeros(SIDE * SIDE, dtype=np.int64)
    for pair in pairs:
        place, _, level = pair.partition(":")
        levels[int(place)] = int(level)
    return int(label), levels.reshape(SIDE, SIDE)


def turned(line: str) -> str:
    """The line of an image that lies upside down."""
    label, image = read_document(line)
    return document(label, image.ravel()[::-1])


def side_of(pixels: int) -> int:
    """The even side of a square image of at most so many pixels."""
    return isqrt(pixels) // 2 * 2


def resized(image: Image, side: int) -> Image:
    """An image at another resolution, each pixel being that of the nearest place."""
    places = np.arange(side) * len(image) // side
    return image[places][:, places]
