"""Labels: what methods, causes, architectures and signals are called in tables and figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from failbench.base.errors import BadInputError
from failbench.base.methods import (
    CATALOGUE,
    ENTRIES,
    OTHER_MODELS_PREFIX,
    PAPER_MODELS,
    SOURCES,
    Source,
    is_language_model,
    reads_monitor,
)
from failbench.base.scenarios import Architecture
from failbench.base.vocabulary import ALL_GROUPS, PRIMARY_SET, SIGNAL_GROUPS, Category

FEATURE_SET_LABELS = {PRIMARY_SET: "19", "19+keywords": "19 + keywords"}
"""Feature sets that the tables show, in this order, with their headings."""

ARCHITECTURE_LABELS: Final[Mapping[Architecture, str]] = {
    "transformer": "Transformer",
    "t5": "T5",
    "distilbert": "DistilBERT",
    "bert": "BERT",
    "lstm": "LSTM",
    "gru": "GRU",
}

GROUP_LABELS: Final[dict[str, str]] = {
    **{group: group.replace("_", " ") for group in SIGNAL_GROUPS},
    ALL_GROUPS: "all signals",
}

CATEGORY_LABELS: Final[dict[Category, str]] = {
    "memory_hardware": "Memory hardware",
    "optimization": "Optimization",
    "data_pipeline": "Data pipeline",
    "model_software": "Model software",
    "unknown": "Unknown",
}

SHORT_LABELS: Final[dict[Category, str]] = {
    "memory_hardware": "memory",
    "optimization": "optim.",
    "data_pipeline": "data",
    "model_software": "model",
    "unknown": "unknown",
}
"""For the axes of small panels."""

METHOD_LABELS: Final = {entry.name: entry.label for entry in CATALOGUE}
"""The methods of the paper in the order of its Table 1, then those that the table has not."""


def method_label(method: str) -> str:
    """What a measured method is called.

    A language model that was added to ``params.yaml`` is called by its name there.

    >>> method_label("random_forest"), method_label("llm_qwen_7b")
    ('Random forest', 'qwen 7b')
    """
    if method not in METHOD_LABELS and is_language_model(method):
        return method.removeprefix(OTHER_MODELS_PREFIX).replace("_", " ")
    if method not in METHOD_LABELS:
        raise BadInputError(
            "predictions",
            "method",
            f"{method!r} is no method of the catalogue, and so has no label.",
            "Give it an entry in failbench.methods.catalogue.",
        )
    return METHOD_LABELS[method]


_OF_MONITOR: Final[frozenset[Source]] = frozenset({"invariants", "ending"})
"""What the monitor's record adds to what a language model reads."""


def reads_label(method: str) -> str:
    """What a method's answers rest on in every feature set, as tables say it.

    >>> reads_label("simple_rules"), reads_label("random_forest"), reads_label("llm_qwen_7b")
    ('features, error text', 'features', 'error text, step series')
    >>> reads_label("llm_mistral_7b_monitored")
    'error text, step series, invariants, ending'
    """
    method_label(method)
    entry = ENTRIES.get(method) or ENTRIES[PAPER_MODELS[0]]
    reads = entry.reads | (_OF_MONITOR if reads_monitor(method) else frozenset())
    return ", ".join(source for source in SOURCES if source in reads)


def reads_true_category(method: str) -> bool:
    """Whether a method is handed the true category, and so is an assumption and no diagnosis."""
    return method in ENTRIES and ENTRIES[method].reads_true_category


def made_in_view(method: str) -> bool:
    """Whether a method rests on rules that were made with the benchmark's scenarios in view.

    What it reaches on them is development: no figure says that it is the best of all.

    >>> made_in_view("invariants"), made_in_view("ending"), made_in_view("llm_mistral_7b_monitored")
    (True, False, True)
    """
    return reads_monitor(method) or (method in ENTRIES and ENTRIES[method].made_in_view)


def is_blind(method: str) -> bool:
    """Whether a method diagnoses scenarios that neither it nor its author has seen."""
    return not (reads_true_category(method) or made_in_view(method))


def drawn_label(method: str) -> str:
    """A method's label in a figure: with an asterisk, which the title explains, if it is not blind.

    Those that are handed the true category have none: their marks are hollow.

    >>> drawn_label("random_forest"), drawn_label("invariants")
    ('Random forest', 'Invariants*')
    """
    return method_label(method) + ("*" if made_in_view(method) else "")


def label_inside(method: str) -> str:
    """A method's label as it reads inside a sentence: names like LightGBM keep their capitals.

    >>> label_inside("random_forest"), label_inside("lightgbm")
    ('random forest', 'LightGBM')
    """
    label = method_label(method)
    named = any(letter.isupper() for letter in label[1:])
    return label if named else label[0].lower() + label[1:]


def in_label_order(methods: Iterable[str]) -> list[str]:
    """Methods in the order of their labels, each once; those without a label last, by name.

    >>> in_label_order(["llm_qwen_7b", "ebm", "simple_rules"])
    ['simple_rules', 'ebm', 'llm_qwen_7b']
    """
    given = set(methods)
    labelled = (method for method in METHOD_LABELS if method in given)
    return [*labelled, *sorted(given - set(METHOD_LABELS))]
