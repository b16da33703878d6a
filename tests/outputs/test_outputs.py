import io
import json
import math
import sys
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser

import jsonschema
import pytest
from rich.console import Console

import made_up_answers as answers
from failbench.base.errors import BadInputError
from failbench.diagnose.outputs.curves import write_plot
from failbench.diagnose.outputs.document import Document, document_of, json_of, schema
from failbench.diagnose.outputs.html_page import html_of
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


ALL = [answers.answer, answers.healthy, answers.unknown, answers.empty, answers.hostile]


class Page(HTMLParser):
    """What a browser would make of a page: its tags, attributes and words."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.words = Counter(), [], [], []
        self.feed(text)
        self.close()
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.handle_startendtag(tag, attributes)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags[tag] += 1
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.mark.parametrize("make", ALL)
def test_every_tag_is_closed_and_none_fetches_or_runs_anything(make):
    page = Page(html_of(make()))
    assert page.open == []
    (policy,) = (value for name, value in page.attributes if "default-src" in str(value))
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert "script-src" not in policy
    assert not {"script", "img", "link", "iframe", "object", "form", "a"} & set(page.tags)
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in {"src", "href", "xlink:href"}:
            assert value.startswith("#")
        assert name not in {"src", "srcset", "data", "action"}
        if name == "style":
            assert "url(" not in value.replace("url(#", "")


def test_no_tag_or_attribute_comes_from_the_log():
    hostile, harmless = html_of(answers.hostile()), html_of(answers.hostile("harmless"))
    page = Page(hostile)
    assert page.tags == Page(harmless).tags
    names = [name for name, _ in page.attributes]
    assert names == [name for name, _ in Page(harmless).attributes]
    assert "<script>alert(1)</script>" in page.text
    assert "[bold]loud[/bold]" in page.text
    assert "\x1b" not in hostile
    assert not any("alert" in str(value) for _, value in page.attributes)


@pytest.mark.parametrize("make", [answers.answer, answers.unknown])
def test_every_finding_is_on_the_page_with_the_number_of_its_mark(make):
    diagnosis = make()
    page = Page(html_of(diagnosis))
    for finding, number in numbered(diagnosis).items():
        assert ("id", f"evidence-{number}") in page.attributes
        for words in (place_of(finding), finding.statement, finding.quote):
            assert words in page.text


def test_without_what_draws_a_sentence_stands_where_curves_would(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    page = Page(html_of(answers.answer()))
    assert page.tags["svg"] == 0
    assert "No curves: matplotlib is not installed" in page.text
    assert "pip install 'failbench[pictures]'" in page.text
    with pytest.raises(BadInputError, match=r"failbench\[pictures\]"):
        write_plot(answers.answer(), tmp_path / "why.svg")


VALIDATOR = jsonschema.Draft202012Validator


def parsed(diagnosis, **more):
    def refuse(constant):
        raise AssertionError(constant)

    return json.loads(json_of(document_of(diagnosis, **more)), parse_constant=refuse)


def without_descriptions(value):
    if isinstance(value, list):
        return [without_descriptions(each) for each in value]
    if isinstance(value, dict):
        return {
            name: without_descriptions(each)
            for name, each in value.items()
            if not (name == "description" and isinstance(each, str))
        }
    return value


def test_the_published_schema_is_that_of_the_records_and_describes_every_field():
    VALIDATOR.check_schema(schema())
    made = Document.model_json_schema(mode="serialization")
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    assert without_descriptions(schema()) == without_descriptions(made)
    records = [schema(), *schema()["$defs"].values()]
    fields = [field for record in records for field in record["properties"].values()]
    assert len(fields) > 50
    assert all(field.get("description") for field in fields)


@pytest.mark.parametrize("make", ALL)
def test_every_document_fits_the_schema_and_is_read_back(make):
    document = document_of(make())
    VALIDATOR(schema()).validate(parsed(make()))
    assert Document.model_validate_json(json_of(document)) == document


@pytest.mark.parametrize(
    "change", [{"status": "broken"}, {"confidence": 1.2}, {"format": 2}, {"categories": {"x": 1.0}}]
)
def test_the_schema_refuses_what_is_no_answer(change):
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR(schema()).validate(parsed(answers.answer()) | change)


def test_numbers_that_json_cannot_write_are_words():
    for value, written in ((math.nan, "nan"), (math.inf, "inf"), (-math.inf, "-inf"), (2.5, 2.5)):
        found = answers.finding(value=value, threshold=None if value == 2.5 else value)
        cause = answers.hypothesis("overfitting", 0.8, found)
        document = parsed(answers.answer(hypotheses=(cause,), findings=()))
        (item,) = document["root_causes"][0]["evidence"]
        assert item["value"] == written
        assert item["threshold"] == (None if value == 2.5 else written)
        VALIDATOR(schema()).validate(document)


def test_every_finding_is_in_the_document_once_per_cause_with_its_number():
    diagnosis = answers.answer()
    document = parsed(diagnosis)
    evidence = [item for cause in document["root_causes"] for item in cause["evidence"]]
    evidence += document["other_evidence"]
    assert {item["id"]: item["number"] for item in evidence} == {
        finding.id: number for finding, number in numbered(diagnosis).items()
    }
    assert [item["id"] for item in document["other_evidence"]] == [answers.RATE.id]
    assert [item["number"] for item in document["root_causes"][1]["evidence"]] == [3]


def test_words_and_names_of_files_of_the_log_have_no_escapes_or_broken_letters():
    document = parsed(answers.hostile(), artifacts={"plot": "run\x1b[31m.svg"})
    assert "\x1b" not in json.dumps(document, ensure_ascii=False)
    assert "\\u001b" not in json_of(document_of(answers.hostile()))
    assert document["analysis_artifacts"] == {"plot": "run.svg"}
    found = answers.finding(source=b"run\xff.log".decode("utf-8", errors="surrogateescape"))
    diagnosis = answers.answer(hypotheses=(), findings=(found,))
    assert parsed(diagnosis)["other_evidence"][0]["source"] == "run.log"
