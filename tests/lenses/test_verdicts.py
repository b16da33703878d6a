"""Looks and their rules: intervals, differences, resampling, verdicts for every case, filters, and
the command ``failbench lens``."""

import itertools
import math

import numpy as np
import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.cli.main import main
from failbench.neighbours.lenses import catalogue, slices
from failbench.neighbours.lenses.looking import look
from made_up_traces import SETTINGS, falling, made_up_answers, made_up_slice


@pytest.fixture(scope="module")
def healthy():
    return made_up_slice(items=20)


@pytest.mark.parametrize("lens", catalogue.LENSES)
def test_a_lens_emits_the_numbers_of_the_catalogue_within_their_intervals(healthy, lens):
    seen = look(lens, *healthy, SETTINGS)
    assert list(seen.measures) == list(catalogue.measure_kinds()[lens])
    for measure in seen.measures.values():
        assert len(measure.draws) == 1 + SETTINGS.resamples
        if np.isfinite(measure.value):
            assert measure.ci_low <= measure.value <= measure.ci_high
    assert seen.points.height > 0


# Rules and joint hypotheses as data.


@pytest.mark.parametrize("lens", catalogue.LENSES)
def test_rules_cover_every_case_with_numbers_that_the_lens_emits(lens):
    def verdict(value):
        kinds = catalogue.measure_kinds()[lens]
        draws = np.array([value])
        alike = {
            name: catalogue.Measure(kinds[name], value, value, value, 1, draws) for name in kinds
        }
        return catalogue.verdict_of(lens, alike).verdict

    assert catalogue.rules()[lens][-1].conditions == ()
    assert verdict(math.nan) == "undetermined"
    known = {rule.verdict for rule in catalogue.rules()[lens]}
    assert {verdict(value) for value in (-2, -1, 0, 0.1, 0.25, 0.4, 0.5, 0.6, 1.25, 3)} <= known
    read = {condition.measure for rule in catalogue.rules()[lens] for condition in rule.conditions}
    assert read <= set(catalogue.measure_kinds()[lens])
    for synthesis in catalogue.syntheses():
        assert set(getattr(synthesis, lens)) <= known


def test_every_combination_of_verdicts_has_a_hypothesis():
    known = [
        dict.fromkeys(rule.verdict for rule in catalogue.rules()[lens]) for lens in catalogue.LENSES
    ]
    combinations = (
        dict(zip(catalogue.LENSES, each, strict=True)) for each in itertools.product(*known)
    )
    named = {catalogue.synthesis_of(verdicts).id for verdicts in combinations}
    assert named == {synthesis.id for synthesis in catalogue.syntheses()}


# Filters and slices.


@pytest.fixture(scope="module")
def traces():
    return made_up_answers(items=2, lengths=(2, 3, 4))


@pytest.mark.parametrize(
    ("text", "kept"), [("length=3..", {3, 4}), ("length=2..3", {2, 3}), ("length=2,4", {2, 4})]
)
def test_numbers_are_filtered_by_range_and_by_list(traces, text, kept):
    assert set(slices.filtered(traces, [slices.filter_of(text)], "file")["length"]) == kept


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("length", "is no filter"),
        ("size=3", "no column 'size'"),
        ("length=two", "'two' is no whole number"),
        ("task=sorting", "task: no trace is left"),
    ],
)
def test_what_is_no_filter_or_leaves_nothing_is_named(traces, text, says):
    with pytest.raises(BadInputError) as raised:
        slices.filtered(traces, [slices.filter_of("depth=1"), slices.filter_of(text)], "file")
    assert says in str(raised.value)
    assert text != "task=sorting" or "arithmetic" in str(raised.value), "what there is"


# The command: a page, a document, and exit statuses.


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "traces.parquet"
    short = made_up_answers("short-0", condition="short", accuracy=falling(4, 5), items=8)
    pl.concat([made_up_answers("healthy-0", items=8), short]).write_parquet(path)
    return path


@pytest.mark.parametrize(
    ("change", "arguments", "says"),
    [
        (None, ["--where", "task=sorting"], "no trace is left"),
        (None, ["--against", "nobody"], "there is no trace of 'nobody'"),
        (None, ["--figure", "a.bmp"], "no kind of picture"),
        (lambda traces: traces.drop("tokens"), [], "bad.parquet: tokens: "),
    ],
)
def test_bad_input_is_one_line_and_status_two(file, tmp_path, capsys, change, arguments, says):
    if change is not None:
        change(pl.read_parquet(file)).write_parquet(file := tmp_path / "bad.parquet")
    assert main(["lens", "surface", str(file), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert says in error


def test_what_traces_hold_is_no_markup_and_no_escape(tmp_path, capsys):
    path = tmp_path / "hostile.parquet"
    made_up_answers("\x1b[31m[bold]m", items=3, lengths=(2, 4)).write_parquet(path)
    assert main(["lens", "surface", str(path)]) == 0
    page = capsys.readouterr().out
    assert ("\x1b" in page, "[bold]m" in page) == (False, True)
