"""The command ``carry``: fingerprints of today for runs that today's code records alike."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from failbench.base.detector import DetectorParams
from failbench.base.params import read_section
from failbench.base.telemetry import read_telemetry
from failbench.cli.causes import read_causes
from failbench.cli.record import journal_folder, stop_after, work_folder
from failbench.cli.reference import params_file
from failbench.cli.terminal import INTERRUPTED, progress_meter
from failbench.recording.plan import RecordParams, Setting
from failbench.recording.progress import Progress, seconds_left

if TYPE_CHECKING:
    from failbench.recording.carrying import Candidate, Comparison

_UNCHANGED = "No file was changed."


def carry_fingerprints(
    *, sample: int, seed: int, excepted: Sequence[str], workers: int, telemetry: Path
) -> int:
    """Record a sample of stale runs again; if all are equal, renew fingerprints."""
    from failbench.recording.campaign import Campaign
    from failbench.recording.carrying import candidates, carry_over, drawn_sample, repeat
    from failbench.recording.fingerprint import corpus_cache
    from failbench.recording.sandbox import RecorderError, require_recording_extra

    read_causes(None, (), excepted)  # refuses an id that no scenario has
    causes = read_causes(None, ())
    file = params_file(None)
    record = read_section("record", RecordParams, file)
    detector = read_section("detector", DetectorParams, file)
    known = read_telemetry(telemetry)
    journal = journal_folder(telemetry) / "carry"
    corpus = corpus_cache(work_folder(telemetry)).resolve()
    columns = ("architecture", "optimizer", "scale", "device")
    settings = [Setting(*key) for key in known.runs.select(columns).unique().sort(columns).rows()]
    for device in sorted({setting.device for setting in settings}):
        require_recording_extra(device)
    stop = stop_after(None)
    campaigns = {
        setting: Campaign(
            setting, causes.scenarios, record, detector, journal / setting.name, corpus, stop=stop
        )
        for setting in settings
    }
    outdated = [
        candidate
        for campaign in campaigns.values()
        for candidate in candidates(
            campaign, known.runs, frozenset(excepted), telemetry / "runs.parquet"
        )
    ]
    if not outdated:
        print(f"No fingerprint is to be carried over. {_UNCHANGED}")
        return 0
    drawn = drawn_sample(outdated, sample, seed)
    started = time.monotonic()
    with progress_meter() as meter:

        def show(progress: Progress, candidate: Candidate, comparison: Comparison) -> None:
            meter.show(
                f"{progress.as_expected} equal, {len(progress.rejected)} different",
                progress.done,
                progress.planned,
                seconds_left(started, progress),
            )
            if comparison.difference is not None:
                meter.say(f"{candidate.run_id}: {comparison.difference}.")

        try:
            compared = repeat(drawn, campaigns, known, workers, show, stop)
        except RecorderError as error:
            print(f"{error} {_UNCHANGED}", file=sys.stderr)
            return 1
    if stop.is_set():
        print(
            f"Stopped after {len(compared)} of {len(drawn)} runs. {_UNCHANGED} The same command "
            "goes on where this stopped."
        )
        return INTERRUPTED
    shutil.rmtree(journal, ignore_errors=True)
    differences = [
        f"  {candidate.run_id}: {comparison.difference}"
        for candidate, comparison in compared
        if comparison.difference is not None
    ]
    if differences:
        print(
            f"{len(differences)} of {len(compared)} runs that were recorded again differ:\n"
            + "\n".join(differences)
            + f"\n{_UNCHANGED} Leave out scenarios whose failing runs are meant to change with "
            "--except, or record all runs again with `failbench record`."
        )
        return 1
    carry_over(telemetry, outdated, compared, seed)
    print(_summary([each[1] for each in compared], len(outdated), known.runs.height))
    return 0


def _summary(comparisons: Sequence[Comparison], carried: int, runs: int) -> str:
    steps = sum(comparison.steps_compared for comparison in comparisons)
    lengths = [comparison.length_difference for comparison in comparisons]
    errors = [each for each in comparisons if each.same_traceback is not None]
    return (
        f"{len(comparisons)} of {carried} runs were recorded again and are equal in {steps} steps; "
        f"{sum(length != 0 for length in lengths)} that memory or a clock ends are of another "
        f"length, by {max(map(abs, lengths))} steps at most. Of {len(errors)} errors "
        f"{sum(each.same_message is False for each in errors)} have another message and "
        f"{sum(each.same_traceback is False for each in errors)} another traceback. The "
        f"fingerprints of {carried} of {runs} runs were carried over."
    )
