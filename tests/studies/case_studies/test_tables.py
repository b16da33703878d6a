from __future__ import annotations

import math

import polars as pl
import pytest

from failbench.errors import BadInputError
from failbench.reporting.run_curves import run_curves
from failbench.studies.case_studies.cases import EXPLOSION, MISMATCH, Case, CaseStudiesSettings
from failbench.studies.case_studies.diagnoses_table import diagnoses_table, evidence_text
from failbench.studies.case_studies.figure import case_studies_picture, last_losses
from failbench.studies.case_studies.results import CaseAnswer, CaseStudies
from failbench.studies.case_studies.tables import FACTS, case_table, in_order
from failbench.telemetry import Telemetry
from failbench.verdicts import Diagnosis, Evidence
from printed_pictures import assert_printable, assert_repeats

SETTINGS = CaseStudiesSettings(run_seed=0, smallest_growth=10, settled_steps=10)
ROLES = {"failing": 10.0, "twin": 1.0, "half_rate": 5.0}
RUN = "runaway-transformer-adamw-s0"


def case(name: str) -> Case:
    return Case(name, RUN, "runaway", "optimization", 5, 6, (RUN, "other", "third"))


@pytest.fixture
def studies() -> CaseStudies:
    rows = [
        {
            "case": name,
            "role": role,
            "run_id": role,
            "outcome": "completed" if role == "twin" else "crash",
            "error": "IndexError: index" if (name, role) == (MISMATCH, "failing") else None,
            "quantity": fact.quantity,
            "value": None if fact.quantity == "last_loss" else value,
        }
        for name, facts in FACTS.items()
        for fact in facts
        for role, value in ROLES.items()
    ]
    seen = (
        Evidence("error_text", "", "matches", "x"),
        Evidence("max_loss", 10.31, "above", 6.5),
        Evidence("perplexity", math.nan, "above", 400.0),
        Evidence("error_text", "out of range", "matches", "out of"),
        Evidence("mean_loss", 5.0, "below", 6.0),
    )
    answers = (
        CaseAnswer(
            *(case(EXPLOSION), "simple_rules", Diagnosis("optimization", 0.5, seen)),
            *(("abstain",), 7, 3, 10),
        ),
        CaseAnswer(
            *(case(EXPLOSION), "ebm", Diagnosis("data_pipeline", 0.5, seen)),
            *(("optimization", "data_pipeline"), 5, 5, 10),
        ),
    )
    return CaseStudies(
        (case(EXPLOSION), case(MISMATCH)),
        pl.DataFrame(rows, schema_overrides={"error": pl.String}),
        answers,
    )


def test_the_paper_stands_before_the_run_its_twin_and_its_remedies(studies, reported):
    table = case_table(studies, case(EXPLOSION), reported, SETTINGS)
    assert [column.heading for column in table.columns] == [
        "",
        "Reported",
        "Failing run",
        "Fault removed",
        "Half rate",
    ]
    rows = [row for row in table.rows if row[0] == "largest from onset on"]
    assert rows[0] == ("largest from onset on", "45.3", "10", "1", "5")
    assert [row[1] for row in rows] == ["45.3", "47.2"]
    (norm,) = (row for row in table.rows if row[0].startswith("Largest gradient norm"))
    assert norm[1] == "1.2"
    assert table.rows[0] == ("Outcome", "–", "crash", "completed", "crash")
    training, held_out = (row[2:] for row in table.rows if row[0] == "at the end")
    assert (training, held_out) == (("–", "–", "–"), ("10", "1", "5"))
    assert "median of 3" in table.notes[0]


def test_errors_are_shown_where_there_are_any(studies, reported):
    mismatch = case_table(studies, case(MISMATCH), reported, SETTINGS)
    assert mismatch.rows[1] == (
        "Error",
        "RuntimeError: CUDA error: device-side assert triggered",
        "IndexError: index",
        "none",
        "none",
    )
    explosion = case_table(studies, case(EXPLOSION), reported, SETTINGS)
    assert "Error" not in {row[0] for row in explosion.rows}


