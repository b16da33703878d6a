"""Settings of language models that predict crashes."""

from __future__ import annotations

from pydantic import Field, field_validator

from failbench.base.scenarios import Identifier
from failbench.methods.llm.settings import AskingSettings, ServedModel, check_labels


class CrashAgentsSettings(AskingSettings):
    """Models, prompts and decoding; the section ``crash_agents`` of params.yaml."""

    models: dict[Identifier, ServedModel]
    summary_characters: int = Field(ge=200)

    @field_validator("models")
    @classmethod
    def _have_labels_of_language_models(
        cls, models: dict[str, ServedModel]
    ) -> dict[str, ServedModel]:
        check_labels(models)
        return models
