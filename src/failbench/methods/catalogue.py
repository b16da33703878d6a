"""Catalogue: name, label, family, inputs and module of every method.

A method's module is imported only when the method is built: every table needs labels and families,
and the libraries that fit models take seconds to import.
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
"""Kinds of methods whose answers are explained in the same way."""

Source = Literal[
    "features",
    "error text",
    "symptoms",
    "step series",
    "invariants",
    "ending",
    "true category",
]
"""Inputs of a method. ``symptoms`` are the error's type, the number of steps and which
measurements are missing; ``invariants`` are what the monitor saw break, ``ending`` is how and in
which phase it saw the run end; only simulations of people receive the true category."""

SOURCES: tuple[Source, ...] = get_args(Source)


@dataclass(frozen=True)
class CatalogueEntry:
    """One method of the catalogue."""

    name: str
    label: str
    family: Family
    reads: frozenset[Source]
    module: str | None = None

    @property
    def reads_true_category(self) -> bool:
        """Whether it receives the true category: a simulation under an assumption, no diagnosis."""
        return "true category" in self.reads

    @property
    def made_in_view(self) -> bool:
        """Whether it rests on the monitor's rules, which were made with the scenarios in view."""
        return "invariants" in self.reads


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
    _entry("hybrid_monitor", "Hybrid, monitor", "hybrid", "features", "invariants", "ending"),
    _entry(
        "symptom_baseline",
        "Symptom baseline",
        "baseline",
        "symptoms",
        module="failbench.methods.symptom_baseline",
    ),
    _entry(
        "invariants",
        "Invariants",
        "rules",
        "invariants",
        "ending",
        module="failbench.methods.monitor_methods",
    ),
    _entry(
        "invariants_abstaining",
        "Invariants, abstaining",
        "rules",
        "invariants",
        "ending",
        module="failbench.methods.monitor_methods",
    ),
    _entry(
        "forest_on_invariants",
        "Forest on invariants",
        "ensemble of trees",
        "invariants",
        "ending",
        module="failbench.methods.monitor_methods",
    ),
    _entry(
        "ebm_on_invariants",
        "EBM on invariants",
        "tree or additive model",
        "invariants",
        "ending",
        module="failbench.methods.monitor_methods",
    ),
    _entry(
        "ending",
        "Ending alone",
        "baseline",
        "ending",
        module="failbench.methods.monitor_methods",
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
"""The methods of the paper in the order of its Table 1, then the others."""

ENTRIES: Final = {entry.name: entry for entry in CATALOGUE}

MONITOR_METHODS: Final = tuple(
    entry.name for entry in CATALOGUE if entry.module and "ending" in entry.reads
)
"""Methods that read what the monitor knows of runs, beside the feature table."""

FEATURE_METHODS: Final = tuple(
    entry.name
    for entry in CATALOGUE
    if entry.module and entry.family != "raw telemetry" and entry.name not in MONITOR_METHODS
)
"""Methods that are fitted to the feature table alone."""


def method_named(name: str) -> MethodDeclaration:
    """The declaration of a method that is fitted to features, or to what the monitor knows."""
    if name not in (*FEATURE_METHODS, *MONITOR_METHODS):
        known = ", ".join((*FEATURE_METHODS, *MONITOR_METHODS))
        raise BadInputError("methods", "method", f"{name!r} is unknown.", f"Choose one of {known}.")
    module = ENTRIES[name].module
    assert module is not None
    declarations: dict[str, MethodDeclaration] = import_module(module).DECLARATIONS
    return declarations[name]
