"""Stage hybrids: what the two hybrids predict in every study, from their members' predictions."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from failbench.methods.hybrid import Hybrid, HybridSettings, HybridTwoWay
from failbench.prediction.hybrids import compose
from failbench.telemetry import write_parquet
from stage import print_table, read_output, read_section, run

ROUTES = ("rules", "classifier", "human")
STUDIES = (
    Path("data/predictions/nested_cv"),
    Path("data/predictions/across_architectures"),
)


def main() -> None:
    settings = read_section("hybrid", HybridSettings)
    three_way = Hybrid(None, None, None, **settings.model_dump())
    rows = []
    for folder in STUDIES:
        rules = read_output(folder / "improved_rules.parquet")
        forest = read_output(folder / "random_forest.parquet")
        human = read_output(folder / "simulated_human.parquet")
        members = {"classifier": forest, "human": human}
        found = compose("hybrid", three_way, rules, members)
        write_parquet(found, folder / "hybrid.parquet")
        both = compose("hybrid_two_way", HybridTwoWay(None, None), rules, {"classifier": forest})
        write_parquet(both, folder / "hybrid_two_way.parquet")
        rows += _summary(folder.name, found) + _summary(folder.name, both)
    print_table(("study", "features", "method", "accuracy", *ROUTES), rows)


def _summary(study: str, predictions: pl.DataFrame) -> list[tuple[object, ...]]:
    routes = [
        (pl.col("route") == one).mean().alias(one) for one in ("rules", "classifier", "human")
    ]
    table = (
        predictions.group_by("feature_set", "method")
        .agg((pl.col("prediction") == pl.col("category")).mean().alias("accuracy"), *routes)
        .sort("feature_set")
    )
    return [(study, *row) for row in table.iter_rows()]


if __name__ == "__main__":
    run(main)
