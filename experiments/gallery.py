"""Stage gallery: one recorded run beside its twin, and all failing runs on one sheet."""

from __future__ import annotations

from pathlib import Path

from failbench.stage import read_section
from failbench.studies.gallery.report import report
from failbench.studies.gallery.results import GallerySettings
from failbench.study.publish import publish, run
from recordings import read_recordings

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")


def main() -> None:
    settings = read_section("gallery", GallerySettings)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    publish("gallery", report(telemetry, scenarios, settings))


if __name__ == "__main__":
    run(main)
