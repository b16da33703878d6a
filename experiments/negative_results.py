"""Stage negative_results: what was tried and did not help, as a page and as a table."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from failbench.errors import BadInputError
from failbench.files import write_atomically
from failbench.stage import REMEDY, unreadable
from failbench.statistics.settings import read_statistics
from failbench.studies.negative_results.declared import NegativeResults, NegativeResultsSettings
from failbench.studies.negative_results.report import document, metrics_files, report
from failbench.study.inputs import read_facts
from failbench.study.publish import publish, run

DECLARED = Path("data/reported/negative_results.yaml")
METRICS = Path("data/metrics")
RETIRED = Path("data/reported/retired.json")
DOCUMENT = Path("docs/negative_results.md")


def read_metrics(name: str) -> Mapping[str, Any]:
    path = RETIRED if name == RETIRED.stem else METRICS / f"{name}.json"
    try:
        metrics = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(path, "JSON") from error
    if not isinstance(metrics, dict):
        raise BadInputError(path, "(file)", "has no metrics by name.", REMEDY)
    return metrics


def main() -> None:
    declared = read_facts(DECLARED, NegativeResults)
    metrics = {name: read_metrics(name) for name in metrics_files(declared)}
    settings = read_statistics(NegativeResultsSettings)
    page = document(declared, metrics, settings)
    publish("negative_results", report(declared, metrics, settings))
    write_atomically(DOCUMENT, page.encode(), "Free some disk, and run the stage again.")


if __name__ == "__main__":
    run(main)
