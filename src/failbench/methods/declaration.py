"""Methods: their interface, their settings, and how they are built from them."""

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
    """What a method is built with besides its settings."""

    features: tuple[str, ...]
    band: HealthyBand  # no method is tested on its successful runs
    seed: int
    true_categories: Mapping[str, str] = field(default_factory=dict)  # for simulations of people
    known: tuple[str, ...] = ()  # columns of what the monitor knows, by 1 and 0


class Sections(Record):
    """Settings of a method composed of others: one field per section of params.yaml."""


@dataclass(frozen=True)
class MethodDeclaration:
    """A method's settings and how to build it from them, unfitted."""

    name: str  # and that of its section of params.yaml, unless it is composed of other methods
    settings: type[Record]  # of that section, or Sections with the records of several
    build: Callable[[Any, Context], Method]
    simulation: bool = False  # of people, who receive the true categories
    reads_features: bool = True  # else it is predicted once for all feature sets

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
