"""What the command prints of recorded runs, as their logs are given to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any, Final

import numpy as np
import polars as pl
from rich.console import Console

from failbench.diagnose.answer import LogDiagnosis
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.model import Model
from failbench.diagnose.outputs.page import print_page
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.words import WordWeights
from failbench.neighbours.rendering.formats import rendered
from failbench.neighbours.rendering.run import complete_shape, logged_run

FORMAT: Final = "key_equals"
COLUMNS: Final = 80


@dataclass(frozen=True)
class Answered:
    """A log, the diagnosis of it, and the page that the command prints."""

    log: str
    diagnosis: LogDiagnosis
    page: str

    def session(self, lines: int = 1, until: str | None = None) -> str:
        """Both as a terminal has them: the last lines of the log, and the answer, or its start."""
        last = "\n".join(self.log.splitlines()[-lines:])
        shown = self.page.rstrip() if until is None else f"{self.page.partition(until)[0]}\n..."
        return f"$ tail -n {lines} train.log\n{last}\n$ failbench diagnose train.log\n{shown}"


def answered(
    run: Mapping[str, Any], steps: pl.DataFrame, model: Model, words: WordWeights
) -> Answered:
    """The complete log of a recorded run, and what the command answers."""
    logged = logged_run(run, steps, run["failure_step"])
    (log,) = rendered(logged, FORMAT, complete_shape(FORMAT), np.random.default_rng(0)).values()
    diagnosis = diagnosis_of(read_text("train.log", [log]), model=model, weights=words)
    page = StringIO()
    print_page(diagnosis, Console(file=page, width=COLUMNS, color_system=None))
    return Answered(log.decode(), diagnosis, page.getvalue())
