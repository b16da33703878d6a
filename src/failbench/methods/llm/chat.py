"""What is sent to a model: two messages, the fence around data in them, and the hash of both."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MARK_LENGTH = 16


@dataclass(frozen=True)
class Chat:
    """The two messages to a model."""

    system: str
    user: str

    @property
    def messages(self) -> list[dict[str, str]]:
        """The messages as a chat."""
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.user},
        ]


def request_hash(chat: Chat, schema: Mapping[str, Any], options: Mapping[str, float | int]) -> str:
    """SHA-256 of everything but the model that an answer depends on."""
    request = {"messages": chat.messages, "format": schema, "options": options}
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def fence_mark(text: str) -> str:
    """A mark that does not occur in ``text``: the first characters of a hash of it.

    A text cannot contain its mark on purpose, as the mark depends on all of it.
    """
    attempt = 0
    while True:
        mark = hashlib.sha256(f"{attempt}\n{text}".encode()).hexdigest()[:MARK_LENGTH]
        if mark not in text:
            return mark
        attempt += 1
