"""Record what a preflight says of the runs of the reference setting."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from failbench.base.detector import DetectorParams
from failbench.base.params import read_section
from failbench.cli.paths import RECORDING_WORK, SCENARIOS, TELEMETRY
from failbench.cli.terminal import INTERRUPTED, progress_meter
from failbench.recording.plan import SETTINGS, RecordParams


def record_preflights(*, output: Path) -> int:
    """Train the runs of seed 0 again, with a preflight before some of their steps."""
    from failbench.base.slices import ReferenceStudy
    from failbench.recording.sandbox import RecorderError, require_recording_extra

    require_recording_extra()
    from failbench.base.scenarios import read_scenarios
    from failbench.cli.record import stop_after
    from failbench.preflight.records.recorder import PreflightRecording
    from failbench.recording.campaign import Campaign
    from failbench.recording.fingerprint import corpus_cache
    from failbench.recording.journal import read_known

    study = read_section("nested_cv", ReferenceStudy)
    name = f"{study.architecture}-{study.optimizer}"
    campaign = Campaign(
        SETTINGS[name],
        read_scenarios(SCENARIOS),
        read_section("record", RecordParams),
        read_section("detector", DetectorParams),
        RECORDING_WORK / f"{name}-preflight",
        corpus_cache(RECORDING_WORK).resolve(),
        known=read_known(TELEMETRY),
        stop=stop_after(None),
    )
    started = time.monotonic()
    with progress_meter() as meter:
        kept: list[int] = []

        def show(done: int, total: int) -> None:
            kept.append(done)
            of_one = (time.monotonic() - started) / max(1, done - kept[0])
            meter.show("preflights", done, total, of_one * (total - done))

        try:
            PreflightRecording(campaign, output).record(show)
        except RecorderError as error:
            print(f"{error} What was recorded so far is kept.", file=sys.stderr)
            return 1
    if campaign.stop.is_set():
        print("Stopped. The same command goes on where this stopped.")
        return INTERRUPTED
    return 0
