"""Captions: what several captions must say alike."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from failbench.study.labels import made_in_view

SCALE_NOTE: Final = (
    "Measured on small models: 3,403 runs on a CPU, 2 layers, 0.072 to 10 million parameters "
    "(median 0.20 million), a vocabulary of 512 tokens, 280 to 320 planned steps; the paper's "
    "models have 12 to 110 million parameters."
)
"""Beside the page's figures; a test holds it against :func:`~.scope.scale_note` of all runs."""

DEVELOPMENT_NOTE: Final = (
    "Methods on invariants rest on the last version of the monitor's rules, which was made with "
    "these scenarios in view: what they reach is development. Version 1, by the author of the "
    "faults, was frozen before any failing run had been recorded with the monitor; what it "
    "reached, and version 2 on the half that it was not made on, is in paper/tables/monitor."
)


def with_development(title: str, methods: Iterable[str]) -> str:
    """The title of a figure, which explains the asterisk of :func:`~.labels.drawn_label` if needed.

    >>> with_development("Rules are right", ["ending", "invariants"])
    'Rules are right (*: by rules made with these scenarios in view)'
    """
    starred = any(made_in_view(method) for method in methods)
    return f"{title} (*: by rules made with these scenarios in view)" if starred else title


def development_note(methods: Iterable[str]) -> tuple[str, ...]:
    """The note that a caption owes to methods whose rules were made with the scenarios in view.

    >>> development_note(["random_forest", "ending"])
    ()
    """
    return (DEVELOPMENT_NOTE,) if any(made_in_view(method) for method in methods) else ()


REPLACED: Final = {
    "gradients_not_cleared": "optimizer_maximizes",
    "only_biases_optimized": "weights_frozen",
    "scaling_without_epsilon": "standardised_over_one",
    "sequences_truncated": "single_document",
}
"""Scenarios whose trial runs did not fail, and what took their places (docs/categories.md)."""

DECLARED_NOTE: Final = (
    "Difficulty was declared with each scenario, before the first runs that were kept, but that of "
    f"{len(REPLACED)} ({', '.join(sorted(REPLACED.values()))}) after trial runs had begun: they "
    "replaced scenarios that had not failed."
)
