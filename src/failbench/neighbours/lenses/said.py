"""What is said of slices: looks or joint hypotheses, each beside a reference model if there is one.

The page and the document for programs show the same records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import polars as pl

from failbench.base.errors import BadInputError
from failbench.neighbours.lenses.catalogue import LENSES, Lens
from failbench.neighbours.lenses.looking import Joined, Look, joined, look
from failbench.neighbours.lenses.resampling import ResamplingSettings
from failbench.neighbours.lenses.slices import Scale, Slice, slices_of


@dataclass(frozen=True)
class Said:
    """What is said of a slice."""

    looks: Mapping[Lens, Look]
    against: Mapping[Lens, Look] | None = None

    @property
    def part(self) -> Slice:
        """Of which slice."""
        return next(iter(self.looks.values())).part

    @property
    def joined(self) -> Joined | None:
        """What four lenses say together; None of a single lens."""
        return joined(self.looks) if len(self.looks) == len(LENSES) else None


def said_of(
    traces: pl.DataFrame,
    reference: pl.DataFrame | None,
    lenses: Iterable[Lens],
    scale: Scale,
    settings: ResamplingSettings,
) -> tuple[Said, ...]:
    """Look at every slice of traces, and at the reference on the same tasks."""
    lenses = tuple(lenses)

    def looks(part: Slice) -> dict[Lens, Look]:
        return {lens: look(lens, part, scale, settings) for lens in lenses}

    references = {} if reference is None else {part.task: part for part in slices_of(reference)}
    of_reference = {task: looks(part) for task, part in references.items()}
    said = []
    for part in slices_of(traces):
        if reference is None:
            said.append(Said(looks(part)))
        elif part.task not in references:
            raise BadInputError(
                "--against",
                part.task,
                "the model to compare with has no trace of this task.",
                f"Add --where task={','.join(references)}, or compare with another.",
            )
        elif references[part.task].model == part.model:
            said.append(Said(of_reference[part.task]))
        else:
            said.append(Said(looks(part), of_reference[part.task]))
    return tuple(said)
