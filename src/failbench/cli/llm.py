"""The commands ``llm`` and ``prompt``: query language models, and print a prompt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from failbench.base.errors import BadInputError
from failbench.base.methods import Reads
from failbench.base.params import PARAMS, read_section
from failbench.cli import places
from failbench.cli.places import POSITIVE
from failbench.cli.terminal import EndedError, Meter, interruptible, progress_meter

if TYPE_CHECKING:
    from failbench.base.telemetry import Telemetry
    from failbench.methods.llm.answer import AnswerForm, Chat
    from failbench.methods.llm.record import MonitorRecord
    from failbench.methods.llm.session import Progress
    from failbench.methods.llm.settings import AskingSettings, LlmAgentsSettings, ServedModel

RESUME = "The answers so far are kept; the same command resumes where this stopped."


class Asked(NamedTuple):
    """What models are asked."""

    section: str
    settings: AskingSettings
    models: Mapping[str, ServedModel]
    prompts: Mapping[str, Sequence[Chat]]
    folder: Path
    form: AnswerForm


def llm(
    *,
    model: Annotated[str | None, Parameter(help="only this model of params.yaml")] = None,
    host: Annotated[
        str | None, Parameter(help="of the server (default: OLLAMA_HOST, or this machine)")
    ] = None,
    limit: Annotated[
        int | None, Parameter(help="only the first runs or notebooks, this many"), POSITIVE
    ] = None,
    crashes: Annotated[bool, Parameter(help="ask about crashes of notebooks, in all arms")] = False,
) -> int:
    """Send language models the prompts without a cached answer."""
    from failbench.methods.llm.answer import cache_path
    from failbench.methods.llm.session import LlmServerError, Session, connect

    asked = (_about_crashes if crashes else _about_runs)(model, limit)
    client = connect(host, asked.settings.timeout_seconds)
    for label, served in asked.models.items():
        session = Session(
            client,
            label,
            served,
            asked.settings,
            cache_path(asked.folder, label),
            form=asked.form,
            section=asked.section,
        )
        with interruptible(f"Stopped. {RESUME}"), progress_meter() as meter:

            def show(progress: Progress, label: str = label, meter: Meter = meter) -> None:
                counts = f"{label}: {progress.unreadable} unreadable"
                meter.show(counts, progress.answered, progress.questions)

            try:
                session.ask(asked.prompts[label], show)
            except LlmServerError as error:
                raise EndedError(f"{error} {RESUME}", 1) from error
    return 0


def _about_runs(model: str | None, limit: int | None) -> Asked:
    from failbench.base.slices import ReferenceStudy
    from failbench.methods.llm.answer import DIAGNOSIS
    from failbench.methods.llm.prompt import prompts_by_reads

    settings, telemetry = _about_telemetry()
    models = _wanted(settings.models, model, "llm_agents")
    settings = settings.model_copy(update={"models": models})
    reference = read_section("nested_cv", ReferenceStudy, PARAMS)
    run_ids = sorted(reference.failures(telemetry.runs)["run_id"])[:limit]
    monitored = any(each.reads == "telemetry_and_monitor" for each in models.values())
    records = _monitor_records(settings) if monitored else {}
    by_reads = prompts_by_reads(telemetry, run_ids, settings, records)
    prompts = {label: list(by_reads[each.reads].values()) for label, each in models.items()}
    return Asked("llm_agents", settings, models, prompts, places.LLM_ANSWERS, DIAGNOSIS)


def _about_crashes(model: str | None, limit: int | None) -> Asked:
    from failbench.crashes.cases import CrashPredictionSettings, read_cases
    from failbench.crashes.language import CRASH, CrashAgentsSettings, prompt_of
    from failbench.crashes.question import ARMS
    from failbench.statistics.settings import read_with_statistics

    settings = read_section("crash_agents", CrashAgentsSettings, PARAMS)
    models = _wanted(settings.models, model, "crash_agents")
    study = read_with_statistics("crash_prediction", CrashPredictionSettings, PARAMS)
    cases = read_cases(places.NOTEBOOKS, study.control_seed)[:limit]
    prompts = [prompt_of(case.ask(arm), settings) for case in cases for arm in ARMS]
    asked = dict.fromkeys(models, prompts)
    return Asked("crash_agents", settings, models, asked, places.LLM_CRASH_ANSWERS, CRASH)


def _about_telemetry() -> tuple[LlmAgentsSettings, Telemetry]:
    from failbench.base.telemetry import read_telemetry
    from failbench.methods.llm.settings import LlmAgentsSettings

    settings = read_section("llm_agents", LlmAgentsSettings, PARAMS)
    return settings, read_telemetry(places.TELEMETRY)


def _wanted(models: Mapping[str, Any], label: str | None, section: str) -> dict[str, Any]:
    if label is None:
        return dict(models)
    if label not in models:
        problem, remedy = f"has no {label!r}.", _similar_names(label, models)
        raise BadInputError(PARAMS, f"{section}.models", problem, remedy)
    return {label: models[label]}


def prompt(
    run_id: Annotated[str, Parameter(name="RUN")],
    /,
    *,
    reads: Annotated[
        Reads, Parameter(help="what it shows (default: telemetry, as the original's models read)")
    ] = "telemetry",
) -> int:
    """Print the prompt of a run, and the hash that identifies its answers."""
    from failbench.methods.llm.prompt import prompt_hash, prompts_of

    settings, telemetry = _about_telemetry()
    run_ids = telemetry.runs["run_id"].to_list()
    if run_id not in run_ids:
        remedy = _similar_names(run_id, run_ids)
        raise BadInputError(places.TELEMETRY, "run_id", f"has no {run_id!r}.", remedy)
    records = _monitor_records(settings) if reads == "telemetry_and_monitor" else None
    chat = prompts_of(telemetry, [run_id], settings, records)[run_id]
    print(f"--- system\n{chat.system}\n\n--- user\n{chat.user}\n")
    print(f"--- hash {prompt_hash(chat, settings)}")
    return 0


def _monitor_records(settings: LlmAgentsSettings) -> dict[str, MonitorRecord]:
    import polars as pl

    from failbench.base.telemetry import read_table
    from failbench.methods.llm.record import monitor_records
    from failbench.monitor.records.scoring import ScoringParams, versioned
    from failbench.monitor.records.tables import MONITORED_SCHEMA, RUNS
    from failbench.monitor.records.verdicts import BREAK_SCHEMA, END_SCHEMA
    from failbench.monitor.records.versions import read_rules

    version = read_section("monitor", ScoringParams, PARAMS).versions[-1]
    breaks = read_table(places.BROKEN / "breaks.parquet", versioned(BREAK_SCHEMA))
    return monitor_records(
        read_table(places.MONITORED / RUNS, MONITORED_SCHEMA),
        breaks.filter(pl.col("version") == version),
        read_table(places.BROKEN / "ends.parquet", END_SCHEMA),
        read_rules(places.MONITORED, version),
        settings,
    )


def _similar_names(name: str, names: Iterable[str]) -> str:
    similar = difflib.get_close_matches(name, names)
    return f"Similar names are {', '.join(similar)}." if similar else "There is no similar name."
