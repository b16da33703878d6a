"""The command ``mcp``, and what ``diagnose --llm`` asks: tools for agents, and a local model."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from failbench.cli import places
from failbench.cli.terminal import EndedError, interruptible

if TYPE_CHECKING:
    from failbench.agents.second_opinion import SecondOpinion
    from failbench.diagnose.answer import LogDiagnosis
    from failbench.methods.llm.session import Progress


def mcp() -> int:
    """Serve agents what diagnose and read say, by the Model Context Protocol.

    It speaks on standard input and output until the input ends, reads logs within the working
    directory alone, changes nothing and sends nothing anywhere.
    """
    from failbench.agents.server import server

    with interruptible("Stopped."):
        server().run()
    return 0


def ask_model(
    diagnosis: LogDiagnosis, model: str, host: str | None, *, failed: bool
) -> SecondOpinion:
    """What a model on an Ollama server makes of the evidence."""
    from failbench.agents.second_opinion import second_opinion
    from failbench.methods.llm.session import LlmServerError

    def show(progress: Progress) -> None:
        if progress.answered < progress.questions:
            print(f"asking {model}, which may take minutes ...", file=sys.stderr)

    try:
        with interruptible("Stopped: the model was not waited for."):
            folder = places.second_opinions()
            return second_opinion(diagnosis, model, folder, show, host=host, failed=failed)
    except LlmServerError as error:
        raise EndedError(f"Ollama: {model}: {error}", 2) from error
