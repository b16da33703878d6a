"""Language-model signals: the names of a record's values, and the causes that they indicate."""

from __future__ import annotations

import re
from dataclasses import dataclass

from failbench.base.vocabulary import CATEGORIES, Category
from failbench.monitor.invariants import CATALOGUE


@dataclass(frozen=True)
class Signal:
    """A value that a record shows."""

    name: str
    categories: tuple[Category, ...]
    source: str
    aliases: tuple[str, ...] = ()


STEP_SIGNALS: tuple[Signal, ...] = (
    Signal(
        "loss",
        ("optimization", "data_pipeline"),
        "the paper's section 3.1: oscillation and stagnation; data failures in which loss does not "
        "decrease",
        ("train_loss", "training_loss", "loss_trend"),
    ),
    Signal(
        "gradient_norm",
        ("optimization",),
        "the paper's section 3.1: gradients that explode or vanish",
        ("grad_norm", "gradient", "gradients", "gradient_norms", "norm"),
    ),
    Signal(
        "learning_rate",
        ("optimization",),
        "the paper's section 3.1: a learning rate that is too high",
        ("lr", "learning_rate_at_failure"),
    ),
    Signal(
        "clip_norm",
        ("optimization",),
        "the paper's section 3.1: clipping that is not configured correctly",
        ("gradient_clipping", "clipping", "gradient_clip", "grad_clip"),
    ),
    Signal(
        "memory",
        ("memory_hardware",),
        "the paper's section 3.1: leaks, exhaustion and excessive use",
        ("memory_usage", "memory_used", "memory_fraction", "memory_at_failure", "used_memory"),
    ),
    Signal(
        "step_seconds",
        ("memory_hardware", "unknown"),
        "the paper's sections 3.1 and 6.12: swapping; slow-downs that are labelled unknown",
        ("step_time", "batch_time", "seconds", "time_per_step", "step_duration"),
    ),
    Signal(
        "batch_size",
        ("memory_hardware",),
        "the paper's section 3.1: the interplay of model size, batch size and memory",
        ("batch", "sequences"),
    ),
    Signal(
        "tokens",
        ("data_pipeline",),
        "the paper's section 3.1: distorted inputs",
        ("token_count",),
    ),
    Signal(
        "unknown_share",
        ("data_pipeline",),
        "the paper's section 3.1: tokenization errors",
        ("unknown_tokens", "unknown_token_share", "oov", "oov_rate", "unknown_rate"),
    ),
    Signal(
        "covered_share",
        ("data_pipeline",),
        "the paper's section 3.1: tokens without an embedding",
        ("covered_tokens", "coverage", "vocabulary_coverage", "vocab_coverage"),
    ),
    Signal(
        "max_token_id",
        ("data_pipeline", "model_software"),
        "the paper's section 3.1: tokens without an embedding; a vocabulary size that does not "
        "match the tokenizer",
        ("token_id", "token_ids", "highest_token_id", "largest_token_id"),
    ),
    Signal(
        "mean_length",
        ("data_pipeline", "memory_hardware"),
        "the paper's section 3.2: sequence lengths are corpus statistics; and they take memory",
        ("mean_sequence_length", "average_length", "length", "sequence_length"),
    ),
    Signal(
        "max_length",
        ("data_pipeline", "memory_hardware"),
        "the same",
        ("max_sequence_length", "maximum_length", "longest_sequence"),
    ),
    Signal(
        "validation_loss",
        ("data_pipeline",),
        "the paper's equation 1: perplexity, of which it is the logarithm",
        ("val_loss", "eval_loss", "held_out_loss"),
    ),
)
"""Columns of the table of steps, in their order."""

