"""The commands that keep the benchmark, record its runs once more, and ask the tools of others."""

from __future__ import annotations

import datetime
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.params import PARAMS, read_section
from failbench.cli import places
from failbench.cli.places import (
    MONITORED,
    POSITIVE,
    RECORDING_WORK,
    SCENARIOS,
    TELEMETRY,
    WHOLE,
    Faults,
    Minutes,
    Only,
    Output,
    Params,
    Telemetry,
    Workers,
)
from failbench.cli.record import read_causes, stop_after
from failbench.cli.terminal import INTERRUPTED, interruptible, progress_meter, recording_meter
from failbench.field.programs import Part

if TYPE_CHECKING:
    from failbench.recording.campaign import Campaign, Progress
    from failbench.recording.carrying import Candidate, Comparison


def check(
    *,
    telemetry: Telemetry = TELEMETRY,
    scenarios: Annotated[Path, Parameter(help="their folder", show_default=True)] = SCENARIOS,
    faults: Faults = (),
    params: Params = None,
    brief: Annotated[bool, Parameter(help="leave out the runs that pass")] = False,
) -> int:
    """Check scenarios, telemetry and code against each other."""
    from failbench.base.detector import DetectorParams
    from failbench.base.telemetry import read_telemetry
    from failbench.recording.plan import RecordParams
    from failbench.recording.validity.check import check, report

    causes = read_causes(scenarios, faults)
    file = places.params_file(params)
    checked = check(
        causes.scenarios,
        read_telemetry(telemetry),
        read_section("record", RecordParams, file),
        read_section("detector", DetectorParams, file),
        causes.outside.codes,
        benchmark=causes.are_of_the_benchmark,
    )
    print(report(checked, brief=brief))
    return 0 if checked.passed else 1


def compare(*, against: Annotated[str, Parameter(help="a revision")] = "HEAD") -> int:
    """Compare the results in the working tree with those of a revision."""
    from failbench.publish.reproduction.comparison import compare, read_revision, report

    comparison = compare(read_revision(Path(), against))
    print(report(comparison, against))
    return 1 if comparison.changed else 0


def reruns(
    parameter: Annotated[str, Parameter(help="a section of params.yaml, or section.key")], /
) -> int:
    """Print the stages that a change of a parameter runs again."""
    from failbench.publish.reproduction.reruns import Pipeline

    pipeline = Pipeline(Path())
    names = pipeline.reruns(parameter)
    print(f"A change of {parameter} runs {len(names)} of {len(pipeline.stages)} stages again:")
    print("\n".join(names))
    return 0


def freeze(
    version: str,
    /,
    *,
    date: Annotated[datetime.date, Parameter(help="as 2026-11-22")],
    changed: Annotated[str, Parameter(help="what changed against the version before")] = "",
    why: Annotated[str, Parameter(help="and the reason")] = "",
) -> int:
    """Freeze catalogue, precedence and bounds of the monitor, and print their hash."""
    from failbench.recording.validity.freezing import freeze, frozen_hash

    frozen = freeze(MONITORED, version, date, changed, why)
    print(f"Version {version} of {frozen.date}: {frozen_hash(frozen)}")
    print(f"Bounds of {', '.join(frozen.all_bounds())}")
    return 0


def external_default(
    folder: Annotated[Path, Parameter(help="with the released files")],
    /,
    *,
    output: Output = places.EXTERNAL_DEFAULT,
) -> int:
    """Check the CSV files that the authors of DEFault released, and write them as parquet."""
    from failbench.neighbours.external import copy_released

    for path in copy_released(folder, output):
        print(path)
    return 0


