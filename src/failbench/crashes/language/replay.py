"""Cached answers of a language model, turned into predictions; no server is asked."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from failbench.crashes.language.answer import predicted, read_crash_answer
from failbench.crashes.language.prompt import prompt_hash, prompt_of
from failbench.crashes.language.settings import CrashAgentsSettings
from failbench.crashes.prediction import CrashPrediction
from failbench.crashes.question import Question
from failbench.methods.llm.answer import Unreadable
from failbench.methods.llm.cache import LlmCache
from failbench.methods.llm.settings import ServedModel

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Replayed(Generic[Key]):
    """What a model answered."""

    questions: int
    answered: int
    unreadable: int
    cut: int
    predictions: Mapping[Key, CrashPrediction] | None

    @property
    def available(self) -> bool:
        """Whether it answered every question."""
        return self.predictions is not None


def replayed(
    questions: Mapping[Key, Question],
    model: ServedModel,
    settings: CrashAgentsSettings,
    cache: LlmCache,
) -> Replayed[Key]:
    """Replay the answers of a model; each counts only for the very prompt that it was given to."""
    known = cache.of_model(model)
    prompts = {key: prompt_of(question, settings) for key, question in questions.items()}
    hashes = {key: prompt_hash(prompt, settings) for key, prompt in prompts.items()}
    readings = {
        key: read_crash_answer(known[asked].text, known[asked].done_reason)
        for key, asked in hashes.items()
        if asked in known
    }
    predictions = None
    if questions and len(readings) == len(questions):
        predictions = {key: predicted(readings[key], questions[key]) for key in questions}
    return Replayed(
        len(questions),
        len(readings),
        sum(isinstance(reading, Unreadable) for reading in readings.values()),
        sum(prompt.cut not in (None, "nothing") for prompt in prompts.values()),
        predictions,
    )
