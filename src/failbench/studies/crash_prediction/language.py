"""Language models: their cached answers, of those that answered every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from failbench.crashes.cases import Case
from failbench.crashes.language.replay import Replayed, replayed
from failbench.crashes.language.settings import CrashAgentsSettings
from failbench.crashes.question import ARMS, Arm
from failbench.methods.llm.cache import LlmCache
from failbench.studies.crash_prediction.collected import Answers


@dataclass(frozen=True)
class LanguageModels:
    """What language models answered."""

    replayed: Mapping[str, Replayed[tuple[Arm, int]]]

    @property
    def answers(self) -> Answers:
        """Of those that are available, by label and arm, in the order of the cases."""
        by_arm = {}
        for label, replay in self.replayed.items():
            for arm in ARMS if replay.predictions is not None else ():
                known = replay.predictions or {}
                by_arm[label, arm] = [known[key] for key in known if key[0] == arm]
        return by_arm

    @property
    def unavailable(self) -> tuple[str, ...]:
        """Labels of those that have not answered every question."""
        return tuple(label for label, replay in self.replayed.items() if not replay.available)

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """How many questions each answered."""
        return {
            label: {
                "available": replay.available,
                "questions": replay.questions,
                "answered": replay.answered,
                "unreadable": replay.unreadable,
                "cut": replay.cut,
            }
            for label, replay in self.replayed.items()
        }


def replay_models(
    cases: Sequence[Case], settings: CrashAgentsSettings, caches: Mapping[str, LlmCache]
) -> LanguageModels:
    """Replay the answers of the models of params.yaml."""
    questions = {(arm, place): case.ask(arm) for arm in ARMS for place, case in enumerate(cases)}
    return LanguageModels(
        {
            label: replayed(questions, model, settings, caches[label])
            for label, model in settings.models.items()
        }
    )
