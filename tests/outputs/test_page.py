import io
from dataclasses import replace

import pytest
from rich.console import Console

import made_up_answers as answers
from failbench.diagnose.outputs.outline import numbered, percent, place_of
from failbench.diagnose.outputs.page import print_page


def page(diagnosis, width=80, *, whole=False, **terminal):
    console = Console(file=io.StringIO(), width=width, **terminal)
    print_page(diagnosis, console, whole=whole)
    return console.file.getvalue()


def said(text):
    """A page without its line ends and margins."""
    return " ".join(text.replace("| ", "").split())


def test_the_first_line_is_the_answer_and_evidence_the_place_that_an_editor_opens():
    first, *lines = page(answers.answer(category="memory_hardware")).splitlines()
    assert first == "Failed: memory and hardware, 93 % sure (high)"
    assert "  1  train.log:91  step 83  loss 11.2, above 4.1" in lines
    assert "  2  train.log:95  step 87  gradient norm inf, above 12.5" in lines
    unknown = said(page(answers.unknown()))
    assert unknown.startswith("Unknown: the log does not say what is wrong; most probable is opti")


@pytest.mark.parametrize("make", [answers.answer, answers.unknown])
def test_the_whole_page_has_every_finding_and_every_cause(make):
    diagnosis = make()
    text = said(page(diagnosis, 100, whole=True))
    for finding in numbered(diagnosis):
        assert place_of(finding) in text
        assert finding.statement in text
        assert finding.quote in text
    for hypothesis in diagnosis.hypotheses:
        assert hypothesis.cause.title in text
        assert percent(hypothesis.confidence) in text


def test_a_screen_says_how_much_it_leaves_out():
    many = tuple(answers.finding(f"check_{number}") for number in range(40))
    diagnosis = answers.answer(
        hypotheses=(answers.hypothesis("overfitting", 0.5, *many),), findings=many
    )
    short = page(diagnosis)
    assert "and 36 more" in short
    assert len(short.splitlines()) < 50
    whole = page(diagnosis, whole=True)
    assert all(f"(check_{number})" in whole for number in range(40))
    assert "more" not in whole


def test_what_is_missing_how_it_was_read_and_what_to_measure_are_said():
    log = answers.answer().log
    noted = replace(log.sources[0], notes=("Lines 7 to 9 were cut.",))
    noted = page(answers.answer(log=replace(log, sources=(noted,))))
    assert "Lines 7 to 9 were cut." in noted
    assert "train.log: printed lines, 109 lines" in page(answers.answer(), whole=True)
    text = said(page(answers.unknown()))
    assert "Not in the log: memory, throughput." in text
    assert answers.NORMS.measure in text
    assert text.index("What to measure next") < text.index("If it is the first of these")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize(
    "make", [answers.answer, answers.healthy, answers.unknown, answers.empty, answers.hostile]
)
def test_no_line_is_wider_than_the_terminal_or_ends_with_blanks(make, width):
    for line in page(make(), width, whole=True).splitlines():
        assert len(line) <= width
        assert line == line.rstrip()


def test_escapes_are_written_for_a_terminal_with_colours_alone_and_never_of_the_log(monkeypatch):
    assert "\x1b" not in page(answers.answer())
    coloured = {"force_terminal": True, "color_system": "standard"}
    assert "\x1b[1;31m" in page(answers.answer(), **coloured)
    text = page(answers.hostile(), whole=True, **coloured)
    assert "\x1b]" not in text
    assert "\x07" not in text
    assert "[bold]loud[/bold]" in said(page(answers.hostile(), 400, whole=True))
    assert "<script>" in text
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[1;31m" not in page(answers.answer(), **coloured)
