"""Overlap: logs of one name in several folders, which may be of several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from failbench.diagnose.readers.lines import clean
from failbench.diagnose.readers.log import Log


def notes_on_overlap(parts: Sequence[Log]) -> Iterator[str]:
    """Say where two logs of one name measured the training loss at the same steps.

    They may be of several processes of one run, or of runs that have nothing to do with one
    another: the log itself does not tell.
    """
    alike: dict[str, list[tuple[str, int, int]]] = {}
    for part in parts:
        steps = part.series("loss")["step"].drop_nulls()
        if steps.len():
            name = part.sources[0].name
            place = (name, int(str(steps.min())), int(str(steps.max())))
            alike.setdefault(PurePosixPath(name).name, []).append(place)
    for places in alike.values():
        ordered = sorted(places, key=lambda place: place[1:])
        for (one, _, end), (other, start, _) in pairwise(ordered):
            if start <= end:
                yield (
                    f"{clean(one)} and {clean(other)} have losses of the same steps: if they are "
                    "of different runs, name one of them."
                )
                break
