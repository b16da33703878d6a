"""Default paths of the commands, relative to the working folder."""

from __future__ import annotations

from pathlib import Path

SCENARIOS = Path("data/scenarios")
OUTSIDE_LIST = Path("data/outside")
TELEMETRY = Path("data/telemetry")
FEATURE_TABLE = Path("data/features/features.parquet")

TABLES = Path("paper/tables")

RECORDING_WORK = Path("data/.recording")
"""Corpus and journals of the recorder."""

LLM_ANSWERS = Path("data/llm")
"""Answers of language models, one file per model."""
