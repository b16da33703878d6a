"""Settings of language models: models, prompts and decoding."""

import re
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from failbench.base.methods import (
    MONITORED_SUFFIX,
    OTHER_MODELS_PREFIX,
    PAPER_MODELS,
    Reads,
    is_language_model,
    reads_monitor,
)
from failbench.base.records import Record
from failbench.base.scenarios import Identifier

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12,64}$")]
"""The first characters, twelve or more, of the SHA-256 that names a model's files."""


class ServedModel(Record):
    """One model: its name on the server, and the digest that it must have."""

    name: str = Field(min_length=1)
    digest: Digest | None = None

    def is_digest(self, digest: str) -> bool:
        """Whether a full digest matches that of the model."""
        return digest.startswith(self.digest or "")


class LlmModel(ServedModel):
    """One model that is asked about runs, and what it is shown."""

    reads: Reads = "telemetry"


class AskingSettings(Record):
    """How models are asked, whatever they are asked: decoding, and what is done after faults."""

    temperature: float = Field(ge=0)
    seed: int = Field(ge=0)
    context_tokens: int = Field(ge=1024)
    answer_tokens: int = Field(ge=64)
    timeout_seconds: float = Field(gt=0)
    attempts: int = Field(ge=1)
    pause_seconds: float = Field(ge=0)

    def options(self, attempt: int = 0) -> dict[str, float | int]:
        """Decoding options for the server; each attempt has its own seed."""
        return {
            "temperature": self.temperature,
            "seed": self.seed + attempt,
            "num_ctx": self.context_tokens,
            "num_predict": self.answer_tokens,
        }


def check_labels(labels: Iterable[str]) -> None:
    """Refuse a label that could be taken for another method."""
    for label in labels:
        if not is_language_model(label):
            known = " or ".join(PAPER_MODELS)
            raise ValueError(f"{label!r} must be {known}, or begin with {OTHER_MODELS_PREFIX}")


class LlmAgentsSettings(AskingSettings):
    """Models, prompts and decoding; the section ``llm_agents`` of params.yaml."""

    models: dict[Identifier, LlmModel]
    steps: int = Field(ge=1)
    error_characters: int = Field(ge=200)
    traceback_lines: int = Field(ge=1)

    @field_validator("models")
    @classmethod
    def _have_labels_of_language_models(cls, models: dict[str, LlmModel]) -> dict[str, LlmModel]:
        check_labels(models)
        for label, model in models.items():
            if reads_monitor(label) != (model.reads == "telemetry_and_monitor"):
                raise ValueError(
                    f"{label!r} must end with {MONITORED_SUFFIX} where it reads "
                    "telemetry_and_monitor, and only there"
                )
        return models


def full_name(name: str) -> str:
    """A model's name with its tag, as servers list it.

    >>> full_name("mistral"), full_name("llama3:8b"), full_name("host:80/own/model")
    ('mistral:latest', 'llama3:8b', 'host:80/own/model:latest')
    """
    return name if re.search(r":[^/]+$", name) else f"{name}:latest"
