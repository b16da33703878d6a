"""What methods predict with some of their signals, on runs that one group tells apart."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from failbench.features.feature_table import to_frame
from failbench.methods.signal_groups import ALL_GROUPS
from failbench.studies.ablation.measure import (
    ABLATION_SCHEMA,
    KEY,
    View,
)
from failbench.studies.ablation.results import AblationSettings
from made_up_ablation import RULES, SETTINGS, VALUES, accuracy


def test_every_run_is_predicted_with_every_subset_once_per_repeat(predictions, told_by_memory):
    assert predictions.schema == ABLATION_SCHEMA
    assert not predictions.select(KEY).is_duplicated().any()
    assert predictions.equals(predictions.sort(KEY))
    counts = predictions.group_by("feature_set", "method", "subset").len()["len"]
    assert set(counts) == {told_by_memory.height * SETTINGS.repeats}
    subsets = predictions.group_by("feature_set", "method").agg(pl.col("subset").n_unique())
    by_method = {(feature_set, method): count for feature_set, method, count in subsets.rows()}
    # all, those kept, and without each group; 19 features have no keywords to keep or leave out
    assert by_method == {
        ("19", "improved_rules"): 1 + 5 + 7,
        ("19", "reduced_rules"): 1 + 5 + 7,
        ("19", "random_forest"): 1 + 4 + 6,
        ("19+keywords", "random_forest"): 1 + 5 + 7,
    }


def test_a_forest_is_worth_what_the_signals_it_sees_are(predictions):
    assert accuracy(predictions, "random_forest", "memory") > 0.75
    assert accuracy(predictions, "random_forest", "without_memory") < 0.5
    assert accuracy(predictions, "random_forest", "perplexity") < 0.5


def test_with_all_signals_both_readings_of_the_rules_are_the_method_itself(predictions):
    keys = ["repeat", "run_id", "prediction"]
    whole, reduced = (
        predictions.filter(pl.col("method") == method, pl.col("subset") == ALL_GROUPS).select(keys)
        for method in ("improved_rules", "reduced_rules")
    )
    assert whole.equals(reduced)


def test_leaving_the_keywords_out_is_the_smaller_feature_set(predictions):
    keys = ["repeat", "run_id", "prediction"]
    forest = predictions.filter(pl.col("method") == "random_forest")
    small = forest.filter(pl.col("feature_set") == "19", pl.col("subset") == ALL_GROUPS)
    without = forest.filter(pl.col("subset") == "without_error_text")
    assert small.select(keys).equals(without.select(keys))


def test_rules_are_blind_to_what_they_must_not_see(told_by_memory):
    frame = to_frame(told_by_memory).assign(
        error_type="RuntimeError", error_message="out of memory"
    )
    seen = View("improved_rules", RULES, ("memory_warning",)).frame(frame)
    assert seen["perplexity"].isna().all()
    assert (seen["error_type"] == "").all()
    assert np.array_equal(seen["memory_warning"], frame["memory_warning"])
    assert not frame["perplexity"].isna().any()
    with_text = View("improved_rules", RULES, ("error_text",)).frame(frame)
    assert (with_text["error_type"] == "RuntimeError").all()
    assert with_text["memory_warning"].isna().all()


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"kept": (("memroy",),)}, "memroy"),
        ({"kept": (("memory", "perplexity"), ("perplexity", "memory"))}, "named twice"),
        ({"superadditive": ("memory", "vocabulary")}, "kept alone and together"),
    ],
)
def test_settings_that_make_no_sense_are_refused(values, problem):
    with pytest.raises(ValidationError, match=problem):
        AblationSettings.model_validate(VALUES | values)
