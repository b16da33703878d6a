"""The commands ``carry``, ``peers-inside`` and ``preflight-runs``: recorded runs, once more."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS, read_section
from failbench.cli import places
from failbench.cli.options import POSITIVE, WHOLE, Minutes, Output, Telemetry, Workers
from failbench.cli.places import RECORDING_WORK, TELEMETRY
from failbench.cli.record import read_causes, stop_after
from failbench.cli.terminal import INTERRUPTED, recording_meter

if TYPE_CHECKING:
    from failbench.recording.campaign import Campaign, Progress
    from failbench.recording.carrying import Candidate, Comparison

_UNCHANGED = "No file was changed."


def carry(
    *,
    sample: Annotated[
        int, Parameter(help="runs to record again", show_default=True), POSITIVE
    ] = 60,
    seed: Annotated[int, Parameter(help="of the sample's draw", show_default=True), WHOLE] = 0,
    excepted: Annotated[
        Sequence[str],
        Parameter(
            name="--except",
            help="leave out the failing runs of these scenarios, which `record` is to record again",
        ),
    ] = (),
    workers: Workers = 2,
    telemetry: Telemetry = TELEMETRY,
) -> int:
    """Record a sample of stale runs again; if all are equal, renew fingerprints."""
    from failbench.base.telemetry import read_telemetry
    from failbench.recording.carrying import candidates, carry_over, drawn_sample, repeat
    from failbench.recording.plan import RecordParams, Setting
    from failbench.recording.sandbox import require_recording_extra

    read_causes(None, only=excepted)  # refuses an id that no scenario has
    causes = read_causes(None)
    file = places.params_file(None)
    record = read_section("record", RecordParams, file)
    known = read_telemetry(telemetry)
    journal = places.journal_folder(telemetry) / "carry"
    columns = ("architecture", "optimizer", "scale", "device")
    settings = [Setting(*key) for key in known.runs.select(columns).unique().sort(columns).rows()]
    for device in sorted({setting.device for setting in settings}):
        require_recording_extra(device)
    stop, of_file = stop_after(None), (record, file, telemetry)
    campaigns = {
        setting: causes.campaign(setting, *of_file, journal / setting.name, stop=stop)
        for setting in settings
    }
    runs = telemetry / "runs.parquet"
    outdated = [
        candidate
        for campaign in campaigns.values()
        for candidate in candidates(campaign, known.runs, frozenset(excepted), runs)
    ]
    if not outdated:
        print(f"No fingerprint is to be carried over. {_UNCHANGED}")
        return 0
    drawn = drawn_sample(outdated, sample, seed)
    with recording_meter(kept=_UNCHANGED) as meter:

        def show(progress: Progress, candidate: Candidate, comparison: Comparison) -> None:
            said = f"{progress.as_expected} equal, {len(progress.rejected)} different"
            meter.show(said, progress.done, progress.planned, progress.kept)
            if comparison.difference is not None:
                meter.say(f"{candidate.run_id}: {comparison.difference}.")

        compared = repeat(drawn, campaigns, known, workers, show, stop)
    if stop.is_set():
        print(
            f"Stopped after {len(compared)} of {len(drawn)} runs. {_UNCHANGED} The same command "
            "goes on where this stopped."
        )
        return INTERRUPTED
    shutil.rmtree(journal, ignore_errors=True)
    different = [each for each in compared if each[1].difference is not None]
    if different:
        print(f"{len(different)} of {len(compared)} runs that were recorded again differ:")
        for candidate, comparison in different:
            print(f"  {candidate.run_id}: {comparison.difference}")
        print(
            f"{_UNCHANGED} Leave out scenarios whose failing runs are meant to change with "
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


def _campaign(
    setting: str, telemetry: Path, minutes: float | None = None, journal: Path | None = None
) -> Campaign:
    """The recording of the benchmark's runs in a setting that params.yaml names."""
    from failbench.recording.journal import read_known
    from failbench.recording.plan import SETTINGS, RecordParams
    from failbench.recording.sandbox import require_recording_extra

    require_recording_extra()
    params = read_section("record", RecordParams)
    if setting not in params.settings:
        remedy = "Name a setting that is recorded, as bert-adamw or distilbert-adamw."
        raise BadInputError(PARAMS, "record.settings", f"names no {setting}.", remedy)
    causes, of_file = read_causes(None), (params, PARAMS, telemetry, journal)
    known, stop = read_known(telemetry), stop_after(minutes)
    return causes.campaign(SETTINGS[setting], *of_file, known=known, stop=stop)


def peers_inside(
    *,
    telemetry: Telemetry = TELEMETRY,
    output: Output = places.PEERS_INSIDE,
    setting: Annotated[str, Parameter(help="of the runs", show_default=True)] = "distilbert-adamw",
    pairs: Annotated[int | None, Parameter(help="of the plan (default: all)"), POSITIVE] = None,
    workers: Workers = 1,
    minutes: Minutes = None,
) -> int:
    """Train runs of one seed again with DEFault++ in them, and keep what it says."""
    from failbench.base.telemetry import write_parquet
    from failbench.neighbours.peers.default_plus_plus import verdicts_of
    from failbench.recording.inside import InsideRecording

    campaign = _campaign(setting, telemetry, minutes)
    with recording_meter() as meter:

        def show(done: int, total: int) -> None:
            meter.show(f"{setting}: pairs", done, total, kept=0)

        table = InsideRecording(campaign, output).record(workers, show, pairs)
        verdicts = output.with_name(f"{output.stem}_verdicts.parquet")
        write_parquet(verdicts_of(table), verdicts)
    print(f"{table.height} answers are in {output}.")
    return INTERRUPTED if campaign.stop.is_set() else 0


def preflight_runs(*, output: Output = places.PREFLIGHT) -> int:
    """Train the runs of seed 0 again, with a preflight before some of their steps."""
    from failbench.base.slices import ReferenceStudy

    name = read_section("nested_cv", ReferenceStudy).name
    campaign = _campaign(name, TELEMETRY, journal=RECORDING_WORK / f"{name}-preflight")
    from failbench.preflight.records.recorder import record  # needs torch

    kept: list[int] = []
    with recording_meter() as meter:

        def show(done: int, total: int) -> None:
            kept.append(done)
            meter.show("preflights", done, total, kept[0])

        record(campaign, output, show)
    if campaign.stop.is_set():
        print("Stopped. The same command goes on where this stopped.")
        return INTERRUPTED
    return 0
