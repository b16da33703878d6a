"""Stage hybrids: what the hybrids predict in every study, from their members' predictions."""

from pathlib import Path

import polars as pl

from failbench.base.method_settings import HybridSettings
from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.base.stage import print_table, read_output, read_section, run
from failbench.base.studies import ON_INVARIANTS
from failbench.base.telemetry import write_parquet
from failbench.base.vocabulary import Route
from failbench.methods.hybrid import Hybrid, HybridTwoWay
from failbench.prediction.hybrids import compose

ROUTES = ("rules", "classifier", "human")
MEMBERS = ("improved_rules", "random_forest", "simulated_human", "invariants")
STUDIES = (
    Path("data/predictions/nested_cv"),
    Path("data/predictions/across_architectures"),
)


def main() -> None:
    settings = read_section("hybrid", HybridSettings)
    three_way = Hybrid(None, None, None, **settings.model_dump())
    two_way = HybridTwoWay(None, None)
    predictions = {
        folder: [read_output(folder / f"{name}.parquet", PREDICTION_SCHEMA) for name in MEMBERS]
        for folder in STUDIES
    }
    rows = []
    for folder, (rules, forest, human, invariants) in predictions.items():
        one: dict[Route, pl.DataFrame] = {"classifier": forest}
        both: dict[Route, pl.DataFrame] = {"classifier": forest, "human": human}
        for hybrid in (
            compose("hybrid", three_way, rules, both),
            compose("hybrid_two_way", two_way, rules, one),
            compose(ON_INVARIANTS, two_way, invariants, one),
        ):
            write_parquet(hybrid, folder / f"{hybrid['method'][0]}.parquet")
            rows += _summary(folder.name, hybrid)
    print_table(("study", "features", "method", "accuracy", *ROUTES), rows)


def _summary(study: str, predictions: pl.DataFrame) -> list[tuple[object, ...]]:
    routes = [(pl.col("route") == route).mean().alias(route) for route in ROUTES]
    table = (
        predictions.group_by("feature_set", "method")
        .agg((pl.col("prediction") == pl.col("category")).mean().alias("accuracy"), *routes)
        .sort("feature_set")
    )
    return [(study, *row) for row in table.iter_rows()]


if __name__ == "__main__":
    run(main)
