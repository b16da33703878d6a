"""A session with an Ollama server: asks what the cache does not hold, and keeps each answer."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import httpx
from ollama import ChatResponse, Client, ResponseError

from failbench.errors import BadInputError
from failbench.methods.llm.answer import ANSWER_SCHEMA, Unreadable, read_answer
from failbench.methods.llm.cache import CachedAnswer, append_answer, read_cache, rewrite_cache
from failbench.methods.llm.prompt import Prompt, prompt_hash
from failbench.methods.llm.settings import LlmAgentsSettings, LlmModel, full_name

NOT_FOUND = 404
TOO_MANY = 429
SERVER_FAULT = 500
"""Statuses from here on, and ``TOO_MANY``, may pass; what is below is wrong with the request."""


PASSING = (ConnectionError, ResponseError, ValueError, httpx.TransportError)
"""What the client raises when a server is away, refuses, or answers something else (ValueError)."""


class LlmServerError(Exception):
    """The server did not answer, however often it was asked."""


@dataclass(frozen=True)
class Progress:
    """How far a session has come.

    Attributes
    ----------
    questions
        All that are to be answered.
    answered
        Of them, answered now or before.
    unreadable
        Of the answers of this session, those that could not be read.
    """

    questions: int
    answered: int
    unreadable: int = 0


@dataclass(frozen=True)
class Session:
    """One model on one server, and where its answers are kept.

    Attributes
    ----------
    client
        The official client, with host and time-out set.
    label
        What params.yaml calls the model.
    model
        Its name and digest.
    settings
        How it is asked.
    cache
        The file of its answers.
    sleep
        Waits so many seconds between attempts.
    """

    client: Client
    label: str
    model: LlmModel
    settings: LlmAgentsSettings
    cache: Path
    sleep: Callable[[float], None] = time.sleep

    def ask(self, prompts: Sequence[Prompt], show: Callable[[Progress], None]) -> Progress:
        """Ask all prompts that this very model has not answered before, one after the other.

        Each answer is on the disk before the next prompt is sent, so that whatever ends a session
        costs one answer at most, and the same call goes on where it stopped.

        Raises
        ------
        BadInputError
            If the server cannot be reached, has not the model, or has another of its name.
        LlmServerError
            If the server gives no answer in so many attempts as the settings allow.
        """
        digest = self._digest()
        known = read_cache(self.cache)
        if known.torn:
            rewrite_cache(self.cache, known)
        answered = set(known.of_model(LlmModel(name=self.model.name, digest=digest)))
        wanted = {prompt_hash(one, self.settings): one for one in prompts}
        progress = Progress(len(wanted), len(answered & set(wanted)))
        show(progress)
        for key, prompt in wanted.items():
            if key in answered:
                continue
            response, attempt = self._answer(prompt)
            text, reason = response.message.content or "", response.done_reason
            answer = CachedAnswer(
                prompt=key,
                model=self.model.name,
                digest=digest,
                text=text,
                done_reason=reason,
                attempt=attempt,
                client=version("ollama"),
            )
            append_answer(self.cache, answer)
            unreadable = isinstance(read_answer(text, reason), Unreadable)
            progress = Progress(
                len(wanted), progress.answered + 1, progress.unreadable + int(unreadable)
            )
            show(progress)
        return progress

    def _digest(self) -> str:
        """The digest that the server has under the model's name."""
        try:
            listed = self.client.list()
        except ConnectionError as error:
            raise BadInputError(
                "Ollama",
                "--host",
                "no server answers there.",
                "Start one with `ollama serve`, or name its address by --host or OLLAMA_HOST.",
            ) from error
        except PASSING as error:
            raise LlmServerError(f"The server did not list its models: {error}.") from error
        found = {full_name(one.model or ""): one.digest or "" for one in listed.models}
        if full_name(self.model.name) not in found:
            raise self._missing()
        digest = found[full_name(self.model.name)].removeprefix("sha256:")
        if re.fullmatch("[0-9a-f]{64}", digest) is None:
            raise LlmServerError(f"The server gives no SHA-256 of {self.model.name}.")
        if not self.model.is_digest(digest):
            raise BadInputError(
                "params.yaml",
                f"llm_agents.models.{self.label}.digest",
                f"is {self.model.digest}, and the server has {self.model.name} {digest[:12]}.",
                "Put the digest that `ollama list` prints there, or null to take any.",
            )
        return digest

    def _missing(self) -> BadInputError:
        return BadInputError(
            "Ollama",
            self.model.name,
            "the server has no model of this name.",
            f"Fetch it with `ollama pull {self.model.name}`.",
        )

    def _answer(self, prompt: Prompt) -> tuple[ChatResponse, int]:
        """The first answer that can be read, or else the last one, and attempts before it.

        At temperature 0 another seed hardly changes an answer; it is asked again because a server
        may have been disturbed. After a fault the pause doubles each time.
        """
        response, fault = None, ""
        for attempt in range(self.settings.attempts):
            if fault:
                self.sleep(self.settings.pause_seconds * 2 ** (attempt - 1))
            response, fault = None, ""
            try:
                response = self.client.chat(
                    self.model.name,
                    prompt.messages,
                    format=ANSWER_SCHEMA,
                    options=self.settings.options(attempt),
                )
            except PASSING as error:
                fault = self._passing(error)
                continue
            answer = read_answer(response.message.content or "", response.done_reason)
            if not isinstance(answer, Unreadable):
                return response, attempt
        if response is None:
            attempts = self.settings.attempts
            raise LlmServerError(f"No answer in {attempts} attempts, at last: {fault}.")
        return response, self.settings.attempts - 1

    def _passing(self, error: Exception) -> str:
        """What went wrong, in words; faults that will not pass are raised."""
        if isinstance(error, httpx.TimeoutException):
            return f"no answer within {self.settings.timeout_seconds:g} s"
        if isinstance(error, ResponseError):
            if error.status_code == NOT_FOUND:
                raise self._missing() from error
            if error.status_code < SERVER_FAULT and error.status_code != TOO_MANY:
                raise BadInputError(
                    "Ollama",
                    self.model.name,
                    f"the server refuses the request: {error}.",
                    "Mend the section llm_agents of params.yaml, or update the server.",
                ) from error
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def connect(host: str | None, timeout_seconds: float) -> Client:
    """The official client for a server; without a host, for the one that OLLAMA_HOST names.

    Raises
    ------
    BadInputError
        If the host is no address.
    """
    try:
        return Client(host, timeout=timeout_seconds)
    except (ValueError, httpx.InvalidURL) as error:
        raise BadInputError(
            "Ollama", "--host", f"is no address ({error}).", "Give it as host:port."
        ) from error
