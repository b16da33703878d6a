"""A made-up feature table: five categories, a few scenarios each, some of them told by features."""

from collections.abc import Callable
from itertools import product

import numpy as np
import polars as pl
import pytest

from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.features.catalogue import FEATURES
from failbench.features.feature_table import KEYS
from failbench.prediction.splits import make_splits


def made_up_table(
    scenarios: int,
    seeds: int,
    kind: str = "failure",
    architectures: tuple[str, ...] = ("transformer",),
) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    rows = []
    for index, category in enumerate(CATEGORIES):
        for number in range(scenarios):
            offset = rng.normal(0, 0.8)
            for architecture, seed in product(architectures, range(seeds)):
                values = {feature.name: rng.normal() for feature in FEATURES}
                values["max_loss"] = index + offset
                scenario = f"{category}_{number}"
                failed = kind == "failure"
                keys = {"run_id": f"{kind}-{scenario}-{architecture}-s{seed}", "kind": kind}
                keys |= {"scenario": scenario if failed else None, "seed": seed}
                keys |= {"category": category if failed else None, "scale": "small"}
                keys |= {"architecture": architecture, "optimizer": "adamw"}
                rows.append({**keys, "error_type": None, "error_message": None, **values})
    table = pl.DataFrame(
        rows, schema_overrides={"error_type": pl.String, "error_message": pl.String}
    )
    return table.select(*KEYS, pl.exclude(KEYS))


@pytest.fixture(scope="session")
def failures() -> pl.DataFrame:
    return made_up_table(scenarios=6, seeds=2)


@pytest.fixture(scope="session")
def out_of_memory(failures: pl.DataFrame) -> pl.DataFrame:
    """Runs of which the rules recognise some by an error, and more or less surely."""
    category = pl.col("category")
    raised = (category == "memory_hardware") | (
        (category == "data_pipeline") & (pl.col("seed") == 0)
    )
    memory = pl.when(raised).then(1.0).otherwise(0.5)
    return failures.with_columns(
        error_type=pl.when(raised).then(pl.lit("torch.OutOfMemoryError")),
        error_message=pl.when(raised).then(pl.lit("CUDA out of memory.")),
        peak_memory=memory,
        memory_at_failure=memory,
        memory_warning=raised.cast(pl.Float64),
    )


@pytest.fixture(scope="session")
def successes() -> pl.DataFrame:
    return made_up_table(scenarios=2, seeds=1, kind="success")


@pytest.fixture(scope="session")
def runs_of_three_architectures() -> pl.DataFrame:
    """Failing and successful runs of three architectures, two seeds a scenario."""
    architectures = ("bert", "gru", "lstm")
    return pl.concat(
        [
            made_up_table(scenarios=4, seeds=2, architectures=architectures),
            made_up_table(scenarios=2, seeds=1, kind="success", architectures=architectures),
        ],
        how="vertical_relaxed",
    )


def made_up_answers(
    rates: dict[str, float], repeats: int = 10, runs: int = 1, feature_set: str = "19"
) -> pl.DataFrame:
    """Predictions of methods with these rates on the study's 76 scenarios; wrong is abstaining."""
    scenarios = pl.DataFrame(
        [
            {"scenario": f"{category}_{number}", "category": category}
            for category, count in COUNTS.items()
            for number in range(count)
        ]
    )
    rows = (
        make_splits(scenarios, folds=5, repeats=repeats, seed=0)
        .join(scenarios, on="scenario", maintain_order="left")
        .join(pl.DataFrame({"run": range(runs)}), how="cross", maintain_order="left")
        .with_columns(
            run_id=pl.format("{}-s{}", "scenario", "run"),
            seed=pl.col("run"),
            feature_set=pl.lit(feature_set),
        )
    )
    rng = np.random.default_rng(0)
    return pl.concat(
        rows.with_columns(
            method=pl.lit(method),
            prediction=pl.when(pl.Series(rng.random(rows.height) < rate))
            .then("category")
            .otherwise(pl.lit("abstain")),
        )
        for method, rate in rates.items()
    )


@pytest.fixture(scope="session")
def answers() -> Callable[..., pl.DataFrame]:
    """Made-up predictions of several methods, by their rates."""
    return made_up_answers
