"""Vocabulary: the names of causes, answers and reasons in data, methods and studies."""

from __future__ import annotations

from typing import Literal, get_args

Category = Literal["memory_hardware", "optimization", "data_pipeline", "model_software", "unknown"]
Difficulty = Literal["easy", "medium", "hard"]
Answer = Category | Literal["abstain"]
Reason = Literal["missing", "conflict", "low_confidence"]
"""Why a method abstained."""
AnswerReason = Literal["unreadable"]
"""Why a language model counts as abstaining: its output could not be parsed."""
Route = Literal["rules", "classifier", "human"]
"""The member of a hybrid that answered."""

CATEGORIES: tuple[Category, ...] = get_args(Category)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
"""In increasing order of difficulty."""
ABSTAIN: Answer = "abstain"
ANSWERS: tuple[str, ...] = (*CATEGORIES, ABSTAIN)
