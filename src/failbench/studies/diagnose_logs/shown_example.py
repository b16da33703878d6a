"""Shown example: the log of a recorded run, and what the command answers."""

from __future__ import annotations

from io import StringIO
from typing import Final

import numpy as np
import polars as pl
from rich.console import Console

from failbench.causes.catalogue import cause_of_scenario, causes
from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.model import Model
from failbench.monitored.fitting import setting_of
from failbench.outputs.page import print_page
from failbench.readers.text import read_text
from failbench.rendering.formats import rendered
from failbench.rendering.run import logged_run
from failbench.rendering.shape import complete_shape
from failbench.telemetry import Telemetry

NAME: Final = "train.log"
LAST, WIDTH = 1, 80
"""Lines of the log that are shown, and letters of a line of the answer."""

REST: Final = "Also found"
"""The heading from which on the answer is left out."""


def shown_example(telemetry: Telemetry, setting: str, model: Model) -> str:
    """A log and its answer, in Markdown.

    Of the setting's runs that ended because memory could not be had, the first by scenario: neither
    the answer nor anything else of the log decides which.
    """
    of_memory = pl.col("error_message").str.contains("allocate memory")
    failed = telemetry.runs.filter(of_memory, kind="failure").sort("scenario", "run_id")
    run = next(run for run in failed.iter_rows(named=True) if setting_of(run) == setting)
    steps = telemetry.steps.filter(run_id=run["run_id"])
    shape, rng = complete_shape("key_equals"), np.random.default_rng(0)
    files = rendered(logged_run(run, steps, run["failure_step"]), "key_equals", shape, rng)
    (content,) = files.values()
    log = read_text(NAME, [content])
    page = StringIO()
    print_page(diagnosis_of(log, model=model), Console(file=page, width=WIDTH, color_system=None))
    end = "\n".join(content.decode().splitlines()[-LAST:])
    answer = page.getvalue().partition(f"\n{REST}\n")[0]
    planted = causes()[cause_of_scenario()[run["scenario"]]].title
    return (
        f"```console\n$ tail -n {LAST} {NAME}\n{end}\n"
        f"$ failbench diagnose {NAME}\n{answer}\n...\n```\n\n"
        f"What was planted: {planted[0].lower()}{planted[1:]} (`{run['scenario']}`). It is, in "
        "alphabetical order, the first scenario of the benchmark that ends because memory cannot "
        "be had; its runs are among those that the model has learnt from.\n"
    )
