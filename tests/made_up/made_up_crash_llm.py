"""Settings of language models that predict crashes, and what such a model answers."""

from __future__ import annotations

import json

from failbench.crashes.language import CrashAgentsSettings

VALUES: dict[str, object] = {
    "models": {
        "mistral_7b": {"name": "mistral", "digest": "6577803aa9a0"},
        "llama_3_8b": {"name": "llama3:8b", "digest": None},
    },
    "summary_characters": 12_000,
    "temperature": 0,
    "seed": 0,
    "context_tokens": 8192,
    "answer_tokens": 512,
    "timeout_seconds": 5,
    "attempts": 2,
    "pause_seconds": 0,
}


def settings(**values: object) -> CrashAgentsSettings:
    return CrashAgentsSettings.model_validate(VALUES | values)


def crash_text(**values: object) -> str:
    """A good answer: the target crashes."""
    facts = {"crash": True, "exception": "KeyError", "line": 1, "explanation": "No such key."}
    return json.dumps(facts | values)
