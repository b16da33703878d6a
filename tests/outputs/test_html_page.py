import sys
from collections import Counter
from html.parser import HTMLParser

import pytest

import made_up_answers as answers
from failbench.base.errors import BadInputError
from failbench.diagnose.outputs.curves import write_plot
from failbench.diagnose.outputs.html_page import html_of
from failbench.diagnose.outputs.outline import numbered, place_of

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
