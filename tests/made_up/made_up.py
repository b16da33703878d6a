from itertools import product

import numpy as np
import polars as pl

from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.vocabulary import CATEGORIES


def made_up_predictions(accuracy=0.7, repeats=3, scenarios=12, runs=1, seed=0):
    """Scenarios differ in how often they are diagnosed right; confidence says nothing of it."""
    rng = np.random.default_rng(seed)
    rows = []
    for category in CATEGORIES:
        count = scenarios if isinstance(scenarios, int) else scenarios[category]
        for number in range(count):
            chance = rng.beta(4 * accuracy, 4 * (1 - accuracy)) if 0 < accuracy < 1 else accuracy
            for repeat, run in product(range(repeats), range(runs)):
                right = rng.random() < chance
                wrong = rng.choice([other for other in CATEGORIES if other != category])
                name = f"{category}_{number}"
                keys = {"feature_set": "19", "method": "made_up", "repeat": repeat}
                keys |= {"fold": number % 3, "run_id": f"{name}_{run}", "scenario": name}
                keys |= {"category": category, "prediction": category if right else wrong}
                rows.append(keys)
    confidence = np.random.default_rng([seed, 1]).uniform(0.2, 1.0, len(rows)).round(6)
    return completed(pl.DataFrame(rows).with_columns(confidence=pl.Series(confidence)))


def completed(predictions: pl.DataFrame) -> pl.DataFrame:
    """Add the columns of ``PREDICTION_SCHEMA`` that are not there; probabilities by confidence."""
    sure = pl.when(pl.col("prediction") == "abstain").then(0.2).otherwise("confidence")
    is_answer = {name: pl.col("prediction") == name for name in CATEGORIES}
    probabilities = {
        f"p_{name}": pl.when(answer).then(sure).otherwise((1 - sure) / 4)
        for name, answer in is_answer.items()
    }
    absent = [
        pl.lit(None, dtype).alias(name)
        for name, dtype in PREDICTION_SCHEMA.items()
        if name not in predictions.columns and name not in probabilities
    ]
    return (
        predictions.with_columns(*absent, **probabilities)
        .select(PREDICTION_SCHEMA.names())
        .cast(PREDICTION_SCHEMA)
    )


def small_predictions(**columns: object) -> pl.DataFrame:
    """One run per scenario and one repeat, from ``category``, ``prediction`` and ``confidence``."""
    table = pl.DataFrame(columns).with_columns(
        scenario=pl.format("{}_{}", "category", pl.int_range(pl.len())), feature_set=pl.lit("19"),
        method=pl.lit("made_up"), repeat=pl.lit(0), fold=pl.int_range(pl.len()) % 2,
    )  # fmt: skip
    return completed(table.with_columns(run_id="scenario"))


def over_resampled_rows(predictions, figure):
    """A figure over rows that were really drawn again, averaged over repeats."""
    numbers = []
    for category in CATEGORIES:
        mine = predictions.filter(pl.col("category") == category).sort("scenario", "repeat")
        numbers.append(
            [
                (rows["confidence"].to_numpy(), (rows["prediction"] == category).to_numpy())
                for _, rows in mine.group_by("scenario", maintain_order=True)
            ]
        )

    def plain(*indices):
        pairs = zip(numbers, indices, strict=True)
        drawn = [scenarios[number] for scenarios, index in pairs for number in index]
        confidence, right = (np.stack(part) for part in zip(*drawn, strict=True))
        repeats = range(confidence.shape[1])
        return np.mean([figure(confidence[:, r], right[:, r]) for r in repeats])

    return plain
