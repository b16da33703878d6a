"""Made-up predictions of the four studies that are set side by side."""

import polars as pl

from failbench.base.studies import KNOWN_SCENARIOS, LEFT_OUT, NESTED_CV, POOLED
from made_up import made_up_predictions

ARCHITECTURES = ("transformer", "lstm", "gru")
RATES = {NESTED_CV: 0.6, POOLED: 0.7, LEFT_OUT: 0.5, KNOWN_SCENARIOS: 0.8}
SCENARIOS = 8


def made_up_study(study: str, method: str = "random_forest", runs: int = 2) -> pl.DataFrame:
    """Predictions of one method in one study; the main study has one architecture."""
    names = ARCHITECTURES[:1] if study == NESTED_CV else ARCHITECTURES
    parts = [
        made_up_predictions(RATES[study], 1, SCENARIOS, runs, seed=number).with_columns(
            study=pl.lit(study),
            method=pl.lit(method),
            fold=pl.lit(number),
            architecture=pl.lit(name),
            run_id=pl.format("{}-{}", "run_id", pl.lit(name)),
        )
        for number, name in enumerate(names)
    ]
    return pl.concat(parts)


def made_up_studies(methods: tuple[str, ...] = ("random_forest",)) -> pl.DataFrame:
    """Predictions of methods in all four studies."""
    return pl.concat(made_up_study(study, method) for study in RATES for method in methods)
