import json
import shutil
from collections.abc import Callable
from io import BytesIO
from math import hypot
from pathlib import Path

import pytest
from pypdf import PdfReader

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.publish.paper import Compiled, check_named, compiled, facts, named_files
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            '#ci("study", "forest", "recall")',
            r"data/metrics/study\.json: forest\.recall: the metric is missing",
        ),
        ('#ci("other", "forest", "accuracy")', r"line 2.*data/metrics/other.json, which does not"),
        (
            '#import "/paper/lib/template.typ": drawing\n#drawing("other")',
            r"figures/other\.svg, which does not exist",
        ),
        ('#ci("study", "forest", "count")', r"forest\.count: the estimate has no interval"),
        ("#table([a)", "does not compile: unclosed"),
    ],
)
def test_what_cannot_be_compiled_is_one_sentence(small, text, problem):
    with pytest.raises(BadInputError, match=problem) as error:
        small(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("least", "unsupported", "printed"),
    [
        (0.5, (), "More than that."),
        (0.7, ("[More than that.]",), "More than that. [no longer borne out by the metrics]"),
    ],
)
def test_a_sentence_that_metrics_no_longer_support_is_marked_and_told(
    small, least, unsupported, printed
):
    claim = f'value("study", "forest", "accuracy") > {least}'
    paper = small(f"#supported({claim}, [More than that.])")
    assert paper.unsupported == unsupported
    assert printed in page_texts(paper.document)


@pytest.fixture(scope="module")
def paper() -> Compiled:
    return compiled(REPOSITORY, REPOSITORY / "paper" / "paper.typ", FACTS, (*TEXT, *READS))


def test_the_paper_is_the_committed_one_and_metrics_bear_it_out(paper: Compiled) -> None:
    assert paper.unsupported == ()
    assert (REPOSITORY / "paper" / "paper.pdf").read_bytes() == paper.document


def test_the_text_has_nine_pages_and_no_letter_is_small(paper: Compiled) -> None:
    pages = PdfReader(BytesIO(paper.document)).pages
    texts = [page.extract_text(visitor_text=refuse_small) for page in pages]
    assert [number for number, text in enumerate(texts, 1) if "\nBibliography\n" in text] == [9]
    assert len(pages) <= 40


def refuse_small(
    text: str, page: list[float], line: list[float], _font: object, size: float
) -> None:
    """Letters outside of figures, which are drawn at their own size, have 7 points or more."""
    across = line[0] * page[0] + line[1] * page[2], line[0] * page[1] + line[1] * page[3]
    assert not text.strip() or size * hypot(*across) >= 6.95, text


# What the sources name.


def named(tmp_path: Path, text: str) -> list[str]:
    source = tmp_path / "a.typ"
    source.write_text(text, encoding="utf-8")
    return [found.path for found in named_files([source])]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('#ci("intervals", "19", "ebm", "accuracy")', "data/metrics/intervals.json"),
        ('fixed(100 * value("benchmark", "runs"))', "data/metrics/benchmark.json"),
        ('#drawing(\n  "twin",', "figures/twin.svg"),
        ('#let a = csv("/data/plots/audit.csv", row-type: dictionary)', "data/plots/audit.csv"),
        ('#generated("intervals/headline", size: 7pt)', "paper/tables/intervals/headline.typ"),
    ],
)
def test_a_name_leads_to_its_file(tmp_path: Path, text: str, path: str) -> None:
    assert path in named(tmp_path, text)
    assert named(tmp_path, f"// {text.splitlines()[0]}") == named(tmp_path, '#my-ci("a")') == []


@pytest.mark.parametrize(
    ("text", "read", "words"),
    [
        (
            'one\n#drawing(\n  "nowhere",\n)\n',
            ".",
            r"line 2.*figures/nowhere\.svg, which does not exist.*dvc repro",
        ),
        (
            '#let rows = csv("/data/plots/a.csv")\n',
            "data/metrics",
            "would not compile the paper again",
        ),
    ],
)
def test_a_file_that_is_missing_or_that_the_stage_does_not_read_is_refused(
    tmp_path, text, read, words
):
    source = tmp_path / "a.typ"
    source.write_text(text, encoding="utf-8")
    with pytest.raises(BadInputError, match=words):
        check_named([source], tmp_path, [Path(read)])
    with pytest.raises(BadInputError, match=r"b\.typ.*missing"):
        named_files([tmp_path / "b.typ"])
