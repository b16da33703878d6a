"""Methods: their interface, their settings, and how they are built from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, cast

import pandas as pd

from failbench.base.arrays import Labels, Probabilities
from failbench.base.records import Record
from failbench.base.verdicts import Diagnosis
from failbench.methods.healthy import HealthyBand


class Method(Protocol):
    """An estimator over features and error text by run_id; probabilities are as ``CATEGORIES``."""

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Learn from labelled runs; ``groups`` are their scenarios."""
        ...

    def predict(self, X: pd.DataFrame) -> Labels:
        """The category of each run, or ``"abstain"``."""
        ...

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """Probabilities of shape ``[n_runs, n_categories]``."""
        ...

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """The answer to each run, equal to that of ``predict``, with its evidence."""
        ...


@dataclass(frozen=True)
class Context:
    """What a method is built with besides its settings.

    Attributes
    ----------
    features
        Columns of the feature set in use.
    band
        Healthy band of successful runs; no method is tested on these.
    seed
        Seed of everything random in the method.
    true_categories
        True categories by ``run_id``, for simulations of people; empty for every other method.
    known
        Columns that say what the monitor knows of a run by 1 and 0, whatever the feature set; empty
        where no method reads it.
    """

    features: tuple[str, ...]
    band: HealthyBand
    seed: int
    true_categories: Mapping[str, str] = field(default_factory=dict)
    known: tuple[str, ...] = ()


class Sections(Record):
    """Settings of a method composed of others: one field per section of params.yaml."""


@dataclass(frozen=True)
class MethodDeclaration:
    """A method's settings and how to build it from them.

    Attributes
    ----------
    name
        Its name, and that of its section of params.yaml unless it is composed of other methods.
    settings
        The record of that section, or :class:`Sections` with the records of several.
    build
        From settings and context to the method, unfitted.
    simulation
        Whether it simulates people and so receives the true categories.
    reads_features
        Whether its answers depend on the feature set in use; those of one that does not are
        predicted once for all sets.
    """

    name: str
    settings: type[Record]
    build: Callable[[Any, Context], Method]
    simulation: bool = False
    reads_features: bool = True

    @property
    def sections(self) -> dict[str, type[Record]]:
        """Sections of params.yaml that the settings are made of, each with its record."""
        if not issubclass(self.settings, Sections):
            return {self.name: self.settings}
        fields = self.settings.model_fields
        return {name: cast("type[Record]", info.annotation) for name, info in fields.items()}

    def assemble(self, sections: Mapping[str, Record]) -> Record:
        """The settings that ``build`` takes, from the records of :attr:`sections`."""
        if not issubclass(self.settings, Sections):
            return sections[self.name]
        return self.settings.model_validate(dict(sections))


def by_name(*declarations: MethodDeclaration) -> dict[str, MethodDeclaration]:
    """Declarations by name, as a module offers them to the catalogue."""
    return {declaration.name: declaration for declaration in declarations}


def from_features(
    make: Callable[[Any, tuple[str, ...], int], Method], settings: Record, context: Context
) -> Method:
    """A method on the feature set in use."""
    return make(settings, context.features, context.seed)
