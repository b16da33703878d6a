"""Methods: name, label, family, inputs and module of each, as ``data/methods.csv`` lists them.

Nothing that fits a model is imported: every table needs labels and families, and libraries that
fit take seconds to import.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final, Literal, get_args

from failbench.base.records import InCell, OrNone, Record, packaged_rows

Family = Literal[
    "rules",
    "tree or additive model",
    "ensemble of trees",
    "language model",
    "raw telemetry",
    "hybrid",
    "simulated human",
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


class CatalogueEntry(Record):
    """One method of the catalogue; one without a module is not fitted by name."""

    name: str
    label: str
    family: Family
    reads: Annotated[frozenset[Source], InCell]
    module: Annotated[str | None, OrNone]

    @property
    def reads_true_category(self) -> bool:
        """Whether it receives the true category: a simulation under an assumption, no diagnosis."""
        return "true category" in self.reads

    @property
    def made_in_view(self) -> bool:
        """Whether it rests on the monitor's rules, which were made with the scenarios in view."""
        return "invariants" in self.reads


CATALOGUE: Final = packaged_rows("failbench.base", "methods.csv", CatalogueEntry)
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


RECORDED_MODEL = "llm_unnamed_2026"
"""A model that was asked once, whose recorded answers are replayed."""

RECORDED_SEED = 0
"""Seed of the runs that it was asked about."""


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
