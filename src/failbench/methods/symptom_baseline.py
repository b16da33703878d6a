"""The symptom baseline: accuracy without reading any measurement.

It reads the type of the error, the number of steps and which features are missing. The margin of a
method over it is the contribution of the telemetry beyond the symptom.
"""

from __future__ import annotations

from pydantic import Field
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import MissingIndicator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from failbench.base.records import Record
from failbench.features.catalogue import FEATURE_SETS
from failbench.methods.declaration import Context, MethodDeclaration, by_name
from failbench.methods.forest_paths import explain_forest
from failbench.methods.method import Method
from failbench.methods.tuned_classifier import TunedClassifier

PRIMARY_FEATURES = FEATURE_SETS["19"]


class SymptomBaselineSettings(Record):
    """Size of the forest; the section ``symptom_baseline`` of params.yaml."""

    trees: int = Field(ge=1)


def symptom_baseline(settings: SymptomBaselineSettings, seed: int) -> TunedClassifier:
    """A random forest over error type, steps and missingness, without tuning."""
    symptoms = ColumnTransformer(
        [
            ("error_type", OneHotEncoder(handle_unknown="ignore"), ["error_type"]),
            ("steps", "passthrough", ["steps_before_failure"]),
            ("missing", MissingIndicator(features="all"), list(PRIMARY_FEATURES)),
        ],
        sparse_threshold=0.0,
        verbose_feature_names_out=False,
    )
    forest = RandomForestClassifier(n_estimators=settings.trees, random_state=seed)
    pipeline = Pipeline([("symptoms", symptoms), ("classify", forest)])
    return TunedClassifier(pipeline, {}, seed=seed, explain=explain_forest)


def _build(settings: SymptomBaselineSettings, context: Context) -> Method:
    """The baseline, which reads the same symptoms under every feature set."""
    return symptom_baseline(settings, context.seed)


DECLARATIONS = by_name(MethodDeclaration("symptom_baseline", SymptomBaselineSettings, _build))
