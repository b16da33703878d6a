from itertools import product

import numpy as np
import polars as pl
import pytest

from failbench.base.scenarios import COUNTS
from failbench.base.vocabulary import CATEGORIES
from failbench.features.feature_table import KEYS
from failbench.prediction.splits import make_splits
from made_up_scenarios import TEXTS, feature_row


def made_up_table(scenarios, seeds, kind="failure", architectures=("transformer",)):
    rng = np.random.default_rng(1)
    rows, failed = [], kind == "failure"
    for category, number in product(CATEGORIES, range(scenarios)):
        offset, scenario = rng.normal(0, 0.8), f"{category}_{number}"
        for architecture, seed in product(architectures, range(seeds)):
            keys = {"run_id": f"{kind}-{scenario}-{architecture}-s{seed}", "kind": kind}
            keys |= {"scenario": scenario, "category": category} if failed else {}
            keys |= {"seed": seed, "architecture": architecture}
            rows.append(feature_row(rng, CATEGORIES.index(category) + offset, keys))
    return pl.DataFrame(rows, schema_overrides=TEXTS).select(*KEYS, pl.exclude(KEYS))


@pytest.fixture(scope="session")
def failures():
    return made_up_table(scenarios=6, seeds=2)


@pytest.fixture(scope="session")
def splits(failures):
    return make_splits(failures.select("scenario", "category").unique(), 3, 2, seed=0)


@pytest.fixture(scope="session")
def one_repeat(splits):
    return splits.filter(repeat=0)


@pytest.fixture(scope="session")
def out_of_memory(failures):
    """Runs of which the rules recognise some by an error, and more or less surely."""
    category = pl.col("category")
    first_of_data = (category == "data_pipeline") & (pl.col("seed") == 0)
    raised = (category == "memory_hardware") | first_of_data
    memory = pl.when(raised).then(1.0).otherwise(0.5)
    return failures.with_columns(
        error_type=pl.when(raised).then(pl.lit("torch.OutOfMemoryError")),
        error_message=pl.when(raised).then(pl.lit("CUDA out of memory.")),
        peak_memory=memory,
        memory_at_failure=memory,
        memory_warning=raised.cast(pl.Float64),
    )


@pytest.fixture(scope="session")
def successes():
    return made_up_table(scenarios=2, seeds=1, kind="success")


@pytest.fixture(scope="session")
def runs_of_three_architectures():
    """Failing and successful runs of three architectures, two seeds a scenario."""
    architectures = ("bert", "gru", "lstm")
    failing = made_up_table(4, 2, architectures=architectures)
    return pl.concat([failing, made_up_table(2, 1, "success", architectures)])


def scenarios_of(counts):
    """So many scenarios of each category, without anything else."""
    rows = [(f"{name}_{index}", name) for name, count in counts.items() for index in range(count)]
    return pl.DataFrame(rows, schema=["scenario", "category"], orient="row")


def made_up_answers(rates, repeats=10, runs=1, feature_set="19"):
    """Predictions of methods with these rates on the study's 76 scenarios; wrong is abstaining."""
    scenarios = scenarios_of(COUNTS)
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
def answers():
    """Made-up predictions of several methods, by their rates."""
    return made_up_answers
