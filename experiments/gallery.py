"""Stage gallery: one recorded run beside its twin, and all failing runs on one sheet."""

from __future__ import annotations

from pathlib import Path

from failbench.studies.gallery.report import report
from failbench.studies.gallery.results import GallerySettings
from recordings import read_recordings
from report import publish, run
from stage import read_section

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")


def main() -> None:
    settings = read_section("gallery", GallerySettings)
    telemetry, scenarios = read_recordings(TELEMETRY, SCENARIOS)
    publish("gallery", report(telemetry, scenarios, settings))


if __name__ == "__main__":
    run(main)
