"""How predictors and arms are called in tables and figures."""

from __future__ import annotations

from typing import Final

from failbench.crashes.catalogue import PREDICTORS
from failbench.reporting.cells import words
from failbench.studies.crash_prediction.settings import COMBINED, LENGTH, MAJORITY

ARM_LABELS: Final = {
    "code": "code alone",
    "structural": "+ structure",
    "type": "+ types",
    "value": "+ values",
    "all": "+ all three",
    "other": "+ all of another notebook",
}

LABELS: Final = {
    MAJORITY: "Always a crash",
    LENGTH: "Length of the code",
    **{predictor.name: predictor.label for predictor in PREDICTORS},
    COMBINED: "Dry run, else rules",
}


def label_of(predictor: str) -> str:
    """The name of a predictor; a language model has that of params.yaml."""
    return LABELS.get(predictor, words(predictor))
