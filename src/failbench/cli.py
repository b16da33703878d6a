"""The command ``failbench``; the only module that reads command-line arguments."""

from __future__ import annotations

import argparse
import difflib
import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import polars as pl
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from failbench.detector import DetectorParams
from failbench.errors import BadInputError
from failbench.params import PARAMS, read_section
from failbench.recording.plan import RecordParams, Setting
from failbench.scenarios import Architecture, Optimizer, Scenario, read_scenarios
from failbench.telemetry import read_telemetry

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")
WORK = Path("data/.recording")
ANSWERS = Path("data/llm")
INTERRUPTED = 130
KEPT = "What was answered so far is kept; the same command goes on where this stopped."


def main(arguments: list[str] | None = None) -> int:
    """Run the command; bad input ends it with one line on stderr and exit status 2."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except BadInputError as error:
        print(error, file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="failbench", description="A benchmark of transformer training failures."
    )
    commands = parser.add_subparsers(required=True, metavar="command")

    record = commands.add_parser("record", help="record the runs that are missing or out of date")
    record.add_argument("--architecture", choices=get_args(Architecture), help="this one alone")
    record.add_argument("--optimizer", choices=get_args(Optimizer), help="this one alone")
    record.add_argument("--scale", choices=("small", "paper"), default="small")
    record.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    record.add_argument("--only", nargs="+", metavar="SCENARIO", help="record these alone")
    record.add_argument("--seeds", type=_positive, help="seeds a scenario (default: params.yaml)")
    record.add_argument("--again", nargs="+", metavar="RUN", default=[], help="though known")
    record.add_argument("--workers", type=_positive, default=len(os.sched_getaffinity(0)))
    record.add_argument("--minutes", type=float, help="stop cleanly after so long")
    record.add_argument("--output", type=Path, default=TELEMETRY)
    record.add_argument("--known", type=Path, help="telemetry to reuse (default: the output)")
    record.set_defaults(run=_record)

    diagnose = commands.add_parser(
        "diagnose", help="name the causes of the failing runs in a folder of telemetry"
    )
    diagnose.add_argument("telemetry", type=Path, metavar="TELEMETRY")
    diagnose.add_argument("--method", nargs="+", default=["simple_rules"], metavar="METHOD")
    diagnose.add_argument("--output", type=Path, required=True, help="parquet, a row a diagnosis")
    diagnose.add_argument("--features", type=Path, default=FEATURES, help="runs to learn from")
    diagnose.set_defaults(run=_diagnose)

    check = commands.add_parser("check", help="check scenarios and telemetry against each other")
    check.add_argument("--telemetry", type=Path, default=TELEMETRY)
    check.add_argument("--scenarios", type=Path, default=SCENARIOS)
    check.add_argument("--brief", action="store_true", help="leave out the runs that pass")
    check.set_defaults(run=_check)

    llm = commands.add_parser("llm", help="ask language models what the cache has no answer of")
    llm.add_argument("--model", metavar="LABEL", help="this one of params.yaml alone")
    llm.add_argument("--host", help="address of the server (default: OLLAMA_HOST, or this machine)")
    llm.add_argument("--limit", type=_positive, metavar="RUNS", help="the first so many runs alone")
    llm.set_defaults(run=_llm)

    prompt = commands.add_parser("prompt", help="print what a language model is told of a run")
    prompt.add_argument("run_id", metavar="RUN")
    prompt.set_defaults(run=_prompt)
    return parser


def _journal(output: Path) -> Path:
    """A folder for journals that no other output folder shares."""
    place = output.resolve()
    return WORK / place.relative_to(Path.cwd() if place.is_relative_to(Path.cwd()) else "/")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


def _record(options: argparse.Namespace) -> int:
    from failbench.recording.sandbox import require_recording_extra

    require_recording_extra(options.device)
    scenarios = read_scenarios(SCENARIOS)
    if options.only:
        unknown = set(options.only) - {one.id for one in scenarios}
        if unknown:
            raise BadInputError(
                SCENARIOS,
                "id",
                f"there is no scenario {min(unknown)!r}.",
                "Name one that is there.",
            )
        scenarios = tuple(one for one in scenarios if one.id in options.only)
    params = read_section("record", RecordParams, PARAMS)
    settings = [
        replace(setting, device=options.device)
        for setting in params.planned()
        if setting.scale == options.scale
        and options.architecture in (None, setting.architecture)
        and options.optimizer in (None, setting.optimizer)
    ]
    if not settings:
        raise BadInputError(
            "params.yaml",
            "record.settings",
            "names no setting of this architecture, optimizer and scale.",
            "Name it there, with its seeds and successes.",
        )
    if options.known is not None and not (options.known / "runs.parquet").exists():
        raise BadInputError(
            options.known, "--known", "holds no runs.parquet.", "Name a folder of telemetry."
        )
    stop = threading.Event()
    if options.minutes is not None:
        timer = threading.Timer(60 * options.minutes, stop.set)
        timer.daemon = True  # a campaign that is done does not wait for it
        timer.start()
    signal.signal(signal.SIGINT, lambda *_: stop.set())
    codes = (_record_setting(one, scenarios, params, options, stop) for one in settings)
    return next((code for code in codes if code != 0), 0)


def _record_setting(
    setting: Setting,
    scenarios: tuple[Scenario, ...],
    params: RecordParams,
    options: argparse.Namespace,
    stop: threading.Event,
) -> int:
    """Record what is missing of one setting."""
    from failbench.recording.archive import archive, read_known
    from failbench.recording.campaign import Campaign, Progress, seconds_left
    from failbench.recording.corpus_cache import corpus_cache
    from failbench.recording.sandbox import RecorderError

    if options.seeds is not None:
        params = params.with_seeds(setting, options.seeds)
    journal = _journal(options.output) / setting.name
    campaign = Campaign(
        setting,
        scenarios,
        params,
        read_section("detector", DetectorParams, PARAMS),
        journal,
        corpus_cache(WORK).resolve(),
        known=read_known(options.known or options.output),
        again=frozenset(options.again),
        stop=stop,
    )
    started = time.monotonic()
    with _bar() as bar:
        task = bar.add_task("recording", total=None)
        printed: list[str] = []

        def show(progress: Progress) -> None:
            left = seconds_left(started, progress)
            bar.update(
                task,
                total=progress.planned,
                completed=progress.done,
                description=f"{setting.name}: {progress.kept} kept, {progress.as_expected} as "
                f"expected, {len(progress.rejected)} rejected, {left / 60:.0f} min left",
            )
            for run_id in progress.rejected[len(printed) :]:
                bar.console.print(f"rejected: {run_id}")
                printed.append(run_id)

        try:
            entries = campaign.record(options.workers, show)
        except RecorderError as error:
            print(f"{error} What was recorded so far is kept.", file=sys.stderr)
            return 1
    if campaign.stop.is_set():
        print(f"Stopped after {len(entries)} runs. The same command goes on where this stopped.")
        return INTERRUPTED
    whole = not options.only and options.seeds is None
    archive(options.output, setting, campaign.tables(entries), whole)
    shutil.rmtree(journal, ignore_errors=True)  # what there was of it is in the tables now
    return 0


def _diagnose(options: argparse.Namespace) -> int:
    from rich.progress import TimeRemainingColumn

    from failbench.diagnoses import (
        diagnose_stream,
        learnt_method,
        read_features,
        write_diagnoses,
    )
    from failbench.evaluation.studies import AcrossArchitectures
    from failbench.methods.registry import method_named
    from failbench.telemetry_stream import number_of_runs, telemetry_batches

    total = number_of_runs(options.telemetry)
    study = read_section("across_architectures", AcrossArchitectures, PARAMS)
    features = read_features(options.features)
    methods = {}
    for name in options.method:
        declaration = method_named(name)
        sections = {
            section: read_section(section, record, PARAMS)
            for section, record in declaration.sections.items()
        }
        methods[name] = learnt_method(name, declaration.assemble(sections), features, study)
    counts: Counter[tuple[str, str]] = Counter()

    def counted(bar: Bar, task: TaskID) -> Iterator[pl.DataFrame]:
        for runs, table in diagnose_stream(telemetry_batches(options.telemetry), methods):
            counts.update(zip(table["method"], table["diagnosis"], strict=True))
            bar.advance(task, runs)
            yield table

    try:
        with Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(),
        ) as bar:
            task = bar.add_task("diagnosing", total=total)
            write_diagnoses(counted(bar, task), options.output)
    except KeyboardInterrupt:
        print(f"Stopped; nothing was written to {options.output}.", file=sys.stderr)
        return INTERRUPTED
    for (method, answer), count in sorted(counts.items()):
        print(f"{method}: {answer} {count}")
    return 0


def _check(options: argparse.Namespace) -> int:
    from failbench.validity import check
    from failbench.validity_report import report

    checked = check(
        read_scenarios(options.scenarios),
        read_telemetry(options.telemetry),
        read_section("record", RecordParams, PARAMS),
        read_section("detector", DetectorParams, PARAMS),
    )
    print(report(checked, brief=options.brief))
    return 0 if checked.passed else 1


def _llm(options: argparse.Namespace) -> int:
    from failbench.evaluation.studies import ReferenceStudy
    from failbench.methods.llm_cache import cache_path
    from failbench.methods.llm_prompt import prompts_of
    from failbench.methods.llm_session import LlmServerError, Progress, Session, connect
    from failbench.methods.llm_settings import LlmAgentsSettings

    settings = read_section("llm_agents", LlmAgentsSettings, PARAMS)
    models = settings.models
    if options.model is not None:
        if options.model not in models:
            raise BadInputError(
                PARAMS,
                "llm_agents.models",
                f"has no {options.model!r}.",
                _near(options.model, models),
            )
        models = {options.model: models[options.model]}
    telemetry = read_telemetry(TELEMETRY)
    reference = read_section("nested_cv", ReferenceStudy, PARAMS)
    run_ids = sorted(reference.failures(telemetry.runs)["run_id"])[: options.limit]
    prompts = list(prompts_of(telemetry, run_ids, settings).values())
    client = connect(options.host, settings.timeout_seconds)
    for label, model in models.items():
        session = Session(client, label, model, settings, cache_path(ANSWERS, label))
        with _bar() as bar:
            task = bar.add_task(label, total=len(prompts))

            def show(progress: Progress, label: str = label, task: TaskID = task) -> None:
                bar.update(
                    task,
                    total=progress.questions,
                    completed=progress.answered,
                    description=f"{label}: {progress.unreadable} unreadable",
                )

            try:
                session.ask(prompts, show)
            except LlmServerError as error:
                print(f"{error} {KEPT}", file=sys.stderr)
                return 1
            except KeyboardInterrupt:
                print(f"Stopped. {KEPT}", file=sys.stderr)
                return INTERRUPTED
    return 0


def _prompt(options: argparse.Namespace) -> int:
    from failbench.methods.llm_prompt import prompt_hash, prompts_of
    from failbench.methods.llm_settings import LlmAgentsSettings

    settings = read_section("llm_agents", LlmAgentsSettings, PARAMS)
    telemetry = read_telemetry(TELEMETRY)
    run_ids = telemetry.runs["run_id"].to_list()
    if options.run_id not in run_ids:
        raise BadInputError(
            TELEMETRY, "run_id", f"has no {options.run_id!r}.", _near(options.run_id, run_ids)
        )
    prompt = prompts_of(telemetry, [options.run_id], settings)[options.run_id]
    print(f"--- system\n{prompt.system}\n\n--- user\n{prompt.user}\n")
    print(f"--- hash {prompt_hash(prompt, settings)}")
    return 0


def _near(name: str, names: Iterable[str]) -> str:
    """What to name instead."""
    near = difflib.get_close_matches(name, names)
    return f"The nearest are {', '.join(near)}." if near else "No name there is like it."


def _bar() -> Bar:
    return Bar(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), console=Console()
    )


if __name__ == "__main__":
    sys.exit(main())
