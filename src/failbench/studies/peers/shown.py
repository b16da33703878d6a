"""What the tables and the figure of the study of peers are made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from failbench.peers.rules import rules_of
from failbench.peers.standards import standards
from failbench.reporting.labels import ARCHITECTURE_LABELS, drawn_label, method_label
from failbench.studies.peers.elsewhere import Asked, Elsewhere
from failbench.studies.peers.said import PACKAGE

PACKAGE_LABEL: Final = "failbench diagnose"

GROUPS: Final = {
    "rules": "Documented rules, held against the telemetry",
    "tools": "Other tools, given complete logs afterwards",
    "elsewhere": "Other tools, asked about runs of other architectures",
    "ours": "Ours",
}


@dataclass(frozen=True)
class Shown:
    """Results; see :mod:`failbench.studies.peers.results`."""

    rates: pl.DataFrame
    detail: pl.DataFrame
    rules: pl.DataFrame
    coverage: pl.DataFrame
    missing: pl.DataFrame
    chosen: pl.DataFrame
    runs: pl.DataFrame
    elsewhere: Elsewhere
    reads: Mapping[str, str]
    methods: tuple[str, ...]
    repeats: int
    folds: int
    repeats_of_methods: int
    confidence: float

    @property
    def by_group(self) -> dict[str, list[str]]:
        """Methods that have rates, by what they are."""
        peers = set(self.rates["method"]) & set(standards())
        return {
            "rules": [peer for peer in standards() if peer in peers and rules_of(peer)],
            "tools": [peer for peer in standards() if peer in peers and not rules_of(peer)],
            "elsewhere": self.elsewhere.said["method"].unique(maintain_order=True).to_list(),
            "ours": [PACKAGE, *self.methods],
        }

    def rate(self, choice: str, method: str, metric: str) -> dict[str, Any] | None:
        """A row of the rates, if there is one."""
        rows = self.rates.filter(choice=choice, method=method, metric=metric).to_dicts()
        return rows[0] if rows else None

    def sizes(self, method: str) -> dict[str, int]:
        """How many runs of each kind a method is judged on that was asked about other settings."""
        of_method = self.elsewhere.said.filter(method=method)
        runs = self.elsewhere.runs.join(of_method, on="run_id", how="semi")
        return dict(runs.group_by("kind").len().iter_rows())


def architecture(asked: Asked) -> str:
    """What the architecture is called whose runs a peer was asked about.

    >>> architecture(Asked("default_plus_plus", "distilbert-adamw"))
    'DistilBERT'
    """
    name = asked.setting.partition("-")[0]
    return next(text for known, text in ARCHITECTURE_LABELS.items() if known == name)


def label(method: str) -> str:
    """What a tool or a method is called in tables.

    >>> label("lightning"), label("failbench_diagnose"), label("random_forest")
    ('PyTorch Lightning', 'failbench diagnose', 'Random forest')
    >>> label("default_plus_plus:distilbert-adamw:read")
    'DEFault++ in DistilBERT, as read'
    """
    if asked := Asked.of(method):
        of_peer = f"{standards()[asked.peer].label} in {architecture(asked)}"
        return f"{of_peer}, as read" if asked.read else of_peer
    if method == PACKAGE:
        return PACKAGE_LABEL
    return standards()[method].label if method in standards() else method_label(method)


def label_in_figure(method: str) -> str:
    """The same with what figures add, and without what stands in brackets.

    >>> label_in_figure("ml_training_debugger"), label_in_figure("invariants")
    ('ml-training-debugger', 'Invariants*')
    """
    if method == PACKAGE or method in standards() or Asked.of(method):
        return label(method).partition(" (")[0]
    return drawn_label(method)
