"""runmedic: run through its command line, as ``runmedic diagnose FOLDER --json``.

https://github.com/vincere-mori/runmedic (MIT). It reads TensorBoard, MLflow, Weights & Biases,
Lightning's and any other CSV, JSON lines, the Trainer's state and standard output.
"""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from failbench.neighbours.peers.mapping import with_variant
from failbench.neighbours.peers.standards import SEVERITIES
from failbench.neighbours.peers.verdicts import Reading

PEER: Final = "runmedic"


def installed_version() -> str:
    """Version of the installed package."""
    return version("runmedic")


def read(folder: Path) -> Reading:
    """What it says of the logs in a folder."""
    main = import_module("runmedic.cli").main
    said = io.StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(io.StringIO()):
            main(["diagnose", str(folder), "--json"])
    except SystemExit as end:
        return Reading(unreadable=_first_line(str(end.code), folder))
    except Exception as error:  # whatever it fails with is what is recorded of it
        return Reading(unreadable=_first_line(f"{type(error).__name__}: {error}", folder))
    findings: list[dict[str, Any]] = [
        finding for run in json.loads(said.getvalue()) for finding in run["findings"]
    ]
    findings.sort(key=lambda finding: SEVERITIES.index(finding["severity"]))
    worst: dict[str, str] = {}
    for finding in findings:
        causes = finding["likely_causes"] or [""]
        issue = with_variant(PEER, finding["check"], causes[0])
        worst.setdefault(issue, finding["severity"])
    return Reading(tuple(worst), tuple(worst.values()))


def _first_line(text: str, folder: Path) -> str:
    """The first line of an error, without the place where the log happened to lie."""
    return (text.splitlines() or [""])[0].replace(str(folder), ".")