def outside_list(*, only: Only = (), output: Output = places.OUTSIDE_LIST) -> int:
    """Run programs with bugs that others published, each with its healthy twin."""
    from failbench.monitor.records.tables import write_monitored
    from failbench.neighbours.outside_list.bugs import BUGS, SETTING, read_bugs, record

    bugs = {bug.id: bug for bug in read_bugs(places.OUTSIDE_LIST / BUGS) if bug.is_recreated}
    for name in only:
        if name not in bugs:
            problem = f"{name!r} is no bug that is re-created."
            raise BadInputError("--only", "BUG", problem, f"Name one of {', '.join(bugs)}.")
    for name in only or bugs:
        print(name)
        write_monitored(output, SETTING, record([bugs[name]]))
    return 0


def field(
    *,
    part: Annotated[Part, Parameter(help="of the programs", show_default=True)] = "development",
    only: Only = (),
    python: Annotated[Path, Parameter(help="whose libraries they use")] = Path(sys.executable),
    workers: Workers = 2,
    score: Annotated[
        Part | None, Parameter(help="diagnose what is recorded of a part, and print totals alone")
    ] = None,
    monitor: Annotated[
        bool, Parameter(help="run them with the monitor attached, and keep what it measures")
    ] = False,
) -> int:
    """Run the programs of the field and their healthy twins, and keep what they print and log.

    An interrupted recording goes on where it stopped; the tables are written when all are run. With
    `--score` nothing is run; each look at the part `test` is counted, and its answers are kept.
    """
    if score is not None:
        return _score(score)
    from failbench.field import monitored
    from failbench.field.corpus import publish
    from failbench.field.programs import read_programs
    from failbench.field.recorder import LIMIT, Recording, problems, record, wanted_runs

    recording = Recording(places.FIELD, places.FIELD_WORK, str(python))
    runs = wanted_runs(read_programs(places.FIELD, part))
    if monitor:  # measuring takes time, too
        work = places.FIELD_WORK / monitored.MONITORED
        recording = replace(recording, work=work, seconds=4 * LIMIT, monitored=True)
        runs = monitored.watchable(runs)
    names = {program.name: program for program, _ in runs}
    chosen = [run for run in runs if not only or any(run[0].name.startswith(each) for each in only)]
    if not chosen:
        problem = f"none of the {len(names)} programs of {part} is called so."
        raise BadInputError(
            "--only", "PROGRAM", problem, "Name an author, as author_1, or a program."
        )
    kept = "Stopped; what was recorded is kept, and the same command goes on."
    with interruptible(kept), progress_meter() as meter:
        record(recording, chosen, workers, lambda done, total: meter.show(part, done, total, 0))
    if chosen == runs:
        (monitored.publish if monitor else publish)(recording, part, runs)
    programs = {program.name: program for program, _ in chosen}
    wrong = {name: found for name, each in programs.items() if (found := problems(recording, each))}
    print(f"{len(programs) - len(wrong)} of {len(programs)} programs are as their cards say.")
    if part == "development":  # nobody who works on rules reads of the other part
        print("\n".join(f"  {name}: {'; '.join(found)}" for name, found in wrong.items()))
    return 0


