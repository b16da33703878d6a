"""Linear discriminant analysis: categories as normal clouds with one covariance between them."""

from typing import Annotated

from pydantic import Field
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from failbench.base.records import Record
from failbench.methods.declaration import Context, Method, MethodDeclaration, by_name
from failbench.methods.evidence import explain_linear
from failbench.methods.tuned_classifier import TunedClassifier, imputed


class LinearDiscriminantSettings(Record):
    """Grid of the analysis; the section ``linear_discriminant`` of params.yaml."""

    inner_folds: int = Field(ge=2)
    shrinkage: tuple[Annotated[float, Field(gt=0, le=1)], ...] = Field(min_length=1)


def _build(settings: LinearDiscriminantSettings, context: Context) -> Method:
    """The analysis on standardised features, tuned over how far covariances shrink."""
    pipeline = Pipeline(
        [
            ("impute", imputed(context.features)),
            ("scale", StandardScaler()),
            ("classify", LinearDiscriminantAnalysis(solver="lsqr")),
        ]
    )
    grid = {"classify__shrinkage": settings.shrinkage}
    return TunedClassifier(pipeline, grid, settings.inner_folds, context.seed, explain_linear)


DECLARATIONS = by_name(MethodDeclaration("linear_discriminant", LinearDiscriminantSettings, _build))
