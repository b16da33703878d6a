from __future__ import annotations

import matplotlib as mpl
import polars as pl
import pytest
import yaml
from matplotlib.backends.backend_agg import FigureCanvasAgg

from failbench.audit.check import VERDICTS, AuditSettings
from failbench.audit.claims import AuditedPaper, audit_paper
from failbench.audit.figure import paper_audit_picture
from failbench.audit.tables import KIND_LABELS, audit_table
from failbench.errors import BadInputError
from failbench.validation import kept_by_hand
from printed_pictures import assert_printable, assert_repeats

pytestmark = pytest.mark.usefixtures("project_style")


@pytest.fixture(scope="module")
def audit(repository):
    text = (repository / "data/reported/claims.yaml").read_text(encoding="utf-8")
    settings = AuditSettings(confidence=0.95, alpha=0.05, draws=1000, seed=0)
    return audit_paper(
        kept_by_hand(AuditedPaper, yaml.safe_load(text), "data/reported/claims.yaml"), settings
    )


@pytest.fixture(scope="module")
def figure(audit, repository):
    with mpl.rc_context(fname=repository / "figures" / "matplotlibrc"):
        return assert_printable(paper_audit_picture(audit))


def test_the_table_has_a_row_per_claim_those_that_do_not_fit_first(audit):
    table = audit_table(audit, confidence=0.95)
    assert len(table.rows) == audit.height
    ranks = [VERDICTS.index(row[-1]) for row in table.rows]
    assert ranks == sorted(ranks)
    first = audit.filter(pl.col("verdict") == "inconsistent").row(0, named=True)
    assert table.rows[0][0].lower() == first["quantity"].lower()


def test_the_caption_counts_the_verdicts(audit):
    caption = audit_table(audit, confidence=0.95).caption
    for verdict, height in audit["verdict"].value_counts().iter_rows():
        assert str(height) in caption, verdict
    assert f"of {audit.height} claims" in caption


def test_a_row_has_both_places_and_what_else_a_reader_should_know(audit):
    claim = audit.row(by_predicate=pl.col("claim") == "hybrid_two_way", named=True)
    rows = [row for row in audit_table(audit, confidence=0.95).rows if row[1] == claim["printed"]]
    assert rows == [
        (
            "Accuracy of rules on 70 % of cases and a classifier on 30 %",
            "about 87 %",
            "Section 6.2",
            "weighted mean",
            f"90.8 %. {claim['note']}",
            "inconsistent",
        )
    ]
    places = {row[2] for row in audit_table(audit, confidence=0.95).rows}
    assert "Table 1; Table 5" in places


def test_a_kind_without_a_label_is_one_error(audit):
    assert set(audit["kind"]) == set(KIND_LABELS)
    with pytest.raises(BadInputError, match="guess"):
        audit_table(audit.head(1).with_columns(kind=pl.lit("guess")), confidence=0.95)


def test_the_figure_has_every_interval_of_a_rate_with_its_implied_n(audit, figure):
    drawn = audit.filter(pl.col("kind") == "rate_interval")
    axes = figure.axes[0]
    labels = [label.get_text() for label in axes.get_yticklabels()]
    assert labels == drawn["label"].to_list()
    assert all(labels)
    right = [label.get_text() for label in axes.child_axes[0].get_yticklabels()]
    assert right == ["implied n", *(f"{n:,}" for n in drawn["implied_n"])]


def test_no_place_in_the_figure_lies_on_an_interval(audit, figure):
    drawn = audit.filter(pl.col("kind") == "rate_interval")
    axes = figure.axes[0]
    renderer = FigureCanvasAgg(figure).get_renderer()
    assert {text.get_text() for text in axes.texts} == set(drawn["place"])
    for text in axes.texts:
        end = axes.transData.inverted().transform(text.get_window_extent(renderer).max)[0]
        row = drawn.row(round(text.get_position()[1]), named=True)
        assert end < 100 * min(row["low"], row["printed_low"])


def test_the_title_counts_the_intervals_that_do_not_fit(audit):
    drawn = audit.filter(pl.col("kind") == "rate_interval")
    wrong = drawn.filter(pl.col("verdict") == "inconsistent").height
    assert paper_audit_picture(audit).title.startswith(f"{wrong} of the {drawn.height} intervals")


def test_the_figure_is_the_same_to_the_byte(audit, tmp_path):
    assert_repeats(paper_audit_picture(audit), tmp_path)
