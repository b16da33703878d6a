"""Labels: what methods, causes and signals are called, and what several captions say alike."""

from collections.abc import Iterable, Mapping
from typing import Final

import polars as pl

from failbench.base import methods as catalogue
from failbench.base.errors import BadInputError
from failbench.base.methods import ENTRIES, reads_monitor
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
    "memory_hardware": "Memory and hardware",
    "optimization": "Optimization",
    "data_pipeline": "Data pipeline",
    "model_software": "Model and software",
    "unknown": "Unknown",
}

SHORT_LABELS: Final[dict[Category, str]] = {  # for the axes of small panels
    "memory_hardware": "memory",
    "optimization": "optim.",
    "data_pipeline": "data",
    "model_software": "model",
    "unknown": "unknown",
}

METHOD_LABELS: Final = {entry.name: entry.label for entry in catalogue.CATALOGUE}
"""The methods of the paper in the order of its Table 1, then those that the table has not."""


def method_label(method: str) -> str:
    """What a measured method is called; an added language model by its name in params.yaml.

    >>> method_label("random_forest"), method_label("llm_qwen_7b")
    ('Random forest', 'qwen 7b')
    """
    if method in METHOD_LABELS:
        return METHOD_LABELS[method]
    if catalogue.is_language_model(method):
        return method.removeprefix(catalogue.OTHER_MODELS_PREFIX).replace("_", " ")
    problem = f"{method!r} is no method of the catalogue, and so has no label."
    remedy = "Give it an entry in failbench.methods.catalogue."
    raise BadInputError("predictions", "method", problem, remedy)


def reads_label(method: str) -> str:
    """What a method's answers rest on in every feature set, as tables say it.

    >>> reads_label("simple_rules"), reads_label("random_forest"), reads_label("llm_qwen_7b")
    ('features, error text', 'features', 'error text, step series')
    >>> reads_label("llm_mistral_7b_monitored")
    'error text, step series, invariants, ending'
    """
    method_label(method)
    entry = ENTRIES.get(method) or ENTRIES[catalogue.PAPER_MODELS[0]]
    # what the monitor's record adds to what a language model reads
    reads = {*entry.reads, *(("invariants", "ending") if reads_monitor(method) else ())}
    return ", ".join(source for source in catalogue.SOURCES if source in reads)


def reads_true_category(method: str) -> bool:
    """Whether a method is handed the true category, and so is an assumption and no diagnosis."""
    return method in ENTRIES and ENTRIES[method].reads_true_category


def made_in_view(method: str) -> bool:
    """Whether its rules were made with the scenarios in view: what it reaches is development.

    >>> made_in_view("invariants"), made_in_view("ending"), made_in_view("llm_mistral_7b_monitored")
    (True, False, True)
    """
    return reads_monitor(method) or (method in ENTRIES and ENTRIES[method].made_in_view)


def is_blind(method: str) -> bool:
    """Whether a method diagnoses scenarios that neither it nor its author has seen."""
    return not (reads_true_category(method) or made_in_view(method))


def is_of_blind() -> pl.Expr:
    """Of rows: whether their method is blind."""
    return pl.col("method").map_elements(is_blind, return_dtype=pl.Boolean)


def mark_of(method: str) -> str:
    """What a figure writes behind a label: how far a method's accuracy is from held out.

    An asterisk: rules that were developed on the scenarios decide. A double dagger: it reads checks
    that were developed on them, but learns out of fold what they mean. A dagger: it is handed the
    true category.

    >>> [mark_of(method) for method in ("ebm", "invariants", "ebm_on_invariants", "hybrid")]
    ['', '*', '‡', '†']
    """
    if reads_true_category(method):
        return "†"
    if not made_in_view(method):
        return ""
    decided = method in ENTRIES and ENTRIES[method].family in ("rules", "hybrid")
    return "*" if decided else "‡"


def drawn_label(method: str) -> str:
    """A label in a figure, with its mark.

    >>> drawn_label("random_forest"), drawn_label("invariants")
    ('Random forest', 'Monitor rules*')
    """
    return method_label(method) + mark_of(method)


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


DEVELOPMENT_NOTE: Final = (
    "The monitor's last rules were developed on these scenarios (in-sample); forest and EBM on "
    "invariants learn out of fold what its flags mean. Versions 1 and 2, which have tests of their "
    "own, are in paper/tables/monitor."
)


def development_note(methods: Iterable[str]) -> tuple[str, ...]:
    """The note that a caption owes to methods whose rules were made with the scenarios in view.

    >>> development_note(["random_forest", "ending"])
    ()
    """
    return (DEVELOPMENT_NOTE,) if any(made_in_view(method) for method in methods) else ()


REPLACED: Final = {  # scenarios whose trial runs did not fail (docs/categories.md)
    "gradients_not_cleared": "optimizer_maximizes",
    "only_biases_optimized": "weights_frozen",
    "scaling_without_epsilon": "standardised_over_one",
    "sequences_truncated": "single_document",
}

DECLARED_NOTE: Final = (
    "Difficulty was declared with each scenario, before the first runs that were kept, but that of "
    f"{len(REPLACED)} ({', '.join(sorted(REPLACED.values()))}) after trial runs had begun: they "
    "replaced scenarios that had not failed."
)