CONFIGURATION_SIGNALS: tuple[Signal, ...] = (
    Signal(
        "steps_begun",
        ("model_software",),
        "the paper's section 3.1: a crash right away",
        ("steps", "step", "steps_before_failure"),
    ),
    Signal(
        "parameters",
        ("memory_hardware",),
        "the paper's section 3.1: the interplay of model size, batch size and memory",
        ("parameter_count", "model_size", "params"),
    ),
    *(
        Signal(name, ("model_software",), "the paper's section 3.1: dimensions that do not match")
        for name in ("width", "layers", "heads")
    ),
    *(
        Signal(
            name,
            ("data_pipeline", "model_software"),
            "the paper's section 3.1: a vocabulary size that does not match the tokenizer",
            aliases,
        )
        for name, aliases in (
            ("model_vocabulary", ("vocab_size", "vocabulary_size", "model_vocab")),
            ("tokenizer_vocabulary", ("tokenizer_vocab", "tokenizer_vocab_size")),
        )
    ),
    Signal(
        "schedule",
        ("optimization",),
        "the paper's section 3.2: learning rate schedules are training metrics",
        ("learning_rate_schedule", "lr_schedule", "scheduler"),
    ),
    Signal(
        "memory_capacity_mib",
        ("memory_hardware",),
        "the paper's section 3.1: memory limitations",
        ("memory_capacity", "capacity", "capacity_mib"),
    ),
    *(
        Signal(name, ("data_pipeline",), "the paper's section 3.2: corpus statistics", (name[7:],))
        for name in (
            "corpus_documents",
            "corpus_tokens",
            "corpus_distinct_tokens",
            "corpus_unknown_share",
            "corpus_token_entropy",
        )
    ),
)
"""Values shown once per run, in their order."""

ERROR_SIGNALS: tuple[Signal, ...] = tuple(
    Signal(
        name,
        ("memory_hardware", "data_pipeline", "model_software", "unknown"),
        "the paper's sections 3.1, 4.1 and 6.12: what is raised, or that a process was killed",
        aliases,
    )
    for name, aliases in (
        ("error_type", ("exception", "exception_type")),
        ("error_message", ("error", "message", "error_text", "exception_message")),
        ("error_traceback", ("traceback", "stack_trace", "stack")),
    )
)
"""The error text."""

SIGNALS: tuple[Signal, ...] = (*STEP_SIGNALS, *CONFIGURATION_SIGNALS, *ERROR_SIGNALS)

END_SIGNALS: tuple[Signal, ...] = tuple(
    Signal(name, ERROR_SIGNALS[0].categories, ERROR_SIGNALS[0].source, aliases)
    for name, aliases in (
        ("end_kind", ("end", "ending")),
        ("end_phase", ("phase",)),
        ("end_error", ()),
    )
)
"""How the monitor saw a run end, in their order."""

MONITOR_SIGNALS: tuple[Signal, ...] = (
    *END_SIGNALS,
    *(
        Signal(
            name,
            tuple(
                category
                for category in CATEGORIES
                if any((each.signal, each.component) == (name, category) for each in CATALOGUE)
            ),
            "the monitor's catalogue: the components whose invariants speak of the signal",
        )
        for name in dict.fromkeys(invariant.signal for invariant in CATALOGUE)
        if name not in {signal.name for signal in SIGNALS}
    ),
)
"""What the monitor's record shows beside :data:`SIGNALS`, some of which it shows as well."""

QUALIFIERS = frozenset(
    {
        "at",
        "average",
        "current",
        "failure",
        "final",
        "first",
        "high",
        "highest",
        "in",
        "initial",
        "largest",
        "last",
        "latest",
        "low",
        "lowest",
        "max",
        "maximum",
        "mean",
        "min",
        "minimum",
        "of",
        "peak",
        "recent",
        "spike",
        "step",
        "sudden",
        "the",
        "value",
    }
)
"""Words that qualify a signal and are not part of its name."""


def plain(name: str) -> str:
    """A name in lower case, its words joined by single underscores.

    >>> plain(" Gradient-Norm (max)")
    'gradient_norm_max'
    """
    return "_".join(re.findall(r"[a-z0-9]+", name.lower()))


_NAMES = {alias: signal for signal in reversed(SIGNALS) for alias in (*signal.aliases, signal.name)}
_MONITOR_NAMES = {
    alias: signal for signal in MONITOR_SIGNALS for alias in (*signal.aliases, signal.name)
}


def signal_named(name: str, *, monitored: bool = False) -> Signal | None:
    """The signal that an answer cites, or None where the record has none of that name.

    A name is compared with names and aliases as :func:`plain` writes it; then without numbers and
    the words of ``QUALIFIERS``, so that "max gradient norm at step 120" is ``gradient_norm``.
    """
    names = {**_MONITOR_NAMES, **_NAMES} if monitored else _NAMES
    whole = plain(name)
    if whole in names:
        return names[whole]
    words = [word for word in whole.split("_") if word not in QUALIFIERS and not word.isdecimal()]
    return names.get("_".join(words))
