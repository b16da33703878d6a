"""How predictors and arms are called in tables and figures."""

from __future__ import annotations

from typing import Final

from failbench.crashes.catalogue import PREDICTORS
from failbench.reporting.labels import method_label
from failbench.studies.crash_prediction.settings import COMBINED, LENGTH, MAJORITY

ARM_LABELS: Final[dict[str, str]] = {
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
    COMBINED: "Dry run, else small rules",
}


def label_of(predictor: str) -> str:
    """The name of a predictor, or of a language model of params.yaml."""
    return LABELS.get(predictor) or method_label(predictor)


def told_label(predictor: str, arm: str) -> str:
    """What a predictor is told in an arm; who always says the same reads nothing."""
    return "nothing" if predictor == MAJORITY else ARM_LABELS[arm]
