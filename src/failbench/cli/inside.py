"""The commands ``peers-inside`` and ``peers-gradients``: train with DEFault++ in the training."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from failbench.base.detector import DetectorParams
from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS, read_section
from failbench.cli.causes import read_causes
from failbench.cli.record import journal_folder, stop_after, work_folder
from failbench.cli.terminal import INTERRUPTED, progress_meter
from failbench.recording.plan import SETTINGS, RecordParams


def train_with_peer(
    *,
    telemetry: Path,
    output: Path,
    setting: str,
    pairs: int | None,
    workers: int,
    minutes: float | None,
) -> int:
    """Train runs of one seed again with the peer in them, and keep what it says."""
    from failbench.base.telemetry import write_parquet
    from failbench.neighbours.peers.default_plus_plus import verdicts_of
    from failbench.recording.campaign import Campaign
    from failbench.recording.fingerprint import corpus_cache
    from failbench.recording.inside import InsideRecording
    from failbench.recording.journal import read_known
    from failbench.recording.sandbox import RecorderError, require_recording_extra

    require_recording_extra()
    params = read_section("record", RecordParams)
    if setting not in params.settings:
        raise BadInputError(
            PARAMS,
            "record.settings",
            f"names no {setting}.",
            "Name a setting that is recorded, as bert-adamw or distilbert-adamw.",
        )
    causes = read_causes(None, ())
    stop = stop_after(minutes)
    campaign = Campaign(
        SETTINGS[setting],
        causes.scenarios,
        params,
        read_section("detector", DetectorParams),
        journal_folder(telemetry) / setting,
        corpus_cache(work_folder(telemetry)).resolve(),
        known=read_known(telemetry),
        stop=stop,
    )
    started = time.monotonic()
    with progress_meter() as meter:

        def show(done: int, total: int) -> None:
            seconds = (time.monotonic() - started) / max(done, 1) * (total - done)
            meter.show(f"{setting}: pairs", done, total, seconds if done < total else None)

        try:
            table = InsideRecording(campaign, output).record(workers, show, pairs)
            verdicts = output.with_name(f"{output.stem}_verdicts.parquet")
            write_parquet(verdicts_of(table), verdicts)
        except RecorderError as error:
            print(f"{error} What was recorded so far is kept.", file=sys.stderr)
            return 1
    print(f"{table.height} answers are in {output}.")
    return INTERRUPTED if stop.is_set() else 0


def observe(*, output: Path) -> int:
    """Observe which gradients the peer reads in three steps, and keep it as a table."""
    from failbench.neighbours.peers.gradients import observe_gradients, write_gradients
    from failbench.recording.sandbox import require_recording_extra

    require_recording_extra()
    observed = observe_gradients()
    write_gradients(observed, output)
    print(f"{observed.height} observations are in {output}.")
    return 0
