"""Data that estimators are given: their rows, columns, types and gaps."""

from __future__ import annotations

from typing import Final

from failbench.crashes.rules.arrays.casting import of_frame
from failbench.crashes.rules.evaluation import iteration, operands
from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.values import Array, Frame, Known, Mapping, Sequence, Value
from failbench.crashes.rules.knowledge.violation import ViolationError

TAKES_GAPS: Final = frozenset({
    "HistGradientBoostingClassifier", "HistGradientBoostingRegressor",
    "DecisionTreeClassifier", "DecisionTreeRegressor", "RandomForestClassifier",
    "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor",
    "ExtraTreeClassifier", "ExtraTreeRegressor", "IsolationForest", "BaggingClassifier",
    "BaggingRegressor", "StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler",
    "PowerTransformer", "QuantileTransformer", "SimpleImputer", "KNNImputer",
    "IterativeImputer", "MissingIndicator", "OneHotEncoder", "OrdinalEncoder",
    "FunctionTransformer", "VotingClassifier", "VotingRegressor", "StackingClassifier",
    "StackingRegressor", "DummyClassifier", "DummyRegressor", "VarianceThreshold",
    "TargetEncoder", "ColumnTransformer", "Pipeline", "SelectFromModel", "RFE", "RFECV",
    "HDBSCAN", "GridSearchCV", "RandomizedSearchCV", "LabelEncoder",
    "SequentialFeatureSelector", "CalibratedClassifierCV", "OneVsRestClassifier",
    "OneVsOneClassifier", "MultiOutputClassifier", "MultiOutputRegressor",
    "TransformedTargetRegressor", "FeatureUnion", "NMF", "KBinsDiscretizer",
})  # fmt: skip
"""Estimators of scikit-learn whose documentation allows NaN in features, or that hand them on."""

TAKES_TEXT: Final = frozenset({
    "OneHotEncoder", "OrdinalEncoder", "TargetEncoder", "SimpleImputer",
    "FunctionTransformer", "ColumnTransformer", "Pipeline", "DummyClassifier",
    "DummyRegressor", "CountVectorizer", "TfidfVectorizer", "HashingVectorizer",
    "LabelEncoder", "LabelBinarizer", "MultiLabelBinarizer", "DictVectorizer",
    "FeatureHasher", "FeatureUnion", "GridSearchCV", "RandomizedSearchCV",
    "TransformedTargetRegressor", "VotingClassifier", "VotingRegressor", "StackingClassifier",
    "StackingRegressor", "CalibratedClassifierCV", "TfidfTransformer", "MissingIndicator",
    "OneVsRestClassifier", "OneVsOneClassifier", "MultiOutputClassifier",
    "MultiOutputRegressor", "SelectFromModel", "RFE", "RFECV", "SequentialFeatureSelector",
    "BaggingClassifier", "BaggingRegressor", "HalvingGridSearchCV",
})  # fmt: skip
"""Estimators that take text, or hand it on."""

ANY_SHAPE: Final = frozenset({
    "LabelEncoder", "LabelBinarizer", "MultiLabelBinarizer", "CountVectorizer",
    "TfidfVectorizer", "HashingVectorizer", "DictVectorizer", "FeatureHasher",
    "FunctionTransformer", "Pipeline", "DummyClassifier", "DummyRegressor",
    "IsotonicRegression", "FeatureUnion", "GridSearchCV", "RandomizedSearchCV",
    "MultiOutputClassifier", "ColumnTransformer", "TransformedTargetRegressor",
    "PatchExtractor", "SelectFromModel", "CalibratedClassifierCV", "OneVsRestClassifier",
})  # fmt: skip
"""Estimators that take other data than tables, or hand them on."""


def as_grid(value: Value | None) -> Array | None:
    """Data as an array; a table is the array of its values."""
    if value is None:
        return None
    if isinstance(value, Frame):
        return of_frame(value)
    if isinstance(value, Mapping):
        return None
    return operands.as_array(value)


def rows_of(value: Value | None) -> int | None:
    """How many rows data have."""
    if isinstance(value, Frame):
        return value.rows
    grid = as_grid(value)
    if grid is None:
        return iteration.length(value) if isinstance(value, Sequence) else None
    return grid.length


def width_of(value: Value | None) -> int | None:
    """How many columns data have."""
    if isinstance(value, Frame):
        known = value.columns is not None and value.is_complete
        return len(value.columns or {}) if known else None
    grid = as_grid(value)
    return None if grid is None or grid.shape is None or len(grid.shape) != 2 else grid.shape[1]


