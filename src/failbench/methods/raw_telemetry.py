"""Methods that read raw telemetry: step series and error text, without features made by hand."""

# Section 8.3.1 of the paper asks for this test, as features may have been tuned to the benchmark.
# Columns are of MiniRocket (Dempster, Schmidt and Webb, 2021, KDD): of thousands of convolutions
# the share of steps at which one exceeds a bias; and of TF-IDF (Sparck Jones, 1972). The classifier
# has the penalty of MiniRocket's ridge and the logistic loss, for the probabilities.

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.linalg
from pydantic import Field
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler
from sklearn.utils.validation import check_is_fitted

from failbench.base.arrays import Array, Labels, Positions, Probabilities
from failbench.base.method_settings import Positive
from failbench.base.records import Record
from failbench.base.verdicts import Diagnosis, Evidence
from failbench.features.feature_table import RAW_SERIES, RAW_TEXT
from failbench.methods.declaration import Context, MethodDeclaration, by_name
from failbench.methods.evidence import SHARE, leading_terms, weighted_terms
from failbench.methods.tuned_classifier import ConvergedLogisticRegression, TunedClassifier

Cube = npt.NDArray[np.float64]  # of shape ``[n_runs, n_channels, n_steps]``
MIN_STEPS = 9  # minimum number of steps of the array: the length of MiniRocket's kernels
RESOLUTION = 2.0**-10  # every number is a multiple of this: a thousandth of a standard deviation

MAX_DEVIATION = 100.0
"""Maximum distance from the mean: sums of MiniRocket stay exact in single precision."""
# It adds up to nine channels with weights whose sizes sum to 18: multiples of ``RESOLUTION`` below
# 2 to the 14th. So no order of summation rounds, and a bias is exceeded on all processors or none.


