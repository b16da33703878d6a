"""Loader: batches on their way from a data pipeline to a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any


class Loader:
    """Iterates over a loader, with its attributes and length; tells when batches are asked for."""

    def __init__(
        self,
        loader: Any,
        ask: Callable[[], None],
        give: Callable[[Any], None],
        exhausted: Callable[[], None],
    ) -> None:
        self._loader = loader
        self._ask = ask
        self._give = give
        self._exhausted = exhausted

    def __iter__(self) -> Iterator[Any]:
        self._ask()
        batches = iter(self._loader)
        while True:
            try:
                batch = next(batches)
            except StopIteration:
                self._exhausted()
                return
            self._give(batch)
            yield batch
            # A batch that the loop has let go of must not live on here.
            del batch
            self._ask()

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_loader"], name)
