"""Evidence: whether what a diagnosis says of a log stands in the log."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.finding import Finding
from failbench.diagnose.model import Model
from failbench.prediction.workers import parallel_map
from failbench.readers.log import Log
from failbench.rendering.formats import FORMATS, rendered
from failbench.rendering.normal import read_files
from failbench.rendering.run import logged_run
from failbench.rendering.shape import draw_shape
from failbench.studies.diagnose_logs.schemas import EVIDENCE_SCHEMA
from failbench.telemetry import Telemetry

CLOSE: Final = 1e-3
"""Relative distance of a value from the number in its line: what six printed digits may lose."""

_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf", re.IGNORECASE)
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}\b)")
_WORD: Final = re.compile(r"\w+")
_ESCAPE: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_UNITS: Final = (1.0, 1e3, 1e6, 1e9, 2.0**10, 2.0**20, 2.0**30)
_WORDS: Final = 8
"""Words of a quote that are looked up."""


def evidence_table(
    telemetry: Telemetry, model: Model, logs: int, seed: int, workers: int
) -> pl.DataFrame:
    """Look up all evidence of the diagnoses of some logs of failing runs."""
    failing = telemetry.runs.filter(kind="failure").sort("run_id").to_dicts()
    rng = np.random.default_rng(seed)
    taken = sorted(rng.choice(len(failing), min(logs, len(failing)), replace=False))
    runs = [failing[place] for place in taken]
    wanted = telemetry.select(pl.col("run_id").is_in([run["run_id"] for run in runs])).steps
    parts = wanted.partition_by("run_id", as_dict=True)
    pairs = [(run, parts.get((run["run_id"],), wanted.clear())) for run in runs]
    blocks = [(pairs[start::workers], model, seed) for start in range(workers)]
    rows = [row for part in parallel_map(_looked_up, blocks, workers) for row in part]
    return pl.DataFrame(rows, schema=EVIDENCE_SCHEMA, orient="row").sort("run_id", "item")


def _looked_up(
    runs: Sequence[tuple[Mapping[str, Any], pl.DataFrame]], model: Model, seed: int
) -> list[tuple[str, int, str, str, str, bool]]:
    rows: list[tuple[str, int, str, str, str, bool]] = []
    for run, steps in runs:
        rng = np.random.default_rng([seed, *run["run_id"].encode()])
        format_name = FORMATS[rng.integers(len(FORMATS))]
        logged = logged_run(run, steps, run["failure_step"])
        files = rendered(logged, format_name, draw_shape(format_name, rng), rng)
        log = read_files(files)
        findings = diagnosis_of(log, model=model, failed=True).findings
        for item, finding in enumerate(findings):
            checked_by, found = look_up(finding, log, files)
            rows.append((run["run_id"], item, format_name, finding.kind, checked_by, found))
    return rows


def look_up(finding: Finding, log: Log, files: Mapping[str, bytes]) -> tuple[str, bool]:
    """By what an item of evidence is looked up, and whether it is there."""
    if "," in finding.signal:
        return "course", True
    content = next((text for name, text in files.items() if name.endswith(finding.source)), b"")
    lines = _ESCAPE.sub("", content.decode("utf-8", errors="replace")).splitlines()
    if finding.quote:
        text = " ".join(lines)
        words = _WORD.findall(finding.quote)[:_WORDS]
        return "line", finding.line is not None and all(word in text for word in words)
    if finding.line is not None and finding.value is not None:
        line = content.decode("utf-8", errors="replace").split("\n")[finding.line - 1]
        line = _THOUSANDS.sub("", line)
        return "line", any(_same(finding.value, number) for number in _NUMBER.findall(line))
    if finding.value is None:
        return "line" if finding.line is not None else "step", _is_row(finding, log)
    return "step", _is_row(finding, log)


def _same(value: float, text: str) -> bool:
    number = float(text)
    if math.isnan(value) or math.isnan(number):
        return math.isnan(value) and math.isnan(number)
    if math.isinf(value):
        return value == number
    alike = (number * unit for unit in _UNITS)
    return any(math.isclose(value, each, rel_tol=CLOSE, abs_tol=1e-12) for each in alike) or (
        number > 0 and math.isclose(value, math.log(number), rel_tol=CLOSE)  # of a perplexity
    )


def _is_row(finding: Finding, log: Log) -> bool:
    """Whether a row of the log is at the finding's place, with its value where it has one."""
    at = pl.lit(value=True)
    if finding.line is not None:
        at &= pl.col("line") == finding.line
    if finding.step is not None:
        at &= pl.col("step") == finding.step
    rows = log.rows.filter(at)
    if finding.value is None or not finding.signal:
        return bool(rows.height)
    signal = "loss" if finding.signal == "validation_loss" else finding.signal
    return any(_same(finding.value, repr(each)) for each in rows[signal].drop_nulls())
