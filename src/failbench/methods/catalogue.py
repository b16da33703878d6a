"""Catalogue: every method that is measured, what it is called, what it reads, and where it is.

A method's module is imported when the method is built and not before: labels and families are
wanted by every table, and the libraries that fit models take seconds to import.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, get_args

from failbench.errors import BadInputError

if TYPE_CHECKING:
    from failbench.methods.declaration import MethodDeclaration

Family = Literal[
    "rules",
    "tree or additive model",
    "ensemble of trees",
    "language model",
    "raw telemetry",
    "hybrid",
    "simulated person",
    "baseline",
]
"""Methods that are read alike."""

Source = Literal["features", "error text", "symptoms", "step series", "true category"]
"""What an answer may rest on. ``symptoms`` are the error's type, the number of steps and which
measurements are missing; only simulations of people are handed the true category."""

SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True)
class CatalogueEntry:
    """A method as studies and people know it.

    Attributes
    ----------
    name
        As predictions and params.yaml call it.
    label
        As tables and figures call it.
    family
        Methods that are read alike.
    reads
        What its answers rest on in every feature set. Keywords of the error text are features, and
        part of the feature set that is named after them.
    module
        Where its declaration is, among ``DECLARATIONS``; None for what is not fitted here.
    """

    name: str
    label: str
    family: Family
    reads: frozenset[Source]
    module: str | None = None

    @property
    def told_the_truth(self) -> bool:
        """Whether it is handed the true category, and so is an assumption and no diagnosis."""
        return "true category" in self.reads


def _entry(
    name: str, label: str, family: Family, *reads: Source, module: str | None = None
) -> CatalogueEntry:
    return CatalogueEntry(name, label, family, frozenset(reads), module)


CATALOGUE: Final = (
    _entry(
        "simple_rules",
        "Simple rules",
        "rules",
        "features",
        "error text",
        module="failbench.methods.simple_rules",
    ),
    _entry(
        "improved_rules",
        "Improved rules",
        "rules",
        "features",
        "error text",
        module="failbench.methods.improved_rules",
    ),
    _entry(
        "learned_rules",
        "Learned rules",
        "rules",
        "features",
        module="failbench.methods.learned_rules",
    ),
    _entry("mistral_7b", "Mistral 7B", "language model", "step series", "error text"),
    _entry("llama_3_8b", "Llama 3 8B", "language model", "step series", "error text"),
    _entry(
        "logistic_regression",
        "Logistic regression",
        "tree or additive model",
        "features",
        module="failbench.methods.classifiers",
    ),
    _entry(
        "decision_tree",
        "Decision tree",
        "tree or additive model",
        "features",
        module="failbench.methods.classifiers",
    ),
    _entry(
        "random_forest",
        "Random forest",
        "ensemble of trees",
        "features",
        module="failbench.methods.classifiers",
    ),
    _entry(
        "lightgbm",
        "LightGBM",
        "ensemble of trees",
        "features",
        module="failbench.methods.classifiers",
    ),
    _entry(
        "ebm",
        "EBM",
        "tree or additive model",
        "features",
        module="failbench.methods.boosting_machine",
    ),
    _entry(
        "simulated_human",
        "Simulated human",
        "simulated person",
        "true category",
        module="failbench.methods.simulated_human",
    ),
    _entry(
        "hybrid",
        "Hybrid, three-way",
        "hybrid",
        "features",
        "error text",
        "true category",
        module="failbench.methods.composed_methods",
    ),
    _entry(
        "hybrid_two_way",
        "Hybrid, two-way",
        "hybrid",
        "features",
        "error text",
        module="failbench.methods.composed_methods",
    ),
    _entry(
        "symptom_baseline",
        "Symptom baseline",
        "baseline",
        "symptoms",
        module="failbench.methods.symptom_baseline",
    ),
    _entry(
        "raw_series",
        "Raw series",
        "raw telemetry",
        "step series",
        module="failbench.methods.raw.telemetry",
    ),
    _entry(
        "raw_text",
        "Raw error text",
        "raw telemetry",
        "error text",
        module="failbench.methods.raw.telemetry",
    ),
    _entry(
        "raw_telemetry",
        "Raw telemetry",
        "raw telemetry",
        "step series",
        "error text",
        module="failbench.methods.raw.telemetry",
    ),
)
"""The methods of the paper in the order of its Table 1, then those that the table has not."""

ENTRIES: Final = {entry.name: entry for entry in CATALOGUE}

FEATURE_METHODS: Final = tuple(
    entry.name for entry in CATALOGUE if entry.module and entry.family != "raw telemetry"
)
"""Methods that are fitted to the feature table; the others receive the raw table, or nothing."""


def method_named(name: str) -> MethodDeclaration:
    """Look up how a method that is fitted to the feature table is built.

    Raises
    ------
    BadInputError
        If there is no such method.
    """
    if name not in FEATURE_METHODS:
        known = ", ".join(FEATURE_METHODS)
        raise BadInputError("methods", "method", f"{name!r} is unknown.", f"Choose one of {known}.")
    module = ENTRIES[name].module
    assert module is not None
    declarations: dict[str, MethodDeclaration] = import_module(module).DECLARATIONS
    return declarations[name]
