"""What fitted estimators answer: predictions, and data transformed."""

from __future__ import annotations

from failbench.crashes.rules.knowledge import facts
from failbench.crashes.rules.knowledge.state import Call
from failbench.crashes.rules.knowledge.values import Array, Estimator, Frame, Unknown, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.learning.inputs import check_input, check_neighbours, check_vocabulary
from failbench.crashes.rules.learning.kinds import is_a
from failbench.crashes.rules.learning.samples import as_grid, check_same_rows, rows_of, width_of


def asked(call: Call, estimator: Estimator) -> Value:
    """What a fitted estimator is asked about data."""
    X = call.arg(0, "X", "y", "raw_documents")
    name = call.name
    if estimator.name in ("LabelEncoder", "LabelBinarizer"):
        if name == "transform":
            check_vocabulary(estimator, X)
        return Array("numpy", (rows_of(X),), "int64" if name == "transform" else None)
    if name == "inverse_transform":
        return _inverted(estimator, X)
    if name == "get_feature_names_out":
        return Array("numpy", (None,), "object")
    if X is None:
        return Unknown()
    check_input(estimator, X)
    y = call.arg(1, "y")
    if name == "score":
        check_same_rows(X, y)
        return Array("python", (), "float64")
    if name == "transform":
        return transformed(call, estimator)
    if name in ("kneighbors", "kneighbors_graph"):
        seen = estimator.facts.get("seen")
        count = call.integer(1, "n_neighbors")
        rows = rows_of(seen) if isinstance(seen, (Frame, Array)) else None
        if count is not None and rows is not None and count > rows:
            raise ViolationError("ValueError", f"{count} neighbours of {rows} rows")
        return Unknown()
    if name == "predict" and estimator.name in ("KNeighborsClassifier", "KNeighborsRegressor"):
        check_neighbours(estimator)
    return predicted(estimator, X, name)


def predicted(estimator: Estimator, X: Value, name: str) -> Value:
    """The shape of a prediction."""
    if estimator.facts.get("several"):
        return Unknown()
    rows = rows_of(X)
    if name == "predict":
        dtype = "float64" if is_a(estimator, "RegressorMixin") else None
        classes = estimator.classes
        if classes is not None:
            kinds = {type(each) for each in classes}
            dtype = {
                frozenset({int}): "int64",
                frozenset({str}): "str",
                frozenset({float}): "float64",
            }.get(frozenset(kinds))
        return Array("numpy", (rows,), dtype, nan=False)
    if name in ("predict_proba", "predict_log_proba"):
        made = Array("numpy", (rows, estimator.n_classes), "float64", nan=False)
        if name == "predict_proba":
            made.low, made.high = 0.0, 1.0
        return made
    if name == "decision_function" and estimator.n_classes == 2:
        return Array("numpy", (rows,), "float64")
    return Unknown()


def _inverted(estimator: Estimator, X: Value | None) -> Value:
    width = width_of(X)
    scalers = ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "PowerTransformer")
    if estimator.name in scalers:
        grid = as_grid(X)
        if grid is not None and grid.shape is not None and len(grid.shape) == 1:
            raise ViolationError("ValueError", f"{estimator.name} needs a table")
        if width is not None and estimator.features is not None and width != estimator.features:
            raise ViolationError(
                "ValueError", f"{estimator.features} columns were learnt and {width} are given"
            )
        return Array("numpy", (rows_of(X), width), "float64")
    return Unknown()


def transformed(call: Call, estimator: Estimator) -> Value:
    """The shape of what a transformer gives."""
    X = call.arg(0, "X", "raw_documents", "y")
    rows, width = rows_of(X), width_of(X)
    name = estimator.name
    given = {key: settings.constant(value) for key, value in estimator.settings.items()}
    same = (
        "StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "Normalizer",
        "OrdinalEncoder", "PowerTransformer", "QuantileTransformer", "Binarizer",
    )  # fmt: skip
    if estimator.facts.get("stored output"):
        return Unknown()
    if name in same:
        grid = as_grid(X)
        nan = None if grid is None else facts.has_nan(grid)
        return Array("numpy", (rows, width), "float64", nan=nan, inf=False)
    if name in ("SimpleImputer", "KNNImputer", "IterativeImputer"):
        return Array("numpy", (rows, width), None, nan=False)
    if name in ("PCA", "TruncatedSVD", "NMF", "FastICA", "TSNE", "IncrementalPCA", "KernelPCA"):
        parts = given.get("n_components", 2 if name in ("TSNE", "TruncatedSVD") else None)
        least = None if rows is None or width is None else min(rows, width)
        default = least if parts is None and name == "PCA" else None
        return Array(
            "numpy", (rows, parts if type(parts) is int else default), "float64", nan=False
        )
    if name == "LabelEncoder":
        return Array("numpy", (rows,), "int64", low=0)
    if name == "SelectKBest":
        count = given.get("k", 10)
        return Array("numpy", (rows, count if isinstance(count, int) else None), "float64")
    if name in ("OneHotEncoder", "CountVectorizer", "TfidfVectorizer", "ColumnTransformer"):
        return Unknown()
    return Unknown()
