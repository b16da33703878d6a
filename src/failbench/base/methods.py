"""Methods: name, label, family, inputs and module of each.

Nothing that fits a model is imported: every table needs labels and families, and libraries that
fit take seconds to import.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, get_args

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
        "simple_rules", "Simple rules", "rules", "features", "error text", module="simple_rules"
    ),
    _entry(
        "improved_rules",
        "Improved rules",
        "rules",
        "features",
        "error text",
        module="improved_rules",
    ),
    _entry("learned_rules", "Learned rules", "rules", "features", module="learned_rules"),
    _entry("mistral_7b", "Mistral 7B", "language model", "step series", "error text"),
    _entry("llama_3_8b", "Llama 3 8B", "language model", "step series", "error text"),
    _entry(
        "logistic_regression",
        "Logistic regression",
        "tree or additive model",
        "features",
        module="classifiers",
    ),
    _entry(
        "decision_tree", "Decision tree", "tree or additive model", "features", module="classifiers"
    ),
    _entry("random_forest", "Random forest", "ensemble of trees", "features", module="classifiers"),
    _entry("lightgbm", "LightGBM", "ensemble of trees", "features", module="classifiers"),
    _entry("ebm", "EBM", "tree or additive model", "features", module="boosting_machine"),
    _entry(
        "simulated_human",
        "Simulated human",
        "simulated person",
        "true category",
        module="simulated_human",
    ),
    _entry(
        "hybrid",
        "Hybrid, three-way",
        "hybrid",
        "features",
        "error text",
        "true category",
        module="composed_methods",
    ),
    _entry(
        "hybrid_two_way",
        "Hybrid, two-way",
        "hybrid",
        "features",
        "error text",
        module="composed_methods",
    ),
    _entry("hybrid_monitor", "Hybrid, monitor", "hybrid", "features", "invariants", "ending"),
    _entry(
        "symptom_baseline", "Symptom baseline", "baseline", "symptoms", module="symptom_baseline"
    ),
    _entry("invariants", "Invariants", "rules", "invariants", "ending", module="monitor_methods"),
    _entry(
        "invariants_abstaining",
        "Invariants, abstaining",
        "rules",
        "invariants",
        "ending",
        module="monitor_methods",
    ),
    _entry(
        "forest_on_invariants",
        "Forest on invariants",
        "ensemble of trees",
        "invariants",
        "ending",
        module="monitor_methods",
    ),
    _entry(
        "ebm_on_invariants",
        "EBM on invariants",
        "tree or additive model",
        "invariants",
        "ending",
        module="monitor_methods",
    ),
    _entry("ending", "Ending alone", "baseline", "ending", module="monitor_methods"),
    _entry("raw_series", "Raw series", "raw telemetry", "step series", module="raw.telemetry"),
    _entry("raw_text", "Raw error text", "raw telemetry", "error text", module="raw.telemetry"),
    _entry(
        "raw_telemetry",
        "Raw telemetry",
        "raw telemetry",
        "step series",
        "error text",
        module="raw.telemetry",
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


PAPER_MODELS = ("mistral_7b", "llama_3_8b")
"""Labels of the models of the paper."""

OTHER_MODELS_PREFIX = "llm_"
"""Prefix of the labels of all other models, which keeps them apart from other methods."""

MONITORED_SUFFIX = "_monitored"
"""Suffix of the labels of models that read what the monitor recorded too, as tables say it."""


def is_language_model(method: str) -> bool:
    """Whether a method is a language model, by its label.

    >>> is_language_model("mistral_7b"), is_language_model("llm_qwen_7b"), is_language_model("ebm")
    (True, True, False)
    """
    return method in PAPER_MODELS or method.startswith(OTHER_MODELS_PREFIX)


def reads_monitor(method: str) -> bool:
    """Whether a method is a language model that reads what the monitor recorded, by its label.

    >>> reads_monitor("llm_mistral_7b_monitored"), reads_monitor("mistral_7b")
    (True, False)
    """
    return is_language_model(method) and method.endswith(MONITORED_SUFFIX)


def reads_known(methods: Iterable[str]) -> bool:
    """Whether one of some methods reads what the monitor knows."""
    return not set(methods).isdisjoint(MONITOR_METHODS)


Reads = Literal["telemetry", "telemetry_and_monitor"]
"""What a prompt shows: telemetry and error text of a run; and what the monitor recorded of it."""
