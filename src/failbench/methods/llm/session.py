"""A session with an Ollama server: sends the prompts that the cache lacks and stores answers."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import httpx
from ollama import ChatResponse, Client, ResponseError

from failbench.base.errors import BadInputError
from failbench.methods.llm.answer import (
    DIAGNOSIS,
    AnswerForm,
    CachedAnswer,
    Chat,
    Unreadable,
    append_answer,
    read_cache,
    request_hash,
    rewrite_cache,
)
from failbench.methods.llm.settings import AskingSettings, ServedModel, full_name

NOT_FOUND = 404
TOO_MANY_REQUESTS = 429
SERVER_ERROR = 500  # statuses from here on, and the one above, are transient


TRANSIENT_ERRORS = (ConnectionError, ResponseError, ValueError, httpx.TransportError)
"""Errors of a server that is down, refuses, or sends something else (ValueError)."""


class LlmServerError(Exception):
    """The server gave no answer in all attempts."""


@dataclass(frozen=True)
class Progress:
    """Progress of a session."""

    questions: int
    answered: int
    unreadable: int = 0


@dataclass(frozen=True)
class Session:
    """One model on one server, and the cache of its answers."""

    client: Client
    label: str
    model: ServedModel
    settings: AskingSettings
    cache: Path
    sleep: Callable[[float], None] = time.sleep
    form: AnswerForm = DIAGNOSIS
    section: str = "llm_agents"

    def ask(self, prompts: Sequence[Chat], show: Callable[[Progress], None]) -> Progress:
        """Send all prompts without an answer; each is on the disk before the next is sent."""
        digest = self._digest()
        known = read_cache(self.cache)
        if known.torn:
            rewrite_cache(self.cache, known)
        answered = set(known.of_model(ServedModel(name=self.model.name, digest=digest)))
        wanted = {
            request_hash(prompt, self.form.schema, self.settings.options()): prompt
            for prompt in prompts
        }
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
            unreadable = isinstance(self.form.read(text, reason), Unreadable)
            progress = Progress(
                len(wanted), progress.answered + 1, progress.unreadable + int(unreadable)
            )
            show(progress)
        return progress

    def _digest(self) -> str:
        try:
            listed = self.client.list()
        except ConnectionError as error:
            remedy = "Start one with `ollama serve`, or name its address by --host or OLLAMA_HOST."
            raise BadInputError("Ollama", "--host", "no server answers there.", remedy) from error
        except TRANSIENT_ERRORS as error:
            raise LlmServerError(f"The server did not list its models: {error}.") from error
        digests = {full_name(model.model or ""): model.digest or "" for model in listed.models}
        if full_name(self.model.name) not in digests:
            raise self._missing()
        digest = digests[full_name(self.model.name)].removeprefix("sha256:")
        if re.fullmatch("[0-9a-f]{64}", digest) is None:
            raise LlmServerError(f"The server gives no SHA-256 of {self.model.name}.")
        if not self.model.is_digest(digest):
            raise BadInputError(
                "params.yaml",
                f"{self.section}.models.{self.label}.digest",
                f"is {self.model.digest}, and the server has {self.model.name} {digest[:12]}.",
                "Put the digest that `ollama list` prints there, or null to take any.",
            )
        return digest

    def _missing(self) -> BadInputError:
        problem = "the server has no model of this name."
        remedy = f"Fetch it with `ollama pull {self.model.name}`."
        return BadInputError("Ollama", self.model.name, problem, remedy)

    def _answer(self, prompt: Chat) -> tuple[ChatResponse, int]:
        """The first answer that can be parsed, or the last, and the attempts before it."""
        # At temperature 0 another seed hardly changes an answer; the repetition is for transient
        # faults of the server. After each fault the pause doubles.
        response, fault = None, ""
        for attempt in range(self.settings.attempts):
            if fault:
                self.sleep(self.settings.pause_seconds * 2 ** (attempt - 1))
            response, fault = None, ""
            try:
                response = self.client.chat(
                    self.model.name,
                    prompt.messages,
                    format=dict(self.form.schema),
                    options=self.settings.options(attempt),
                )
            except TRANSIENT_ERRORS as error:
                fault = self._described(error)
                continue
            answer = self.form.read(response.message.content or "", response.done_reason)
            if not isinstance(answer, Unreadable):
                return response, attempt
        if response is None:
            attempts = self.settings.attempts
            raise LlmServerError(f"No answer in {attempts} attempts, at last: {fault}.")
        return response, self.settings.attempts - 1

    def _described(self, error: Exception) -> str:
        """A description of a transient error; other errors are raised."""
        if isinstance(error, httpx.TimeoutException):
            return f"no answer within {self.settings.timeout_seconds:g} s"
        if isinstance(error, ResponseError):
            if error.status_code == NOT_FOUND:
                raise self._missing() from error
            if error.status_code < SERVER_ERROR and error.status_code != TOO_MANY_REQUESTS:
                problem = f"the server refuses the request: {error}."
                remedy = f"Correct the section {self.section} of params.yaml, or update the server."
                raise BadInputError("Ollama", self.model.name, problem, remedy) from error
        return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def connect(host: str | None, timeout_seconds: float) -> Client:
    """The official client for a server; without a host, for the one that OLLAMA_HOST names."""
    try:
        return Client(host, timeout=timeout_seconds)
    except (ValueError, httpx.InvalidURL) as error:
        problem = f"is no address ({error})."
        raise BadInputError("Ollama", "--host", problem, "Give it as host:port.") from error
