"""Where commands look and write, from the folder that they are run in."""

from __future__ import annotations

from pathlib import Path

SCENARIOS = Path("data/scenarios")
TELEMETRY = Path("data/telemetry")
FEATURES = Path("data/features/features.parquet")

TABLES = Path("paper/tables")

WORK = Path("data/.recording")
"""Corpus and journals of the recorder."""

ANSWERS = Path("data/llm")
"""Answers of language models, a file a model."""
