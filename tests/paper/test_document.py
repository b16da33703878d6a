"""The paper as a document: what is refused, what does not change, and how long it is."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import pytest
import typst

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.publish.paper.document import Compiled, compiled, sources
from failbench.publish.paper.facts import facts
from failbench.publish.paper.sources import named_files
from failbench.publish.reproduction.printed import page_texts
from failbench.statistics.settings import StatisticsSettings
from paper import READS, TEXT
from pipeline import REPOSITORY

FACTS = facts(
    read_section("statistics", StatisticsSettings, REPOSITORY / "params.yaml"), 5, 10, (0, 1, 2)
)
ESTIMATE = {"value": 0.6074, "ci_low": 0.5184, "ci_high": 0.686, "n": 76}


@pytest.fixture
def small(tmp_path: Path) -> Callable[[str], Compiled]:
    """Compile a text with the library of the paper and one file of metrics."""
    # what several sections name is of the real metrics
    others = shutil.ignore_patterns("facts.typ")
    shutil.copytree(REPOSITORY / "paper" / "lib", tmp_path / "paper" / "lib", ignore=others)
    metrics = tmp_path / "data" / "metrics" / "study.json"
    metrics.parent.mkdir(parents=True)
    metrics.write_text(json.dumps({"forest": {"accuracy": ESTIMATE, "count": 3403}}))
    reported = Path("data", "reported", "paper.yaml")
    (tmp_path / reported).parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / reported, tmp_path / reported)
    main = tmp_path / "paper" / "paper.typ"

    def compile_text(text: str) -> Compiled:
        main.write_text(f'#import "/paper/lib/metrics.typ": *\n{text}\n', encoding="utf-8")
        return compiled(tmp_path, main, FACTS, READS)

    return compile_text


def shown(tmp_path: Path, expression: str) -> str:
    """What an expression of the library gives, asked of typst itself."""
    main = tmp_path / "paper" / "asked.typ"
    main.write_text(
        f'#import "/paper/lib/metrics.typ": *\n#metadata({expression}) <answer>\n', encoding="utf-8"
    )
    answer = typst.query(str(main), "<answer>", root=str(tmp_path), field="value", one=True)
    return str(json.loads(answer)).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('ci("study", "forest", "accuracy")', "60.7 [51.8, 68.6] %"),
        ('rates("study", "forest", "accuracy", digits: 0)', "61 [52, 69]"),
        ('pct("study", "forest", "accuracy")', "60.7 %"),
        ('points("study", "forest", "accuracy")', "+60.7 [+51.8, +68.6] points"),
        ('number("study", "forest", "accuracy", interval: true)', "0.61 [0.52, 0.69]"),
        ('n-of("study", "forest", "accuracy")', "76"),
        ('whole(value("study", "forest", "count"))', "3,403"),
        ("fixed(-2.96)", "−3.0"),
        ("fixed(-0.04)", "0.0"),
        ("fixed(0.25, sign: true)", "+0.3"),
        ("fixed(99.96)", "100.0"),
        ("fixed(7, digits: 0)", "7"),
        ("whole(1234567)", "1,234,567"),
    ],
)
def test_a_number_is_printed_as_the_house_prints_it(
    small: Callable[[str], Compiled], tmp_path: Path, expression: str, text: str
) -> None:
    assert shown(tmp_path, expression) == text


def test_a_missing_metric_is_one_sentence(small: Callable[[str], Compiled]) -> None:
    with pytest.raises(BadInputError) as error:
        small('#ci("study", "forest", "recall")')
    message = str(error.value)
    assert "data/metrics/study.json: forest.recall: the metric is missing" in message
    assert message.count("\n") == 0


def test_a_missing_metrics_file_is_one_sentence(small: Callable[[str], Compiled]) -> None:
    with pytest.raises(BadInputError, match=r"line 2.*data/metrics/other.json, which does not"):
        small('#ci("other", "forest", "accuracy")')


def test_a_missing_figure_is_one_sentence(small: Callable[[str], Compiled]) -> None:
    with pytest.raises(BadInputError, match=r"figures/other\.svg, which does not exist"):
        small('#import "/paper/lib/template.typ": drawing\n#drawing("other")')


def test_a_number_without_interval_is_not_cited_with_one(small: Callable[[str], Compiled]) -> None:
    with pytest.raises(BadInputError, match=r"forest\.count: the estimate has no interval"):
        small('#ci("study", "forest", "count")')


def test_a_sentence_that_the_metrics_support_is_printed(small: Callable[[str], Compiled]) -> None:
    paper = small('#supported(value("study", "forest", "accuracy") > 0.5, [More than half.])')
    assert paper.unsupported == ()
    assert "More than half." in page_texts(paper.document)


def test_a_sentence_that_they_no_longer_support_is_marked_and_told(
    small: Callable[[str], Compiled],
) -> None:
    paper = small('#supported(value("study", "forest", "accuracy") > 0.7, [Most of them.])')
    assert paper.unsupported == ("[Most of them.]",)
    assert "Most of them. [no longer borne out by the metrics]" in page_texts(paper.document)


def test_a_syntax_error_is_one_sentence(small: Callable[[str], Compiled]) -> None:
    with pytest.raises(BadInputError, match="does not compile: unclosed"):
        small("#table([a)")


@pytest.fixture(scope="module")
def paper() -> Compiled:
    return compiled(REPOSITORY, REPOSITORY / "paper" / "paper.typ", FACTS, (*TEXT, *READS))


def test_the_paper_is_the_committed_one(paper: Compiled) -> None:
    assert (REPOSITORY / "paper" / "paper.pdf").read_bytes() == paper.document


def test_no_sentence_is_left_that_the_metrics_do_not_bear_out(paper: Compiled) -> None:
    assert paper.unsupported == ()


def test_the_text_ends_on_its_ninth_page() -> None:
    fonts = Path(mpl.get_data_path()) / "fonts" / "ttf"
    page = typst.query(
        str(REPOSITORY / "paper" / "paper.typ"),
        "<last-page-of-text>",
        root=str(REPOSITORY),
        font_paths=[str(fonts)],
        ignore_system_fonts=True,
        sys_inputs=FACTS,
        field="value",
        one=True,
    )
    assert json.loads(page) <= 9


def test_every_file_that_the_sources_name_is_there() -> None:
    named = named_files(sources(REPOSITORY / "paper" / "paper.typ"))
    assert len({found.path for found in named}) > 20
    assert [found for found in named if not (REPOSITORY / found.path).is_file()] == []