class AlignedSeries(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Stack the series of each run so that all of them end at the failure."""

    # As long as the longest training series. Numbers are clipped to the training range, infinite
    # ones included, compressed to sign(x) log(1 + abs(x)), as they span thirty powers of ten,
    # standardised, rounded to ``RESOLUTION``, bounded by ``MAX_DEVIATION``. What was not logged
    # repeats the last number, and is the mean before the first. The last channel is the share of
    # signals that a step logged: it distinguishes logged numbers from filled ones.

    def __init__(self, signals: Sequence[str]) -> None:
        self.signals = signals

    def fit(self, X: pd.DataFrame, y: Labels | None = None) -> Self:  # noqa: ARG002
        """Learn length, ranges, means and standard deviations."""
        self.length_ = max(MIN_STEPS, *(len(series) for series in X[self.signals[0]]))
        cube = self._stacked(X)
        finite = np.isfinite(cube)
        observed = finite.any(axis=(0, 2))
        # A signal that no training run logged has no range: its values count as 0.
        self.low_ = np.where(observed, np.where(finite, cube, np.inf).min(axis=(0, 2)), 0.0)
        self.high_ = np.where(observed, np.where(finite, cube, -np.inf).max(axis=(0, 2)), 0.0)
        steps = np.moveaxis(self._compressed(cube), 1, 2).reshape(-1, len(self.signals))
        # Zeros stand for a signal without a number, as the mean of nothing would be NaN.
        self.scaler_ = StandardScaler().fit(np.where(observed, steps, 0.0))
        return self

    def transform(self, X: pd.DataFrame) -> Cube:
        """Series of shape ``[n_runs, n_signals + 1, length_]``, all multiples of ``RESOLUTION``."""
        check_is_fitted(self)
        cube = self._stacked(X)
        logged = ~np.isnan(cube)
        values = self._compressed(cube)
        scaled = (values - self.scaler_.mean_[:, None]) / self.scaler_.scale_[:, None]
        latest = np.maximum.accumulate(np.where(logged, np.arange(self.length_), 0), axis=2)
        repeated = np.take_along_axis(scaled, latest, axis=2)
        share = logged.mean(axis=1, keepdims=True)
        series = np.concatenate([np.nan_to_num(repeated), share], axis=1)
        rounded: Cube = (
            np.rint(np.clip(series, -MAX_DEVIATION, MAX_DEVIATION) / RESOLUTION) * RESOLUTION
        )
        return rounded

    def _stacked(self, X: pd.DataFrame) -> Cube:
        cube = np.full((len(X), len(self.signals), self.length_), np.nan)
        for channel, signal in enumerate(self.signals):
            for run, series in enumerate(X[signal]):
                last = series[-self.length_ :]
                cube[run, channel, self.length_ - len(last) :] = last
        return cube

    def _compressed(self, cube: Cube) -> Cube:
        bounded = np.clip(cube, self.low_[:, None], self.high_[:, None])
        compressed: Cube = np.sign(bounded) * np.log1p(np.abs(bounded))
        return compressed


SERIES: Final = "series"
TEXT: Final = "text"
"""Names of the blocks of columns."""


class RawTelemetrySettings(Record):
    """Size of the transform and grid of the classifier, for all methods on raw telemetry."""

    kernels: Annotated[int, Field(ge=84)]
    inner_folds: int = Field(ge=2)
    inverse_penalty: tuple[Positive, ...] = Field(min_length=1)
    max_iterations: int = Field(ge=1)


class RawTelemetry(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A linear classifier on far more columns than runs; inner folds choose its penalty."""

    # The columns are learned once per fit and without labels, and rotated into as many coordinates
    # as there are training runs, which changes no answer under an L2 penalty (Hastie and
    # Tibshirani, 2004, Biostatistics). Householder's QR computes it to within rounding, unlike a
    # matrix of inner products, and at a third of the cost of singular values.

    def __init__(self, blocks: ColumnTransformer, classifier: TunedClassifier) -> None:
        self.blocks = blocks
        self.classifier = classifier

    def fit(self, X: pd.DataFrame, y: Labels, groups: Labels | None = None) -> Self:
        """Learn columns and rotation, then choose the penalty and fit."""
        self.blocks_ = clone(self.blocks)
        columns = np.asarray(self.blocks_.fit_transform(X), dtype=np.float64)
        self.mean_ = columns.mean(axis=0)
        columns -= self.mean_
        # Overwrites the columns, which are the largest array.
        self.basis_, triangle = scipy.linalg.qr(columns.T, overwrite_a=True, mode="economic")
        # arrays, as scikit-learn looks at each of a frame's many columns whenever it validates one
        rotated = np.ascontiguousarray(triangle.T)
        self.classifier_ = clone(self.classifier).fit(rotated, y, groups=groups)
        self.classes_ = self.classifier_.classes_
        return self

    def predict(self, X: pd.DataFrame) -> Labels:
        """The most probable category; the first in the order of categories among equals."""
        check_is_fitted(self)
        answers: Labels = self.classifier_.predict(self._rotated(self._columns(X)))
        return answers

    def predict_proba(self, X: pd.DataFrame) -> Probabilities:
        """Probabilities in the order of categories; zero for categories without training runs."""
        check_is_fitted(self)
        rotated = self._rotated(self._columns(X))
        probabilities: Probabilities = self.classifier_.predict_proba(rotated)
        return probabilities

    def diagnose(self, X: pd.DataFrame) -> tuple[Diagnosis, ...]:
        """Answers, evidence in words, and the number of terms, those of 95 % of the score."""
        # They are weighed relative to the training mean. Only words that are present are evidence:
        # the share of steps at which a sum of signals exceeds a bias means nothing to a reader.
        columns = self._columns(X)
        diagnoses = self.classifier_.diagnose(self._rotated(columns))
        answers = np.array([diagnosis.category for diagnosis in diagnoses], dtype=object)
        linear = self.classifier_.pipeline_["classify"]
        weights = linear.coef_ @ self.basis_.T  # [n_classes, n_columns]
        values = columns - self.mean_
        terms = leading_terms(weighted_terms(linear, weights, values, answers), SHARE)
        words = self._words(columns.shape[1])
        return tuple(
            replace(diagnosis, evidence=_evidence(words, row, leading), conditions=len(leading))
            for diagnosis, row, leading in zip(diagnoses, columns, terms, strict=True)
        )

    def _columns(self, X: pd.DataFrame) -> Array:
        return np.asarray(self.blocks_.transform(X), dtype=np.float64)

    def _rotated(self, columns: Array) -> Array:
        rotated: Array = (columns - self.mean_) @ self.basis_
        return rotated

    def _words(self, columns: int) -> npt.NDArray[np.object_]:
        """The word of each column; None for columns of convolutions."""
        words = np.full(columns, None, dtype=object)
        if TEXT in self.blocks_.named_transformers_:
            names = self.blocks_.named_transformers_[TEXT]["weigh"].get_feature_names_out()
            words[self.blocks_.output_indices_[TEXT]] = names
        return words


def _evidence(
    words: npt.NDArray[np.object_], values: Array, leading: Positions
) -> tuple[Evidence, ...]:
    return tuple(
        Evidence("error_text", words[term], "matches", words[term])
        for term in leading
        if words[term] is not None and values[term] > 0
    )


Block = tuple[str, Pipeline, list[str]]


def _series(settings: RawTelemetrySettings, context: Context) -> Block:
    """Columns of MiniRocket; each run has length one, so that no block or run outweighs others."""
    # Imported late: it takes half a gigabyte where torch is installed too.
    from aeon.transformations.collection.convolution_based import MiniRocket

    steps: list[tuple[str, Any]] = [
        ("align", AlignedSeries(RAW_SERIES)),
        ("convolve", MiniRocket(n_kernels=settings.kernels, random_state=context.seed)),
        # MiniRocket counts in single precision, in which a mean depends on the order of its terms.
        ("widen", FunctionTransformer(np.asarray, kw_args={"dtype": np.float64})),
        # In place, as the columns are the largest array.
        ("standardise", StandardScaler(copy=False)),
        ("normalise", Normalizer(copy=False)),
    ]
    return SERIES, Pipeline(steps), list(RAW_SERIES)


def _text() -> Block:
    """Columns of TF-IDF by the library's defaults: words of two letters or digits and more."""
    steps: list[tuple[str, Any]] = [
        ("join", FunctionTransformer(joined_text)),
        ("weigh", TfidfVectorizer()),
    ]
    return TEXT, Pipeline(steps), list(RAW_TEXT)


def joined_text(X: pd.DataFrame) -> npt.NDArray[np.object_]:
    """The error text of each run, one line per column; empty where nothing was raised."""
    joined: npt.NDArray[np.object_] = X.agg("\n".join, axis=1).to_numpy(dtype=object)
    return joined


def _method(parts: Sequence[str], settings: RawTelemetrySettings, context: Context) -> RawTelemetry:
    blocks = [_text() if part == TEXT else _series(settings, context) for part in parts]
    linear = ConvergedLogisticRegression(solver="newton-cg", max_iter=settings.max_iterations)
    classifier = TunedClassifier(
        Pipeline([("classify", linear)]),
        {"classify__C": settings.inverse_penalty},
        settings.inner_folds,
        context.seed,
    )
    # Rotating a sparse result would make it dense, so all results are dense.
    return RawTelemetry(ColumnTransformer(blocks, sparse_threshold=0.0), classifier)


_PARTS = {"raw_series": (SERIES,), "raw_text": (TEXT,), "raw_telemetry": (SERIES, TEXT)}
DECLARATIONS = by_name(  # they receive the raw table and no features
    *(
        MethodDeclaration(name, RawTelemetrySettings, partial(_method, parts))
        for name, parts in _PARTS.items()
    )
)
