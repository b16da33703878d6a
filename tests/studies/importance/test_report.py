"""What importance publishes is made from what was saved alone."""

from __future__ import annotations

import polars as pl
import pytest

from failbench.features.catalogue import FEATURE_SETS
from failbench.features.known_columns import flags_in
from failbench.predictions import PREDICTION_SCHEMA
from failbench.reporting.markup import markdown
from failbench.studies.importance.measure import (
    BUILT_IN_SCHEMA,
    KNOWN_SET,
    METHODS,
    ON_KNOWN,
    REPLACEMENT_SCHEMA,
    Importances,
    importances,
)
from failbench.studies.importance.report import report
from failbench.studies.importance.results import ImportanceSettings, importance_table
from failbench.studies.importance.shapes import SHAPE_SCHEMA, leading_shapes
from failbench.telemetry import write_parquet
from made_up_importance import EBM, FOREST, SETTINGS, VALUES, ablation_predictions
from made_up_known import made_up_known
from made_up_reports import assert_same
from stage import read_output, read_outputs


@pytest.fixture(scope="module")
def both_methods(measured) -> Importances:
    """The forest's importances a second time, in the name of the boosting machine."""
    return Importances(
        *(
            pl.concat([table.with_columns(method=pl.lit(method)) for method in METHODS])
            for table in (measured.predictions, measured.replacements, measured.built_in)
        )
    )


@pytest.fixture(scope="module")
def shapes(told_twice) -> pl.DataFrame:
    return leading_shapes(told_twice, EBM, FEATURE_SETS["19"], 0, SETTINGS.shapes)


@pytest.mark.usefixtures("project_style")
def test_the_report_from_saved_measurements_is_that_from_memory(
    both_methods, shapes, reported, tmp_path
):
    for (method,), part in both_methods.predictions.partition_by("method", as_dict=True).items():
        write_parquet(part, tmp_path / f"{method}.parquet")
    tables = {
        "replacements": both_methods.replacements,
        "built_in": both_methods.built_in,
        "shapes": shapes,
    }
    for name, table in tables.items():
        write_parquet(table, tmp_path / f"{name}.parquet")
    schemas = (REPLACEMENT_SCHEMA, BUILT_IN_SCHEMA, SHAPE_SCHEMA)
    replacements, built_in, saved_shapes = (
        read_output(tmp_path / f"{name}.parquet", schema)
        for name, schema in zip(tables, schemas, strict=True)
    )
    predictions = read_outputs(tmp_path, METHODS, PREDICTION_SCHEMA)
    saved = Importances(predictions, replacements, built_in)
    assert_same(
        report(saved, saved_shapes, ablation_predictions(), reported, SETTINGS),
        report(both_methods, shapes, ablation_predictions(), reported, SETTINGS),
        tmp_path,
    )


def test_the_source_of_the_settings_is_the_one_that_is_reported(both_methods, shapes, reported):
    drops = {}
    for source in ("training_fold", "test_fold"):
        settings = ImportanceSettings.model_validate(VALUES | {"source": source})
        made = report(both_methods, shapes, ablation_predictions(), reported, settings)
        drops[source] = made.points["importance"]["value"].to_list()
    assert drops["training_fold"] != drops["test_fold"]


def test_classifiers_on_what_the_monitor_knows_get_a_table_of_their_own(
    both_methods, shapes, reported, failures, splits
):
    table = made_up_known(failures, ("transformer-adamw",)).beside(failures)
    flags = flags_in(table.columns)
    more = importances(
        table, splits, {ON_KNOWN[0]: FOREST}, SETTINGS, seed=0, sets={KNOWN_SET: flags}
    )
    drops = importance_table(more, SETTINGS)
    assert set(drops.filter(kind="feature")["name"]) == set(flags)
    of_group = dict(drops.filter(kind="group").select("name", "value").rows())
    # three causes break what no other does, and memory, like a crash, is told by its end
    assert min(of_group.values()) > 0.2
    assert of_group.keys() == {"invariants", "ending"}
    made, before = (
        report(measured, shapes, ablation_predictions(), reported, SETTINGS)
        for measured in (both_methods.with_those_of(more), both_methods)
    )
    *others, known = map(markdown, made.tables)
    assert others == list(map(markdown, before.tables))
    assert "broke labels are classes" in known
    assert made.metrics["importance"][KNOWN_SET][ON_KNOWN[0]]["groups"].keys() == of_group.keys()
