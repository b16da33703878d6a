from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.signal_groups import SIGNAL_GROUPS
from failbench.reporting.markup import render
from failbench.studies.ablation.figure import ablation_picture
from failbench.studies.ablation.interactions_table import interactions_table, reported_surplus
from failbench.studies.ablation.measure import subsets
from failbench.studies.ablation.results import AblationSettings
from failbench.studies.ablation.tables import ablation_tables
from failbench.studies.ablation.variants import VARIANTS, kept_subsets, left_out_subsets
from made_up_ablation import importance_points
from printed_pictures import assert_printable, assert_repeats

KEPT = (("perplexity",), ("memory",), ("vocabulary",), ("memory", "perplexity"))
SETTINGS = AblationSettings(
    repeats=5,
    kept=KEPT,
    superadditive=("memory", "perplexity"),
    resamples=1000,
    confidence=0.95,
    wilson_from=0.9,
    wilson_below=10,
    practical_equivalence=0.05,
    equivalence_margin=0.1,
    power=0.8,
    seed=0,
)


def row(method: str, feature_set: str, subset: str, metric: str, value: float) -> dict[str, object]:
    tested = metric == "accuracy" and subset != "all"
    return {
        "feature_set": feature_set,
        "method": method,
        "subset": subset,
        "metric": metric,
        "value": value,
        "ci_low": max(value - 0.1, 0.0),
        "ci_high": value + 0.1,
        "n": 76,
        "difference": value - 0.5 if tested else None,
        "difference_low": value - 0.6 if tested and subset != "memory" else None,
        "difference_high": value - 0.4 if tested and subset != "memory" else None,
        "p_holm": 0.0123 if tested else None,
        "smallest_margin": 0.175 if tested else None,
        "detectable_difference": 0.15 if tested and subset != "memory" else None,
    }


@pytest.fixture(scope="module")
def points() -> pl.DataFrame:
    return pl.DataFrame(
        [
            row(method, feature_set, subset, metric, 0.2 + 0.02 * number)
            for method, feature_set in VARIANTS
            for number, subset in enumerate(subsets(SIGNAL_GROUPS, KEPT))
            for metric in ("accuracy", "abstention_rate")
        ],
        infer_schema_length=None,
    )


def test_subsets_come_in_the_order_of_the_groups_and_all_signals_last(points):
    assert kept_subsets(points) == [
        "memory",
        "perplexity",
        "vocabulary",
        "memory+perplexity",
        "all",
    ]
    assert left_out_subsets(points) == [f"without_{group}" for group in SIGNAL_GROUPS] + ["all"]


def test_the_papers_figures_stand_beside_the_rules_and_not_beside_the_forest(points, reported):
    kept, left_out = ablation_tables(points, importance_points(), reported, SETTINGS)
    cells = {(line[0], line[2]): line[3:5] for line in kept.rows}
    assert cells["Improved rules", "memory"] == ("26.3", "−35.5")
    assert cells["Improved rules, reduced tree", "memory + perplexity"] == ("47.4", "−14.4")
    assert cells["Improved rules", "all signals"] == ("61.8", "–")
    assert cells["Random forest", "memory"] == ("–", "–")
    assert not any(column.group == "reported" for column in left_out.columns)


def test_removing_the_error_text_is_told_from_replacing_it(points, reported):
    _, left_out = ablation_tables(points, importance_points(), reported, SETTINGS)
    cells = {(line[0], line[1], line[2]): line for line in left_out.rows}
    line = cells["Random forest", "19 + keywords", "without error text"]
    removed = line[5].split(" ")[0]
    assert f"({removed} points on 19 + keywords)" in left_out.notes[-1]
    assert "replaced (−10.5 points, table importance)" in left_out.notes[-1]


def test_a_row_has_the_rate_the_difference_and_what_could_have_been_seen(points, reported):
    kept, _ = ablation_tables(points, importance_points(), reported, SETTINGS)
    line = next(line for line in kept.rows if line[2] == "perplexity")
    assert line[5:] == (
        "22.0 [12.0, 32.0]",
        "22.0",
        "−28.0 [−38.0, −18.0]",
        "0.012",
        "15.0",
        "17.5",
        "76",
    )


def test_a_difference_that_no_resample_questions_has_no_interval(points, reported):
    kept, _ = ablation_tables(points, importance_points(), reported, SETTINGS)
    line = next(line for line in kept.rows if line[2] == "memory")
    assert (line[7], line[9]) == ("−26.0", "–")


def test_the_reported_surplus_is_that_of_the_papers_table(reported):
    surplus = {row.baseline: row for row in reported_surplus(reported, 0.95)}
    assert surplus["nothing"].value == pytest.approx(0.474 - 0.263 - 0.250)
    assert surplus["majority"].baseline_value == pytest.approx(20 / 76)
    assert {row.n for row in surplus.values()} == {76}


def test_the_verdict_stands_at_the_baseline_of_the_method_itself(reported):
    table = interactions_table(
        reported_surplus(reported, 0.95), ("memory", "perplexity"), confidence=0.95
    )
    (line,) = table.rows
    assert line[:5] == ("Improved rules, reported", "–", "26.3", "25.0", "47.4")
    assert line[5].startswith("−3.9 [")
    assert line[5].endswith("], not shown")
    assert line[7].startswith("+22.4 [")
    assert line[7].endswith("+40.3]")
    assert set(render(table)) == {"md", "tex", "typ"}


def test_a_missing_count_of_scenarios_is_refused(reported):
    claims = {name: value for name, value in reported.claims.items() if name != "scenarios"}
    with pytest.raises(BadInputError, match="scenarios"):
        reported_surplus(reported.model_copy(update={"claims": claims}), 0.95)


@pytest.mark.usefixtures("project_style")
def test_the_figure_has_every_subset_and_readable_labels(points, reported):
    left, right = assert_printable(ablation_picture(points, reported)).axes
    assert len(left.get_yticklabels()) == 5
    assert len(right.get_yticklabels()) == 8


@pytest.mark.usefixtures("project_style")
def test_the_same_points_give_the_same_bytes(points, reported, tmp_path):
    assert_repeats(ablation_picture(points, reported), tmp_path)
