"""Vocabulary: the names of causes, answers and reasons in data, methods and studies."""

from typing import Literal, get_args

Category = Literal["memory_hardware", "optimization", "data_pipeline", "model_software", "unknown"]
Difficulty = Literal["easy", "medium", "hard"]
Answer = Category | Literal["abstain"]
Reason = Literal["missing", "conflict", "low_confidence"]  # why a method abstained
AnswerReason = Literal["unreadable"]  # of a language model: its output could not be parsed
Route = Literal["rules", "classifier", "human"]  # the member of a hybrid that answered

CATEGORIES: tuple[Category, ...] = get_args(Category)
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)  # in increasing order
ABSTAIN: Answer = "abstain"
ANSWERS: tuple[str, ...] = (*CATEGORIES, ABSTAIN)

PRIMARY_SET = "19"  # the set of the paper's features

FEATURE_SET_NAMES = (PRIMARY_SET, "19+keywords")

ERROR_TEXT_SIGNAL = "error_text"  # the group of signals that is no measurement

SIGNAL_GROUPS = (  # in the order of tables: the paper's, with data features split
    "training_dynamics",
    "memory",
    "perplexity",
    "vocabulary",
    "sequence_length",
    "configuration",
    ERROR_TEXT_SIGNAL,
)

ALL_GROUPS = "all"  # name of all groups together
