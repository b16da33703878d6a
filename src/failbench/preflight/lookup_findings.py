"""Lookup findings: indices that are not in their table, and labels that are no class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

from failbench.preflight.findings import Finding, finding
from failbench.preflight.index_rules import Lookup
from failbench.preflight.tensors import named_tensors


class LookupFindings:
    """Collects what is wrong with the look-ups of a step."""

    def __init__(self, vocabulary: int | None) -> None:
        self.findings: list[Finding] = []
        self._vocabulary = vocabulary
        self._batch: Mapping[str, Tensor] = {}

    @contextmanager
    def about(self, batch: Any) -> Iterator[None]:
        """Know the batch, whose values tell data from what a model computes."""
        self._batch = dict(named_tensors(batch))
        yield

    def note(self, lookup: Lookup, where: str) -> None:
        """Look at one look-up."""
        if lookup.averaged and not lookup.counted.numel():
            self._add(
                finding(
                    "no_targets",
                    where=self._key(lookup) or where,
                    total=lookup.known.value.numel(),
                    ignored=lookup.ignored,
                )
            )
        outside = lookup.outside
        if not outside.numel():
            return
        counted = lookup.counted
        values: dict[str, Any] = {
            "lowest": int(counted.min()),
            "highest": int(counted.max()),
            "rows": lookup.rows,
            "least": lookup.least,
            "most": lookup.rows - 1,
            "outside": outside.numel(),
            "total": lookup.known.value.numel(),
            "ignored": lookup.ignored,
            "key": self._key(lookup),
            "vocabulary": self._vocabulary,
        }
        kind = self._kind(lookup)
        place = where or str(values["key"])
        self._add(finding(kind, where=place, error=lookup.error, **values))

    def explains(self, error: Exception) -> bool:
        """Whether an exception is that of a look-up that was noted."""
        return isinstance(error, IndexError) and any(
            each.error is not None and str(error) in each.error for each in self.findings
        )

    def _kind(self, lookup: Lookup) -> str:
        if lookup.rule.kind == "label":
            return "label_outside_classes"
        if not self._is_of_data(lookup):
            return "index_of_model_outside_table"
        outside = lookup.outside
        if self._vocabulary is not None and bool(
            ((outside >= 0) & (outside < self._vocabulary)).all()
        ):
            return "index_of_data_outside_model_table"
        return "index_of_data_outside_table"

    def _is_of_data(self, lookup: Lookup) -> bool:
        """Whether the indices stand in the batch as they are."""
        sources = [self._batch[key] for key in lookup.known.keys if key in self._batch]
        if not lookup.known.untouched or not sources:
            return False
        there = torch.cat([each.detach().cpu().flatten() for each in sources])
        return bool(torch.isin(lookup.outside, there).all())

    def _key(self, lookup: Lookup) -> str:
        """The key of the batch that the indices come from."""
        return ", ".join(sorted(lookup.known.keys)) or "The index"

    def _add(self, each: Finding) -> None:
        if all((each.id, each.where) != (known.id, known.where) for known in self.findings):
            self.findings.append(each)
