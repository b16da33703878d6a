"""Default paths of the commands, relative to the working folder."""

from __future__ import annotations

from pathlib import Path

SCENARIOS = Path("data/scenarios")
OUTSIDE_LIST = Path("data/outside")
EXTERNAL_DEFAULT = Path("data/external/default")

NOTEBOOKS = Path("data/notebooks")
"""Pairs of notebooks, and what was observed of them."""

CRASHES = Path("data/crashes/answers.parquet")
"""What predictors that execute code or are tools of others said of these pairs."""

TELEMETRY = Path("data/telemetry")

PEERS = Path("data/peers/verdicts.parquet")
"""What other tools said of the logs of recorded runs."""

PEERS_GRADIENTS = Path("data/peers/default_plus_plus_gradients.csv")
"""What a tool read of gradients that is called in a training."""

PEERS_INSIDE = Path("data/peers/default_plus_plus.parquet")
"""What a tool said that was in recorded runs when they were trained once more."""

PREFLIGHT = Path("data/preflight/answers.parquet")
"""What a preflight said of recorded runs."""

FEATURE_TABLE = Path("data/features/features.parquet")

MONITORED = Path("data/monitor")
"""What the monitor measured, and its frozen versions."""

BROKEN = Path("data/measurements/invariants")
"""What broke in monitored runs."""

TABLES = Path("paper/tables")

RECORDING_WORK = Path("data/.recording")
"""Corpus and journals of the recorder."""

REASONING = Path("data/reasoning")
"""Models of reasoning: what they are made from, and their traces."""

REASONING_WORK = RECORDING_WORK / "reasoning"

LLM_ANSWERS = Path("data/llm")
"""Answers of language models, one file per model."""

LLM_CRASH_ANSWERS = LLM_ANSWERS / "crashes"
"""And of those that were asked about crashes of notebooks."""
