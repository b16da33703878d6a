"""Tables: the embeddings of a model, and whether what they are asked for is in them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import torch


class Tables:
    """Counts indices outside of embeddings."""

    # The table of tokens is ``get_input_embeddings``; without, the first that is asked for token
    # ids; without ids, the one with the most rows.

    def __init__(self, model: Any, count: Callable[[Any, int], float]) -> None:
        self._count = count
        self._tables = [part for part in model.modules() if isinstance(part, torch.nn.Embedding)]
        self._tokens: Any = None
        with contextlib.suppress(AttributeError, NotImplementedError):
            self._tokens = model.get_input_embeddings()
        if self._tokens not in self._tables:
            self._tokens = None

    def measure(self, table: Any, indices: Any, ids: Any) -> dict[str, float]:
        """The signal of a table that is asked for indices, while the model reads token ids."""
        if self._tokens is None:
            if ids is None:
                self._tokens = max(self._tables, key=lambda other: other.num_embeddings)
            elif indices.shape == ids.shape and bool((indices == ids.to(indices.device)).all()):
                self._tokens = table
        name = "outside_token_table" if table is self._tokens else "outside_other_table"
        return {name: self._count(indices, table.num_embeddings)}
