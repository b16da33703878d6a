"""Statements: what the data card says in sentences, declared as data with numbers left open."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.resources import files
from string import Template
from typing import Final

from failbench.base.records import Record

_FOLDER: Final = files("failbench.publish.datacard").joinpath("data")

Sentences = tuple[str, ...]


class Statements(Record):
    """What is said of the data as a whole; see ``data/card.json``.

    The names follow the vocabulary of Croissant for responsible AI, which says what belongs where.
    """

    licence_url: str
    intended_uses: Sentences
    unintended_uses: Sentences
    limitations: Sentences
    biases: Sentences
    collection: str
    missing_data: str
    preprocessing: Sentences
    annotation: str
    labels_per_item: str
    annotators: Sentences
    machine_annotation: Sentences
    personal: str
    social_impact: str
    maintenance: str


def statements(facts: Mapping[str, str]) -> Statements:
    """The statements, with the numbers that they name."""
    raw = json.loads(_FOLDER.joinpath("card.json").read_text(encoding="utf-8"))
    filled = {
        name: Template(said).substitute(facts)
        if isinstance(said, str)
        else tuple(Template(sentence).substitute(facts) for sentence in said)
        for name, said in raw.items()
    }
    return Statements.model_validate(filled)


def card_template() -> Template:
    """The card as a page, with what is filled in from the data left open."""
    return Template(_FOLDER.joinpath("card.md").read_text(encoding="utf-8"))
