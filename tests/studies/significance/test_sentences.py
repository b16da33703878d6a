from __future__ import annotations

import pytest

from failbench.errors import BadInputError
from failbench.reporting.markup import render
from failbench.statistics.significance import SignificanceSettings
from failbench.studies.significance.sentences import contrast_sentence, contrast_sentences
from failbench.studies.significance.tables import contrasts_table

SETTINGS = SignificanceSettings(
    feature_set="19",
    contrasts=(("random_forest", "simple_rules"),),
    resamples=1000,
    confidence=0.95,
    practical_equivalence=0.05,
    equivalence_margin=0.10,
    power=0.80,
    seed=0,
)


@pytest.fixture
def contrast(compared):
    def make(left: str = "random_forest", right: str = "simple_rules", **values: object):
        return compared(left, right, family="contrast", **{"p_holm": 0.0318, **values})

    return make


def test_a_sentence_says_size_uncertainty_verdicts_and_what_could_have_been_seen(contrast):
    assert contrast_sentence(contrast(), SETTINGS) == (
        "On 19 features, random forest diagnosed 10.0 percentage points more of the scenarios "
        "right than simple rules (95 % interval of the difference 1.2 to 20.0 points; corrected "
        "resampled t(49) = 2.50, Holm-adjusted p = 0.032); the posterior probability that the two "
        "differ by less than 5 points is 0.19, with 0.80 for random forest and 0.01 for simple "
        "rules being better by more; equivalence within 10 points is not shown (p = 0.500; the "
        "smallest margin that would have succeeded is 16.7 points); the smallest difference that "
        "n = 76 scenarios could have shown with a power of 80 % is 11.5 points."
    )


def test_a_contrast_in_the_other_direction_says_fewer(contrast):
    sentence = contrast_sentence(contrast(difference=-0.034), SETTINGS)
    assert "diagnosed 3.4 percentage points fewer of the scenarios right than" in sentence


def test_no_difference_has_no_direction(contrast):
    sentence = contrast_sentence(contrast(difference=-0.0001), SETTINGS)
    assert "diagnosed as many scenarios right as simple rules" in sentence


def test_equivalence_is_claimed_only_where_it_was_shown(contrast):
    assert "equivalence within 10 points is shown" in contrast_sentence(
        contrast(equivalent=True, p_equivalence=0.00001), SETTINGS
    )
    assert "points is shown" not in contrast_sentence(contrast(), SETTINGS)


def test_a_tiny_p_is_not_printed_as_zero(contrast):
    sentence = contrast_sentence(contrast(p_holm=1e-7), SETTINGS)
    assert "Holm-adjusted p < 0.001" in sentence


def test_names_keep_their_capitals_inside_a_sentence(contrast):
    sentence = contrast_sentence(contrast("ebm", "lightgbm"), SETTINGS)
    assert sentence.startswith("On 19 features, EBM diagnosed")
    assert "right than LightGBM (" in sentence
    assert "for EBM and" in sentence


def test_what_identical_answers_cannot_tell_is_said(contrast):
    sentence = contrast_sentence(
        contrast(ci_low=None, ci_high=None, detectable_difference=None), SETTINGS
    )
    assert "no interval, as all resamples of the scenarios agree" in sentence
    assert sentence.endswith("the power of n = 76 scenarios cannot be told.")


def test_margins_are_those_of_the_settings(contrast):
    other = SETTINGS.model_copy(
        update={"practical_equivalence": 0.025, "equivalence_margin": 0.15, "power": 0.9}
    )
    sentence = contrast_sentence(contrast(), other)
    for part in ("less than 2.5 points", "within 15 points", "a power of 90 %"):
        assert part in sentence


def test_each_contrast_has_a_sentence_and_a_row(contrast):
    comparisons = [contrast(), contrast("ebm", "random_forest")]
    lines = contrast_sentences(comparisons, SETTINGS).splitlines()
    assert [line.split(" diagnosed")[0] for line in lines] == [
        "- On 19 features, random forest",
        "- On 19 features, EBM",
    ]
    rows = contrasts_table(comparisons, SETTINGS, 10).rows
    assert [row[1] for row in rows] == [
        "Random forest – simple rules",
        "EBM – random forest",
    ]


def test_the_table_shows_every_test_and_can_be_written_in_every_language(contrast):
    table = contrasts_table([contrast()], SETTINGS, 10)
    row = dict(
        zip(
            ((column.group, column.heading) for column in table.columns), table.rows[0], strict=True
        )
    )
    assert row["", "Difference"] == "10.0 [1.2, 20.0]"
    assert row["corrected resampled t", "p"] == "0.016"
    assert row["corrected resampled t", "p, Holm"] == "0.032"
    assert row["posterior", "practically equal"] == "0.190"
    assert row["", "p, McNemar"] == "0.077"
    assert row["", "p, paired t (legacy)"] == "0.025"
    assert row["", "Detectable difference"] == "11.5"
    assert "50 folds, 49 degrees of freedom" in table.notes[0]
    assert set(render(table)) == {"md", "typ"}


def test_a_method_without_a_label_is_refused(contrast):
    with pytest.raises(BadInputError, match="'made_up' is no method"):
        contrast_sentence(contrast("made_up"), SETTINGS)