def test_rules_show_the_conditions_that_decide_and_others_the_leading_ones(studies):
    rules, machine = studies.answers
    assert evidence_text(rules) == (
        "perplexity missing; error text has “out of range”; mean loss 5 below 6"
    )
    assert evidence_text(machine).startswith("max loss 10.3 above 6.5; perplexity missing;")
    first, second = diagnoses_table(studies).rows
    assert first[2:6] == ("abstain, 7 of 10", "3 of 10", "optimization (right)", "0.500")
    assert second[2] == "optimization (right) or data pipeline, 5 of 10 each"
    assert second[4] == "data pipeline"


def test_the_failing_run_comes_first():
    assert in_order(["b", "twin", "a", "failing"]) == ["failing", "twin", "a", "b"]


def with_remedy(telemetry: Telemetry) -> Telemetry:
    """The run once more, as if recorded with a remedy."""
    named = f"{RUN}-clipped"
    run = telemetry.runs.filter(pl.col("run_id") == RUN)
    steps = telemetry.steps.filter(pl.col("run_id") == RUN)
    changed = run.with_columns(run_id=pl.lit(named), kind=pl.lit("remedy"), twin_of=pl.lit(RUN))
    return Telemetry(
        pl.concat([telemetry.runs, changed]),
        pl.concat([telemetry.steps, steps.with_columns(run_id=pl.lit(named))]),
    )


def test_curves_of_a_run_have_its_remedies_as_roles_of_their_own(small_telemetry):
    plain = run_curves(small_telemetry, RUN)
    remedied = run_curves(with_remedy(small_telemetry), RUN)
    assert set(remedied["role"]) == {"failing", "twin", "clipped"}
    assert remedied.filter(pl.col("role") != "clipped").equals(plain)


@pytest.mark.usefixtures("project_style")
def test_figure_has_two_signals_and_the_last_losses_per_case(small_telemetry, tmp_path):
    curves = run_curves(with_remedy(small_telemetry), RUN)
    picture = case_studies_picture(
        (case(EXPLOSION), case(MISMATCH)), {EXPLOSION: curves, MISMATCH: curves}, 3
    )
    figure = assert_printable(picture)
    assert len(figure.axes) == 6
    norms, ends = figure.axes[1:3]
    assert len(norms.lines) == 2 + 2  # failing run and twin, and the two marks
    assert [label.get_text() for label in ends.get_yticklabels()] == [
        "Failing run",
        "Fault removed",
        "Clipped",
    ]
    assert_repeats(picture, tmp_path)


def test_last_losses_are_means_of_the_last_finite_steps(small_telemetry):
    ends = last_losses(run_curves(small_telemetry, RUN), 2)
    rows = {role: (value, step) for role, value, step in ends.iter_rows()}
    assert rows["twin"] == (pytest.approx((5.1 + 5.2) / 2), 9)
    assert rows["failing"] == (pytest.approx((9 + 40) / 2), 9)


def test_the_title_counts_remedies_that_end_near_the_twin(small_telemetry):
    remedied = run_curves(with_remedy(small_telemetry), RUN)
    cured = remedied.with_columns(
        loss=pl.when(pl.col("role") == "clipped").then(5.0).otherwise("loss")
    )
    for curves, near in ((remedied, 0), (cured, 1)):
        title = case_studies_picture((case(EXPLOSION),), {EXPLOSION: curves}, 3).title
        assert title.endswith(f"{near} of 1 against gradient explosion")


def test_a_number_that_the_paper_does_not_give_is_named(studies, reported):
    claims = {name: claim for name, claim in reported.claims.items() if name != "case_1_memory"}
    without = reported.model_copy(update={"claims": claims})
    with pytest.raises(BadInputError, match=r"claims\.case_1_memory: is missing"):
        case_table(studies, case(EXPLOSION), without, SETTINGS)
