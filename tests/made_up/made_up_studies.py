import polars as pl

from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from made_up import made_up_predictions

ARCHITECTURES = ("transformer", "lstm", "gru")
RATES = {NESTED_CV: 0.6, POOLED: 0.7, LEFT_OUT: 0.5, KNOWN_SCENARIOS: 0.8}
SCENARIOS = 8


def made_up_study(study, method="random_forest", runs=2):
    """Predictions of one method in one study; the main study has one architecture."""
    parts = []
    for number, name in enumerate(ARCHITECTURES[:1] if study == NESTED_CV else ARCHITECTURES):
        keys = {"study": study, "method": method, "fold": number, "architecture": name}
        part = made_up_predictions(RATES[study], 1, SCENARIOS, runs, seed=number)
        run_id = pl.format("{}-{}", "run_id", pl.lit(name))
        parts.append(part.with_columns(run_id=run_id, **{k: pl.lit(v) for k, v in keys.items()}))
    return pl.concat(parts)


def made_up_studies(methods=("random_forest",)):
    """Predictions of methods in all four studies."""
    return pl.concat(made_up_study(study, method) for study in RATES for method in methods)
