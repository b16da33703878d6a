"""What estimators ask of the data that they are fitted to."""

from __future__ import annotations

from failbench.crashes.rules.frames.labels import names_of
from failbench.crashes.rules.knowledge import facts, memory
from failbench.crashes.rules.knowledge.values import Array, Estimator, Frame, Value
from failbench.crashes.rules.knowledge.violation import ViolationError
from failbench.crashes.rules.learning import settings
from failbench.crashes.rules.learning.kinds import SEARCHES, is_a
from failbench.crashes.rules.learning.samples import as_grid, kind_of_target, rows_of, width_of


def check_target(estimator: Estimator, y: Value) -> None:
    """Refuse labels that an estimator cannot learn.

    Raises
    ------
    ViolationError
        If they have gaps, are fractions where classes are due, or text where numbers are due.
    """
    grid = as_grid(y)
    if grid is None:
        return
    if facts.has_nan(grid):
        raise ViolationError("ValueError", f"labels of {estimator.name} have gaps")
    if facts.has_inf(grid):
        raise ViolationError("ValueError", f"labels of {estimator.name} are infinite")
    if is_a(estimator, "ClassifierMixin"):
        if kind_of_target(y) == "continuous":
            raise ViolationError("ValueError", f"{estimator.name} is given fractions as classes")
        single = (
            "LogisticRegression", "SVC", "LinearSVC", "GradientBoostingClassifier", "SGDClassifier",
            "LinearDiscriminantAnalysis", "Perceptron", "NuSVC", "PassiveAggressiveClassifier",
            "AdaBoostClassifier_", "GaussianProcessClassifier",
        )  # fmt: skip
        if facts.distinct(grid) == 1 and estimator.name in single:
            raise ViolationError("ValueError", f"{estimator.name} needs two classes or more")
        if (
            grid.dtype == "object"
            and grid.element_types is not None
            and len(grid.element_types) > 1
        ) and "str" in grid.element_types:
            raise ViolationError(
                "TypeError" if "float" in grid.element_types else "ValueError",
                "labels are of several types",
            )
    elif grid.dtype == "str" and estimator.name != "DummyRegressor":
        texts = [each for each in facts.seen(grid) if isinstance(each, str)]
        if texts and not texts[0].replace(".", "").lstrip("-").isdigit():
            raise ViolationError("ValueError", f"{estimator.name} is given text as labels")


def check_amounts(estimator: Estimator, X: Value | None, y: Value | None) -> None:
    """Refuse settings that the data do not allow.

    Raises
    ------
    ViolationError
        If there are more clusters, components, or features to choose than the data have.
    """
    rows, width = rows_of(X), width_of(X)
    given = {key: settings.constant(value) for key, value in estimator.settings.items()}
    name = estimator.name
    clusters = given.get("n_clusters", 8 if name in ("KMeans", "MiniBatchKMeans") else None)
    if isinstance(clusters, int) and rows is not None and rows < clusters:
        raise ViolationError("ValueError", f"{clusters} clusters of {rows} rows")
    parts = given.get("n_components")
    if type(parts) is int and rows is not None and width is not None:
        if name in ("PCA", "IncrementalPCA") and parts > min(rows, width):
            raise ViolationError(
                "ValueError", f"{parts} components of {rows} rows and {width} columns"
            )
        if name == "TruncatedSVD" and parts > width:
            raise ViolationError("ValueError", f"{parts} components of {width} columns")
        if name == "GaussianMixture" and rows < parts:
            raise ViolationError("ValueError", f"{parts} components of {rows} rows")
    if type(parts) is int and name == "LinearDiscriminantAnalysis":
        grid = as_grid(y)
        count = None if grid is None else facts.distinct(grid)
        limit = [each for each in (None if count is None else count - 1, width) if each is not None]
        if limit and parts > min(limit):
            raise ViolationError(
                "ValueError", f"{parts} components where {min(limit)} are the most"
            )
    neighbours = given.get("n_neighbors")
    if (
        type(neighbours) is int
        and rows is not None
        and neighbours > rows
        and name == "LocallyLinearEmbedding"
    ):
        raise ViolationError("ValueError", f"{neighbours} neighbours of {rows} rows")
    perplexity = given.get("perplexity", 30.0 if name == "TSNE" else None)
    if (
        name == "TSNE"
        and isinstance(perplexity, (int, float))
        and rows is not None
        and perplexity >= rows
    ):
        raise ViolationError("ValueError", f"a perplexity of {perplexity} with {rows} rows")
    solver, penalty = given.get("solver", "lbfgs"), given.get("penalty")
    if (
        name == "LogisticRegression"
        and penalty in ("l1", "elasticnet")
        and solver in ("lbfgs", "newton-cg", "sag", "newton-cholesky")
    ):
        raise ViolationError("ValueError", f"the solver {solver} has no penalty {penalty}")
    if name in (
        "MultinomialNB",
        "ComplementNB",
        "CategoricalNB",
        "NMF",
        "LatentDirichletAllocation",
    ):
        grid = as_grid(X)
        low = None if grid is None else facts.lowest(grid)
        if low is not None and low < 0:
            raise ViolationError("ValueError", f"{name} is given negative values")
    if name == "PolynomialFeatures":
        degree = given.get("degree", 2)
        if rows is not None and width is not None and isinstance(degree, int) and degree < 10:
            count = _combinations(width + degree, degree)
            memory.check(rows * count, "float64")
    if name == "PowerTransformer" and given.get("method") == "box-cox":
        grid = as_grid(X)
        low = None if grid is None else facts.lowest(grid)
        if low is not None and low <= 0:
            raise ViolationError("ValueError", "box-cox is of positive values")
    cv = given.get("cv")
    if name in SEARCHES and isinstance(cv, int) and rows is not None and cv > rows:
        raise ViolationError("ValueError", f"{cv} folds of {rows} rows")


def _combinations(total: int, chosen: int) -> int:
    result = 1
    for place in range(chosen):
        result = result * (total - place) // (place + 1)
    return result


def check_composed(estimator: Estimator, X: Value | None) -> None:
    """Refuse a table without the columns that a ColumnTransformer selects."""
    if estimator.name != "ColumnTransformer":
        return
    selected = estimator.facts.get("columns") or {}
    for value in selected.values():
        for name in names_of(value):
            if isinstance(X, Frame) and X.columns is not None and X.is_complete:
                if isinstance(name, str) and name not in X.columns:
                    raise ViolationError(
                        "ValueError", f"{name!r} is none of the columns {list(X.columns)[:8]}"
                    )
            elif isinstance(X, Array) and X.home == "numpy" and isinstance(name, str):
                raise ViolationError(
                    "ValueError", "columns are named where the data are no table of pandas"
                )
