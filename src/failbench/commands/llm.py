"""The commands ``llm`` and ``prompt``: ask language models, and show what they are asked."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable

from rich.progress import TaskID

from failbench.commands.paths import ANSWERS, TELEMETRY
from failbench.commands.terminal import INTERRUPTED, progress_bar
from failbench.errors import BadInputError
from failbench.params import PARAMS, read_section
from failbench.telemetry import read_telemetry

KEPT = "What was answered so far is kept; the same command goes on where this stopped."


def ask_models(*, model: str | None, host: str | None, limit: int | None) -> int:
    """Ask language models what their caches hold no answer of.

    Parameters
    ----------
    model
        Label in the section ``llm_agents`` of params.yaml; None asks all that are there.
    host
        Address of the server; None takes the one that OLLAMA_HOST names, or this machine.
    limit
        How many failing runs are asked of, the first by id; None asks of all.

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
                PARAMS, "llm_agents.models", f"has no {model!r}.", _near(model, models)
            )
        models = {model: models[model]}
    telemetry = read_telemetry(TELEMETRY)
    reference = read_section("nested_cv", ReferenceStudy, PARAMS)
    run_ids = sorted(reference.failures(telemetry.runs)["run_id"])[:limit]
    prompts = list(prompts_of(telemetry, run_ids, settings).values())
    client = connect(host, settings.timeout_seconds)
    for label, asked in models.items():
        session = Session(client, label, asked, settings, cache_path(ANSWERS, label))
        with progress_bar() as bar:
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


def print_prompt(*, run_id: str) -> int:
    """Print what a language model is told of a run, and the key of its answers.

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
        raise BadInputError(TELEMETRY, "run_id", f"has no {run_id!r}.", _near(run_id, run_ids))
    prompt = prompts_of(telemetry, [run_id], settings)[run_id]
    print(f"--- system\n{prompt.system}\n\n--- user\n{prompt.user}\n")
    print(f"--- hash {prompt_hash(prompt, settings)}")
    return 0


def _near(name: str, names: Iterable[str]) -> str:
    """What to name instead."""
    near = difflib.get_close_matches(name, names)
    return f"The nearest are {', '.join(near)}." if near else "No name there is like it."
