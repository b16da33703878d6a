"""Memory: what a training step needs, part by part, in bytes that PyTorch allocates for tensors.

A lower bound, as allocators round and libraries take workspaces: see ``data/margin.json``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal

from pydantic import Field

from failbench.records import Record

Phase = Literal["forward pass", "backward pass", "update"]
# tensors of the size of the logits: themselves, their logarithms, and their gradient
LOGITS_COPIES: Final = 3


@dataclass(frozen=True)
class Largest:
    """The largest tensor that one operation makes."""

    bytes: int
    operation: str
    shape: tuple[int, ...]
    where: str
    broadcast: bool
    before: int

    def outgrows(self, resting: int) -> bool:
        """Whether it is a broadcast, and larger than all that was there before."""
        return self.broadcast and self.bytes > resting + self.before


@dataclass(frozen=True)
class Memory:
    """What a training step needs, in bytes."""

    parameters: int
    buffers: int
    batch: int
    gradients: int
    optimizer: int
    activations: int
    forward_peak: int
    backward_peak: int
    update_peak: int
    logits: int
    first: bool
    largest: Largest | None

    @property
    def resting(self) -> int:
        """What is there all the time."""
        return self.parameters + self.buffers + self.batch + self.optimizer

    @property
    def without_batch(self) -> int:
        """What a step needs whatever the batch is."""
        return self.parameters + self.buffers + self.optimizer + self.gradients

    @property
    def peaks(self) -> dict[Phase, int]:
        """The most in every phase of a step, in a training that has its optimizer's state."""
        return {
            "forward pass": self.resting + self.forward_peak,
            "backward pass": self.resting + self.backward_peak,
            "update": self.resting + self.gradients + self.update_peak,
        }

    @property
    def peak(self) -> int:
        """The most of all phases."""
        return max(self.peaks.values())

    def exceeded(self, capacity_bytes: int) -> Phase | None:
        """The phase in which a capacity is first passed; None if it never is."""
        return next((phase for phase, most in self.peaks.items() if most > capacity_bytes), None)

    @property
    def cause(self) -> str:
        """That of the largest part; an element-wise tensor larger than all before: a broadcast."""
        if self.largest is not None and self.largest.outgrows(self.resting):
            return "tensor_blows_up"
        logits = LOGITS_COPIES * self.logits
        others = self.peak - self.without_batch - logits
        if max(self.without_batch, logits) > others:
            return "model_exceeds_memory"
        return "batch_exceeds_memory"


class Margin(Record):
    """What processes take for an estimate: a line through healthy runs; ``data/margin.json``."""

    factor: float = Field(ge=1)
    bytes: int = Field(ge=0)
    runs: int = Field(gt=0)
    source: str

    def of(self, estimated: int) -> int:
        """Bytes that a process may take for an estimate."""
        return int(self.factor * estimated) + self.bytes


@cache
def margin() -> Margin:
    """The margin below which a warning says that memory is tight."""
    text = files("failbench.preflight").joinpath("data/margin.json").read_text(encoding="utf-8")
    return Margin.model_validate_json(text)


def readable(count: float) -> str:
    """A number of bytes in words.

    >>> readable(512), readable(3 * 2**20)
    ('512 B', '3.0 MiB')
    """
    if count < 1024:
        return f"{count:.0f} B"
    for unit in ("KiB", "MiB", "GiB"):
        count /= 1024
        if count < 1024:
            return f"{count:.1f} {unit}"
    return f"{count / 1024:.1f} TiB"
