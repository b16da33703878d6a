"""Metrics of scikit-learn."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.evaluation.registry import Handler
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Known, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning.samples import as_grid, check_same_rows, kind_of_target

CLASSES: Final = (
    "accuracy_score", "f1_score", "precision_score", "recall_score", "confusion_matrix",
    "classification_report", "balanced_accuracy_score", "matthews_corrcoef",
    "cohen_kappa_score", "jaccard_score", "fbeta_score", "hamming_loss", "zero_one_loss",
    "precision_recall_fscore_support",
)  # fmt: skip
NUMBERS: Final = (
    "mean_squared_error", "mean_absolute_error", "r2_score", "root_mean_squared_error",
    "median_absolute_error", "explained_variance_score", "max_error",
    "mean_squared_log_error", "mean_absolute_percentage_error", "root_mean_squared_log_error",
)  # fmt: skip
AVERAGED: Final = ("f1_score", "precision_score", "recall_score", "fbeta_score", "jaccard_score")
SCORES: Final = ("roc_auc_score", "roc_curve", "precision_recall_curve", "average_precision_score",
    "log_loss", "brier_score_loss")  # fmt: skip


def of_classes(call: Call) -> Value:
    """A metric of classes.

    Raises
    ------
    ViolationError
        If lengths differ, scores are given as classes, or an average is due.
    """
    truth, guess = call.arg(0, "y_true"), call.arg(1, "y_pred")
    _check(truth, guess, call.name)
    kinds = kind_of_target(truth), kind_of_target(guess)
    if "continuous" in kinds:
        raise ViolationError("ValueError", f"{call.name} is of classes, not of fractions")
    grids = as_grid(truth), as_grid(guess)
    types = {facts.kind(g) for g in grids if g is not None}
    if "U" in types and types & set("iu") and None not in types:
        raise ViolationError(
            "TypeError" if call.name != "accuracy_score" else "ValueError",
            "classes are text and numbers",
        )
    ranks = {g.rank for g in grids if g is not None}
    wide = [
        g
        for g in grids
        if g is not None and g.shape is not None and len(g.shape) == 2 and (g.shape[1] or 0) > 1
    ]
    if ranks == {1, 2} and wide:
        raise ViolationError("ValueError", "classes are a vector, scores of them a table")
    if call.name in AVERAGED and call.arg(None, "average") is None and call.is_complete:
        if "multiclass" in kinds:
            raise ViolationError(
                "ValueError", f"{call.name} of more than two classes needs an average"
            )
        classes = [facts.values_of(g) for g in grids if g is not None]
        texts = [c for c in classes if c and all(isinstance(e, str) for e in c)]
        if texts and call.arg(None, "pos_label") is None:
            raise ViolationError("ValueError", f"the label 1 is none of {texts[0][:5]}")
    return Unknown()


def of_numbers(call: Call) -> Value:
    """A metric of numbers."""
    truth, guess = call.arg(0, "y_true"), call.arg(1, "y_pred")
    _check(truth, guess, call.name)
    for each in (truth, guess):
        grid = as_grid(each)
        if grid is None:
            continue
        if grid.dtype == "str":
            raise ViolationError("ValueError", f"{call.name} is of numbers, not of text")
        low = facts.lowest(grid)
        if "log_error" in call.name and low is not None and low <= -1:
            raise ViolationError("ValueError", f"{call.name} is of values that are not negative")
    return Array("python", (), "float64")


def of_scores(call: Call) -> Value:
    """A metric of scores of classes."""
    truth, guess = call.arg(0, "y_true"), call.arg(1, "y_score", "y_pred", "y_proba")
    _check(truth, guess, call.name)
    kind = kind_of_target(truth)
    grid, scores = as_grid(truth), as_grid(guess)
    if kind == "continuous":
        raise ViolationError("ValueError", f"{call.name} is of classes, not of fractions")
    count = None if grid is None else facts.distinct(grid)
    if kind == "multiclass":
        if call.name in ("roc_curve", "precision_recall_curve"):
            raise ViolationError("ValueError", f"{call.name} is of two classes")
        if call.name == "roc_auc_score":
            chosen = call.arg(None, "multi_class")
            if call.is_complete and (
                chosen is None or (isinstance(chosen, Known) and chosen.data == "raise")
            ):
                raise ViolationError("ValueError", "multi_class must be in ('ovo', 'ovr')")
            if scores is not None and scores.rank == 1:
                raise ViolationError("AxisError", "scores of each class are due")
    if (
        kind == "binary"
        and call.name in ("roc_auc_score", "roc_curve", "precision_recall_curve")
        and scores is not None
        and scores.shape is not None
        and len(scores.shape) == 2
        and scores.shape[1] == 2
    ):
        raise ViolationError("ValueError", "one score for each row is due")
    if (
        scores is not None
        and scores.shape is not None
        and len(scores.shape) == 2
        and count is not None
    ):
        width = scores.shape[1]
        if (
            call.name in ("log_loss", "roc_auc_score")
            and width is not None
            and width > 2
            and width != count
        ) and call.arg(None, "labels") is None:
            raise ViolationError("ValueError", f"{count} classes have scores of {width}")
    return Unknown()


def _check(left: Value | None, right: Value | None, name: str) -> None:
    check_same_rows(left, right, f"what {name} compares")
    for each in (left, right):
        if isinstance(each, Known) and (each.data is None or isinstance(each.data, (int, float))):
            raise ViolationError("ValueError", f"{name} is of vectors")
        grid = as_grid(each)
        if grid is not None and (facts.has_nan(grid) or facts.has_inf(grid)):
            raise ViolationError("ValueError", f"{name} is given NaN or infinite values")
        if grid is not None and grid.size == 0:
            raise ViolationError("ValueError", f"{name} of nothing")


def silhouette(call: Call) -> Value:
    """How apart clusters are."""
    check_same_rows(call.arg(0, "X"), call.arg(1, "labels"))
    grid = as_grid(call.arg(1, "labels"))
    if grid is not None and facts.distinct(grid) == 1:
        raise ViolationError("ValueError", "two clusters or more are due")
    return Array("python", (), "float64")


FUNCTIONS: Final[dict[str, Handler]] = {
    **{f"sklearn.metrics.{name}": of_classes for name in CLASSES},
    **{f"sklearn.metrics.{name}": of_numbers for name in NUMBERS},
    **{f"sklearn.metrics.{name}": of_scores for name in SCORES},
    "sklearn.metrics.silhouette_score": silhouette,
}
