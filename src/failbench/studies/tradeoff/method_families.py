"""Method families: methods that are read alike, and how figures mark them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from failbench.errors import BadInputError
from failbench.methods import catalogue
from failbench.methods.llm.settings import is_language_model
from failbench.reporting.style import BLACK, GREY, SKY


@dataclass(frozen=True)
class Family:
    """Methods that are read alike, and their mark on a figure.

    ``families`` are what the catalogue calls them. The colours are those of the palette that stand
    for no category of failures.
    """

    label: str
    families: tuple[catalogue.Family, ...]
    marker: str
    colour: str
    filled: bool = True


LANGUAGE_MODELS: Final = Family("language model", ("language model",), "P", SKY, filled=False)

FAMILIES: Final = (
    Family("rules", ("rules",), "o", BLACK),
    Family("tree or additive model", ("tree or additive model",), "s", SKY),
    # the baseline is a forest too, over symptoms
    Family("ensemble of trees", ("ensemble of trees", "baseline"), "^", GREY),
    Family("raw telemetry", ("raw telemetry",), "v", SKY, filled=False),
    Family("hybrid", ("hybrid",), "D", BLACK, filled=False),
    Family("simulated person", ("simulated person",), "", GREY),
    LANGUAGE_MODELS,
)


def method_family(method: str) -> Family:
    """The family of a measured method.

    Raises
    ------
    BadInputError
        If it is not in the catalogue, and no language model either.
    """
    if method in catalogue.ENTRIES:
        name = catalogue.ENTRIES[method].family
        return next(family for family in FAMILIES if name in family.families)
    if is_language_model(method):
        return LANGUAGE_MODELS
    raise BadInputError(
        "data/metrics/intervals.json",
        method,
        "is no method of the catalogue, and so in no family.",
        "Give it an entry in failbench.methods.catalogue.",
    )
