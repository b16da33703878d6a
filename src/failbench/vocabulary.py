"""Vocabulary: the words that data, methods and studies share for causes, answers and reasons."""

from __future__ import annotations

from typing import Literal, get_args

Category = Literal["memory_hardware", "optimization", "data_pipeline", "model_software", "unknown"]
Difficulty = Literal["easy", "medium", "hard"]
Answer = Category | Literal["abstain"]
Reason = Literal["missing", "conflict", "low_confidence"]
"""Why a method abstained."""
AnswerReason = Literal["unreadable"]
"""Why a language model counts as abstaining: what it wrote is no answer."""
Route = Literal["rules", "classifier", "human"]
"""Who answered, in a method that hands runs on."""

CATEGORIES: tuple[Category, ...] = get_args(Category)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
"""Declared and measured, in the order of difficulty."""
ABSTAIN: Answer = "abstain"
ANSWERS: tuple[str, ...] = (*CATEGORIES, ABSTAIN)
