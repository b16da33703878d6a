import pytest

from failbench.publish.audit.figures import Printed, over_rounding, read_printed


@pytest.mark.parametrize(
    ("text", "value", "half_unit", "unit"),
    [
        ("57.1%", 0.571, 0.0005, "%"),
        ("91.30%", 0.913, 0.00005, "%"),
        ("20%", 0.2, 0.005, "%"),
        ("38.6 points", 0.386, 0.0005, "points"),
        ("0.62", 0.62, 0.005, ""),
        ("-3", -3.0, 0.5, ""),
        ("2.3e11", 2.3e11, 0.05e11, ""),
        ("87±1%", 0.87, 0.01, "%"),
        ("20/76", 20 / 76, 0.0, ""),
        (76, 76.0, 0.0, ""),
    ],
)
def test_digits_say_how_far_a_figure_was_rounded(text, value, half_unit, unit):
    figure = read_printed(text)
    assert figure.value == pytest.approx(value)
    assert figure.half_unit == pytest.approx(half_unit)
    assert figure.unit == unit


@pytest.mark.parametrize("raw", [0.57, True, "57,1%", "about 57%", "", "1/0", None])
def test_what_is_no_printed_figure_is_refused(raw):
    with pytest.raises(ValueError, match="is no printed figure"):
        read_printed(raw)


def test_a_figure_covers_what_rounds_to_it_and_neighbours_touch_but_are_of_different_numbers():
    figure = read_printed("57.1%")
    assert figure.covers(0.5706)
    assert figure.covers(12 / 21)
    assert not figure.covers(43 / 76)
    for first, second, overlaps in (
        ("0.96", "0.964", True),
        ("0.96", "0.97", False),
        (5, 6, False),
    ):
        assert read_printed(first).overlaps(read_printed(second)) == overlaps
        assert read_printed(first).overlaps(read_printed(first))


def test_extremes_over_rounding_are_at_the_ends_of_each_figure():
    low, high = over_rounding(sum, [read_printed("26%"), read_printed("20%"), Printed(0.5)])
    assert (low, high) == (pytest.approx(0.95), pytest.approx(0.97))
    quotient = over_rounding(lambda two: two[0] / two[1], [read_printed("0.5"), read_printed(2)])
    assert quotient == (pytest.approx(0.225), pytest.approx(0.275))
