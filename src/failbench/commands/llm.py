"""The commands ``llm`` and ``prompt``: query language models, and print a prompt."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable

from failbench.commands.paths import LLM_ANSWERS, TELEMETRY
from failbench.commands.terminal import INTERRUPTED, Meter, progress_meter
from failbench.errors import BadInputError
from failbench.params import PARAMS, read_section
from failbench.telemetry import read_telemetry

RESUME = "The answers so far are kept; the same command resumes where this stopped."


def ask_models(*, model: str | None, host: str | None, limit: int | None) -> int:
    """Send language models the prompts without a cached answer.

    Parameters
    ----------
    model
        Label in the section ``llm_agents`` of params.yaml; None takes all.
    host
        Address of the server; None takes that of OLLAMA_HOST, or this machine.
    limit
        Number of failing runs, the first by id; None takes all.

    Returns
    -------
    int
        Exit status: 1 if the server fails.

    Raises
    ------
    BadInputError
        If there is no such model, the server is not there or has another model, or telemetry or
        params.yaml cannot be read.
    """
    from failbench.methods.llm.cache import cache_path
    from failbench.methods.llm.prompt import prompts_of
    from failbench.methods.llm.session import LlmServerError, Progress, Session, connect
    from failbench.methods.llm.settings import LlmAgentsSettings
    from failbench.prediction.slices import ReferenceStudy

    settings = read_section("llm_agents", LlmAgentsSettings, PARAMS)
    models = settings.models
    if model is not None:
        if model not in models:
            raise BadInputError(
                PARAMS, "llm_agents.models", f"has no {model!r}.", _similar_names(model, models)
            )
        models = {model: models[model]}
    telemetry = read_telemetry(TELEMETRY)
    reference = read_section("nested_cv", ReferenceStudy, PARAMS)
    run_ids = sorted(reference.failures(telemetry.runs)["run_id"])[:limit]
    prompts = list(prompts_of(telemetry, run_ids, settings).values())
    client = connect(host, settings.timeout_seconds)
    for label, llm_model in models.items():
        session = Session(client, label, llm_model, settings, cache_path(LLM_ANSWERS, label))
        with progress_meter() as meter:

            def show(progress: Progress, label: str = label, meter: Meter = meter) -> None:
                counts = f"{label}: {progress.unreadable} unreadable"
                meter.show(counts, progress.answered, progress.questions)

            try:
                session.ask(prompts, show)
            except LlmServerError as error:
                print(f"{error} {RESUME}", file=sys.stderr)
                return 1
            except KeyboardInterrupt:
                print(f"Stopped. {RESUME}", file=sys.stderr)
                return INTERRUPTED
    return 0


def print_prompt(*, run_id: str) -> int:
    """Print the prompt of a run, and the hash that identifies its answers.

    Returns
    -------
    int
        Exit status.

    Raises
    ------
    BadInputError
        If there is no such run, or telemetry or params.yaml cannot be read.
    """
    from failbench.methods.llm.prompt import prompt_hash, prompts_of
    from failbench.methods.llm.settings import LlmAgentsSettings

    settings = read_section("llm_agents", LlmAgentsSettings, PARAMS)
    telemetry = read_telemetry(TELEMETRY)
    run_ids = telemetry.runs["run_id"].to_list()
    if run_id not in run_ids:
        raise BadInputError(
            TELEMETRY, "run_id", f"has no {run_id!r}.", _similar_names(run_id, run_ids)
        )
    prompt = prompts_of(telemetry, [run_id], settings)[run_id]
    print(f"--- system\n{prompt.system}\n\n--- user\n{prompt.user}\n")
    print(f"--- hash {prompt_hash(prompt, settings)}")
    return 0


def _similar_names(name: str, names: Iterable[str]) -> str:
    """A remedy that lists similar names."""
    similar = difflib.get_close_matches(name, names)
    return f"Similar names are {', '.join(similar)}." if similar else "There is no similar name."
