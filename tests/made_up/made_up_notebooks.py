"""Small notebooks: a pair whose crashing version adds arrays of two lengths."""

CARD = {
    "pair": "tried", "version": "crashing", "library": "numpy", "misuse": "shape", "target": 1,
    "fault": "Two lengths differ.", "source": "https://numpy.org/doc/stable/", "cause": 1,
    "functions_between": 0, "shown_by_code": True, "difficulty": "easy",
}  # fmt: skip
SOURCES = ("import numpy as np", "np.ones(2) + np.ones(3)")


def document(sources=SOURCES, counts=None, **changes):
    """A notebook as JSON has it, with other fields on its card."""
    counts = counts or range(1, len(sources) + 1)
    cell = {"cell_type": "code", "metadata": {}, "outputs": []}
    cells = [
        cell | {"id": f"cell-{place}", "source": source, "execution_count": count}
        for place, (source, count) in enumerate(zip(sources, counts, strict=True))
    ]
    metadata = {"failbench": CARD | changes}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


MENDED = document((SOURCES[0], "np.ones(2) + np.ones(2)"), version="mended")
