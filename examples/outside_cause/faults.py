"""An added cause: the fault that the scenario byte_order_swapped names."""

from __future__ import annotations

from failbench.recording.faults.registry import fault
from failbench.recording.loop import TrainingRun


def _swapped(token: int) -> int:
    """A token id of 16 bits whose two bytes were written in the other order."""
    low, high = token % 256, token // 256
    return 256 * low + high


@fault("at_onset")
def byte_order_swapped(run: TrainingRun, *, share: float) -> None:
    """From the onset on, a share of each batch comes from a shard in the other byte order."""
    inner = run.encode

    def encode(texts: list[str]) -> list[list[int]]:
        sequences = inner(texts)
        count = round(share * len(sequences))
        of_shard = [[_swapped(token) for token in sequence] for sequence in sequences[:count]]
        return of_shard + sequences[count:]

    run.encode = encode
