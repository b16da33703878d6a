from __future__ import annotations

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.methods.improved_rules import ImprovedRulesSettings
from failbench.reporting.markup import markdown, render
from failbench.studies.architectures.figure import architectures_picture
from failbench.studies.architectures.measure import THRESHOLDS
from failbench.studies.architectures.results import ArchitecturesSettings
from failbench.studies.architectures.stability_tables import left_out_table, stability_table
from failbench.studies.architectures.tables import architectures_table, thresholds_table
from printed_pictures import assert_printable, marks_of

SETTINGS = ArchitecturesSettings(
    noise=(0.01, 0.05), noisy_logs=5, percentile=0.99, equivalence_margin=0.1, power=0.8, seed=0
)
RULES = ImprovedRulesSettings(
    tau=0.6, catastrophic_perplexity=400, gradient_norm=1000, healthy_sds=3
)
NAMES = ("gru", "t5")
RATES = {"accuracy": 0.3, "macro_f1": 0.2, "abstention_rate": 0.6}


def rows(study: str, method: str, thresholds: str, noise: float) -> list[dict[str, object]]:
    key = {"study": study, "method": method, "thresholds": thresholds, "noise": noise}
    rest = {"p": None, "p_equivalence": None, "smallest_margin": None, "detectable": None}
    bounds = {"n": 76, "runs": 80, "unit": "scenario", "interval": "BCa bootstrap"} | rest
    result = []
    for shift, name in enumerate(NAMES):
        keyed = {**key, "architecture": name}
        result += [
            keyed
            | bounds
            | {"metric": metric, "value": value + 0.1 * shift, "ci_low": 0.1, "ci_high": 0.8}
            for metric, value in RATES.items()
        ]
        result.append(
            keyed
            | bounds
            | {"metric": "against_others", "value": 0.1 * (2 * shift - 1)}
            | {"ci_low": -0.2, "ci_high": 0.25, "p": 0.2, "p_equivalence": 0.4}
            | {"smallest_margin": 0.2, "detectable": 0.15}
        )
        if noise:
            over = {"metric": "accuracy_over_logs", "value": 0.3, "ci_low": 0.29, "ci_high": 0.31}
            result.append(keyed | bounds | over)
        elif thresholds == "reference":
            size = {"metric": "parameter_count", "value": 2.5e5, "ci_low": 2e5, "ci_high": 3e5}
            result.append(keyed | bounds | size)
    margin = 0.08 if noise else 0.23
    spread = {"metric": "spread", "value": 0.1, "ci_low": 0.0, "ci_high": margin}
    verdict = {"p_equivalence": 0.03 if noise else 0.6, "smallest_margin": margin}
    overall = {**key, "architecture": "all"} | bounds | spread | verdict | {"detectable": 0.12}
    return [*result, overall]


@pytest.fixture(scope="module")
def table() -> pl.DataFrame:
    parts = [rows("rules", "improved_rules", name, 0.0) for name in THRESHOLDS]
    parts += [rows("rules", "improved_rules", "reference", noise) for noise in SETTINGS.noise]
    for method in ("random_forest", "simple_rules"):
        parts.append(rows("leave_one_architecture_out", method, "left_out", 0.0))
    return pl.DataFrame([row for part in parts for row in part], infer_schema_length=None)


def test_table_three_stands_beside_what_was_measured_in_the_papers_order(table, reported):
    shown = architectures_table(table, reported, SETTINGS, confidence=0.95)
    t5, gru, spread = shown.rows
    assert t5[:5] == ("T5", "60 M", "63.2 [61.4, 64.9]", "59.8", "0.25 M")
    assert gru[:4] == ("GRU", "12 M", "61.8 [60.1, 63.6]", "58.1")
    assert t5[5:7] == ("40.0 [10.0, 80.0]", "30.0 [10.0, 80.0]")
    assert t5[-3:] == ("30.0 [29.0, 31.0]", "76", "80")
    # the whole of the paper's table, not the architectures that were measured alone
    assert spread[2] == "2.6"
    assert spread[5:11] == ("10.0",) * 6
    assert "vary by 1.3 points" in shown.notes[0]


def test_thresholds_stand_side_by_side(table, reported):
    shown = thresholds_table(table, reported, SETTINGS, RULES, confidence=0.95)
    groups = list(dict.fromkeys(column.group for column in shown.columns if column.group))
    assert groups == [
        "Reference, mean + 3 sd",
        "Own, mean + 3 sd",
        "Own, percentile 99",
        "Own, percentile 99, limit too",
    ]
    assert shown.rows[0][0] == "T5"
    assert shown.rows[0][1:3] == ("40.0 [10.0, 80.0]", "70.0 [10.0, 80.0]")
    assert shown.rows[-1][1:] == ("10.0",) * 8 + ("",)


def test_stability_says_who_is_farthest_and_whether_equivalence_is_shown(table):
    shown = stability_table(table, SETTINGS, RULES, confidence=0.95)
    verdicts = {row[:2]: (row[5], row[6], row[7]) for row in shown.rows}
    label = "Reference, mean + 3 sd"
    assert verdicts["Improved rules", f"{label}; as recorded"] == ("0.600", "no", "23.0")
    assert verdicts["Improved rules", f"{label}; noise 5 %"] == ("0.030", "yes", "8.0")
    assert verdicts["Random forest", "architecture left out"][1] == "no"
    assert len(verdicts) == len(THRESHOLDS) + len(SETTINGS.noise) + 2
    assert shown.rows[0][3:5] == ("GRU", "-10.0 [-20.0, 25.0]")


def test_methods_on_an_architecture_left_out_stand_below_the_papers_rules(table, reported):
    shown = left_out_table(table, reported, {}, confidence=0.95)
    paper, rules, forest = shown.rows
    assert paper == (
        *("Improved rules, reported", "63.2 [61.4, 64.9]", "61.8 [60.1, 63.6]", "1.3"),
        *("–", "–"),
    )
    assert (rules[0], forest[0]) == ("Simple rules", "Random forest")
    assert forest[1:] == ("40.0 [10.0, 80.0]", "30.0 [10.0, 80.0]", "10.0", "–", "–")
    assert "95 % intervals" in markdown(shown)
    assert set(render(shown)) == {"md", "tex", "typ"}


def test_method_without_a_label_is_refused(table, reported):
    other = table.with_columns(method=pl.col("method").replace({"random_forest": "oracle"}))
    for draw in (
        lambda: stability_table(other, SETTINGS, RULES, confidence=0.95),
        lambda: left_out_table(other, reported, {}, confidence=0.95),
    ):
        with pytest.raises(BadInputError, match="has no label"):
            draw()


@pytest.mark.usefixtures("project_style")
def test_figure_has_a_panel_a_condition_and_the_papers_accuracies(table, reported):
    figure = assert_printable(architectures_picture(table, reported, SETTINGS))
    assert len(figure.axes) == 4
    first = figure.axes[0]
    assert [label.get_text() for label in first.get_yticklabels()] == ["T5", "GRU"]
    (marks,) = marks_of(first)
    assert sorted(marks.get_xdata()) == pytest.approx([30, 40])
    printed = [line.get_xdata()[0] for line in first.lines if line.get_marker() == "|"]
    assert printed == pytest.approx([63.16, 61.84])
    colours = [marks_of(axes)[0].get_color() for axes in figure.axes]
    assert len(set(colours[:3])) == 1 != len(set(colours))
