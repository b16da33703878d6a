"""Settings of language models: which are asked, what they are shown, and how they decode."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import Field, StringConstraints, field_validator

from failbench.records import Record
from failbench.scenarios import Identifier

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12,64}$")]
"""The first characters, twelve or more, of the SHA-256 that names a model's files."""


PAPER_MODELS = ("mistral_7b", "llama_3_8b")
"""Labels of the models that the paper asked."""

ADDED = "llm_"
"""How the label of every other model begins, so that it is taken for no other method."""


def is_language_model(method: str) -> bool:
    """Whether a method is a language model, by its label.

    >>> is_language_model("mistral_7b"), is_language_model("llm_qwen_7b"), is_language_model("ebm")
    (True, True, False)
    """
    return method in PAPER_MODELS or method.startswith(ADDED)


class LlmModel(Record):
    """One model: its name on the server, and which of the models of that name it must be.

    Attributes
    ----------
    name
        As ``ollama pull`` takes it.
    digest
        First characters of the digest; None takes whatever was pulled under the name.
    """

    name: str = Field(min_length=1)
    digest: Digest | None = None

    def is_digest(self, digest: str) -> bool:
        """Whether this may be the digest of the model."""
        return digest.startswith(self.digest or "")


class LlmAgentsSettings(Record):
    """What language models are asked, and how; the section ``llm_agents`` of params.yaml."""

    models: dict[Identifier, LlmModel]
    steps: int = Field(ge=1)
    error_characters: int = Field(ge=200)
    traceback_lines: int = Field(ge=1)
    temperature: float = Field(ge=0)
    seed: int = Field(ge=0)
    context_tokens: int = Field(ge=1024)
    answer_tokens: int = Field(ge=64)
    timeout_seconds: float = Field(gt=0)
    attempts: int = Field(ge=1)
    pause_seconds: float = Field(ge=0)

    @field_validator("models")
    @classmethod
    def _have_labels_of_language_models(cls, models: dict[str, LlmModel]) -> dict[str, LlmModel]:
        strange = [label for label in models if not is_language_model(label)]
        if strange:
            known = " or ".join(PAPER_MODELS)
            raise ValueError(f"{strange[0]!r} must be {known}, or begin with {ADDED}")
        return models

    def options(self, attempt: int = 0) -> dict[str, float | int]:
        """What the server is told of decoding; a further attempt has a seed of its own."""
        return {
            "temperature": self.temperature,
            "seed": self.seed + attempt,
            "num_ctx": self.context_tokens,
            "num_predict": self.answer_tokens,
        }


def full_name(name: str) -> str:
    """A model's name with its tag, as servers list it.

    >>> full_name("mistral"), full_name("llama3:8b"), full_name("host:80/own/model")
    ('mistral:latest', 'llama3:8b', 'host:80/own/model:latest')
    """
    return name if re.search(r":[^/]+$", name) else f"{name}:latest"