def _score(part: Part) -> int:
    import polars as pl

    from failbench.base.stage import print_table
    from failbench.diagnose.readers.records import log_of_history
    from failbench.field import looks
    from failbench.field.corpus import consoles, unrecorded
    from failbench.field.monitored import MONITOR, read_histories
    from failbench.publish.reproduction.comparison import git
    from failbench.statistics.intervals import ScenarioIntervalSettings
    from failbench.statistics.settings import read_statistics
    from failbench.study.cells import estimate_text

    folder, before = places.FIELD / part, looks.read_looks(places.FIELD).height
    if missing := unrecorded(places.FIELD, part):
        problem = f"lacks {missing} of its runs or readings as its programs are now."
        raise BadInputError(folder, "(runs)", problem, "Record it with `make record-field`.")
    if part == "test" and before >= looks.ALLOWED:
        problem = f"was looked at {before} times, which is all that is allowed."
        raise BadInputError(folder, "(looks)", problem, "Work on development.")
    if part == "test" and git(Path(), "status", "--porcelain"):
        problem = "is to be looked at by what is committed, and the working tree has changes."
        raise BadInputError(folder, "(commit)", problem, "Commit them first.")
    rows: list[dict[str, object]] = []
    asked = consoles(places.FIELD, part)
    watched = read_histories(places.FIELD, part)
    with interruptible("Stopped; nothing is kept."), progress_meter() as meter:
        for done, console in enumerate(asked, start=1):
            history = watched.get(f"{console.program.name} {console.run}")
            log = None if history is None else log_of_history(MONITOR, history)
            rows += looks.answers_to(console, before + 1, log)
            meter.show("diagnosing", done, len(asked), 0)
    answers = pl.DataFrame(rows, looks.TABLE.schema)
    totals = looks.totals_of(answers, read_statistics(ScenarioIntervalSettings))
    said = totals.select("estimand", "value", "ci_low", "ci_high", "n").to_dicts()
    print_table(("of", "percent", "n"), [(r["estimand"], estimate_text(r), r["n"]) for r in said])
    if part == "test":
        commit = git(Path(), "rev-parse", "HEAD").decode("ascii").strip()
        facts = {"date": datetime.date.today().isoformat(), "commit": commit}  # noqa: DTZ011
        programs = len({each.program.name for each in asked})
        sizes = {"programs": programs, "runs": len(asked)}
        looks.keep(places.FIELD, {"look": before + 1, **facts, **sizes}, answers, totals)
    else:
        print("The models of the package have learnt from these programs.")
    return 0


def reports(
    given: Annotated[Path, Parameter(help="reports with their texts, as lines of JSON")],
    /,
    *,
    causes: Annotated[Path | None, Parameter(help="a CSV of report and cause, by a reader")] = None,
    output: Output = places.REPORTS,
) -> int:
    """Keep of public reports what a model learns from and what is answered, and none of their text.

    Answers are of the package as it is, and the commit that is checked out is noted: commit first.
    Its models have learnt from these reports.
    """
    from failbench.base.records import read_rows
    from failbench.field.reports import Cause, keep, read_given
    from failbench.publish.reproduction.comparison import git

    remedy = "Give it the columns report and cause."
    rows = [] if causes is None else read_rows(causes, Cause, remedy, ["report"])
    read = read_given(given)
    commit = git(Path(), "rev-parse", "--short=8", "HEAD").decode("ascii").strip()
    keep(read, {row.report: row.cause for row in rows}, output, commit)
    print(f"{len(read)} reports are in {output}.")
    return 0


def peers(
    *,
    telemetry: Telemetry = TELEMETRY,
    output: Output = places.PEERS,
    reports: Annotated[
        Path | None, Parameter(help="with their texts, as for `failbench reports`")
    ] = None,
) -> int:
    """Ask other tools about the runs of the reference setting, and keep what they say.

    They are asked about the consoles of the field's development, and about public reports if their
    texts are given; of these no more than a category is kept.
    """
    import polars as pl

    from failbench.base.slices import ReferenceStudy
    from failbench.base.telemetry import read_telemetry
    from failbench.field.corpus import consoles
    from failbench.field.reports import read_given
    from failbench.neighbours.peers.recorder import record_outside, record_peers

    study = read_section("nested_cv", ReferenceStudy)
    of_setting = [pl.col(n) == getattr(study, n) for n in ("architecture", "optimizer", "scale")]
    selected = read_telemetry(telemetry).select(pl.all_horizontal(of_setting))
    with interruptible("Stopped; what was asked is kept."), progress_meter() as meter:
        record_peers(output, selected, lambda done, total: meter.show("asking", done, total, 0))
    of_field = consoles(places.FIELD, "development")
    logs = {"field": {each.name: each.printed() for each in of_field}}
    if reports is not None:
        logs["reports"] = {each.id: each.log_text.encode() for each in read_given(reports)}
    record_outside(places.PEERS_OUTSIDE, logs)
    return 0


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