def check_same_rows(left: Value | None, right: Value | None, what: str = "X and y") -> None:
    """Refuse data of other lengths.

    Raises
    ------
    ViolationError
        ``ValueError``.
    """
    first, second = rows_of(left), rows_of(right)
    if first is not None and second is not None and first != second:
        raise ViolationError("ValueError", f"{what} have {first} and {second} rows")


def check_features(value: Value | None, name: str, module: str = "sklearn") -> None:
    """Refuse data that are no features.

    Raises
    ------
    ViolationError
        If they are no table, have text, gaps or infinite values, or no rows.
    """
    if isinstance(value, Known) and name not in ANY_SHAPE:
        exception = "ValueError"
        if value.data is None or isinstance(value.data, (int, float, str)):
            raise ViolationError(exception, f"{name} is given {value.data!r} and no table")
    grid = as_grid(value)
    if name in ("CountVectorizer", "TfidfVectorizer", "HashingVectorizer"):
        if isinstance(value, Known) and isinstance(value.data, str):
            raise ViolationError("ValueError", "texts are due, not one text")
        if isinstance(grid, Array) and (facts.kind(grid) or "") in "if" and grid.dtype is not None:
            raise ViolationError("AttributeError", "texts are due, not numbers")
        if grid is not None and facts.has_nan(grid) and grid.home == "series":
            raise ViolationError("ValueError", "a gap is no text")
        return
    if grid is None:
        return
    if name not in ANY_SHAPE and grid.shape is not None:
        if len(grid.shape) != 2 and not (len(grid.shape) > 2 and module == "lightgbm"):
            raise ViolationError("ValueError", f"{name} needs a table, not {len(grid.shape)} axes")
        if 0 in grid.shape and name != "DummyClassifier":
            raise ViolationError("ValueError", f"{name} is given no rows or columns: {grid.shape}")
    if name not in TAKES_TEXT and module == "sklearn":
        _check_numbers(value, grid, name)
    if (
        module == "sklearn"
        and name not in TAKES_GAPS
        and (facts.kind(grid) or "f") in "f"
        and facts.has_nan(grid)
    ):
        raise ViolationError("ValueError", f"{name} is given NaN")
    takes_infinity = name in (
        "FunctionTransformer",
        "Pipeline",
        "ColumnTransformer",
        "DummyClassifier",
        "DummyRegressor",
        "GridSearchCV",
        "RandomizedSearchCV",
        "FeatureUnion",
        "OneHotEncoder",
        "OrdinalEncoder",
        "LabelEncoder",
    )
    if module == "sklearn" and not takes_infinity and facts.has_inf(grid):
        raise ViolationError("ValueError", f"{name} is given infinite values")


def _check_numbers(value: Value | None, grid: Array, name: str) -> None:
    if isinstance(value, Frame):
        for label, column in (value.columns or {}).items():
            if (
                column.dtype in ("str",) or column.element_types == ("str",)
            ) and not _may_be_numbers(column):
                raise ViolationError("ValueError", f"{name} is given text in {label!r}")
            if (
                column.dtype == "category"
                and column.categories
                and all(isinstance(each, str) for each in column.categories)
            ):
                raise ViolationError("ValueError", f"{name} is given text in {label!r}")
            if facts.kind(column) == "M" and any(
                facts.kind(c) in ("i", "f") for c in (value.columns or {}).values()
            ):
                raise ViolationError("DTypePromotionError", f"{name} is given dates in {label!r}")
        return
    if grid.dtype == "str" and not _may_be_numbers(grid):
        raise ViolationError("ValueError", f"{name} is given text")
    if grid.dtype == "object":
        for each in facts.seen(grid):
            if isinstance(each, str) and not _is_number(each):
                raise ViolationError("ValueError", f"{name} is given the text {each!r}")


def _may_be_numbers(column: Array) -> bool:
    known = [each for each in facts.seen(column) if isinstance(each, str)]
    return not known or all(_is_number(each) for each in known)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def kind_of_target(value: Value | None) -> str | None:
    """``continuous``, ``binary``, ``multiclass`` or ``text``, as far as it is certain."""
    grid = as_grid(value)
    if grid is None or (
        grid.rank is not None
        and grid.rank != 1
        and not (grid.rank == 2 and grid.shape and grid.shape[1] == 1)
    ):
        return None
    if facts.are_whole(grid) is False:
        return "continuous"
    count = facts.distinct(grid)
    if (
        facts.kind(grid) in ("i", "u", "b", "U", "O", "C") or facts.are_whole(grid)
    ) and count is not None:
        return "binary" if count <= 2 else "multiclass"
    return None
