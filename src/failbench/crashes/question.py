"""A question to a predictor: will a cell crash after others, given what the kernel knows."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

from failbench.notebooks.summaries import FACTS, Summary, without

# what a predictor is told beside the code. ``code`` is nothing. Of the runtime summary
# ``structural``, ``type`` and ``value`` are the facts of one class, beside which names are there
# and which are not; ``all`` is the three together. ``other`` is the whole summary of another
# notebook, which is a control: what helps there is not information.
Arm = Literal["code", "structural", "type", "value", "all", "other"]
ARMS: Final[tuple[Arm, ...]] = get_args(Arm)


@dataclass(frozen=True)
class Question:
    """What a predictor may know of a notebook."""

    executed: tuple[str, ...]
    target: str
    summary: Summary | None = None


def told(arm: Arm, own: Summary, other: Summary) -> Summary | None:
    """The summary that an arm tells."""
    if arm == "code":
        return None
    if arm == "other":
        return other
    if arm == "all":
        return own
    return without(own, [facts for facts in FACTS if facts != arm])
