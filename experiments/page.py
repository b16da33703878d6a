"""Stage page: one page on which people browse the failures, and what each method said of them."""

from __future__ import annotations

from pathlib import Path

from failbench.features.catalogue import PRIMARY_SET
from failbench.page.document import page_of
from failbench.page.landing import landing
from failbench.prediction.main_study import LANGUAGE_MODELS, prediction_files
from failbench.predictions import PREDICTION_SCHEMA
from failbench.statistics.settings import read_with_statistics
from failbench.statistics.method_intervals import IntervalSettings
from failbench.studies.intervals.tables import Design
from report import read_metrics, read_reported
from stage import read_names, read_outputs, run

INTERVALS = Path("data/metrics/intervals.json")
PREDICTIONS = Path("data/predictions/nested_cv")
PAGE = Path("paper/report.html")


def main() -> None:
    methods = read_names("methods")
    settings = read_with_statistics("intervals", IntervalSettings)
    paper = read_reported()
    measured = read_metrics(INTERVALS, PRIMARY_SET)
    predictions = read_outputs(
        PREDICTIONS, prediction_files(methods), PREDICTION_SCHEMA, (LANGUAGE_MODELS,)
    )
    design = Design.of(predictions)
    text = page_of(
        {
            "landing": landing(
                measured,
                paper,
                design.majority,
                confidence=settings.confidence,
                repeats=design.repeats,
                seeds=design.seeds,
            ),
        }
    )
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text, encoding="utf-8")
    print(f"{PAGE}: {PAGE.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    run(main)
