"""What the sources of the paper name, and what is refused before typst sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.publish.paper import check_named, named_files


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
        ('#drawings("a", "b")', "figures/a.svg"),
        ('#let a = csv("/data/plots/audit.csv", row-type: dictionary)', "data/plots/audit.csv"),
        ('#generated("intervals/headline", size: 7pt)', "paper/tables/intervals/headline.typ"),
    ],
)
def test_a_name_leads_to_its_file(tmp_path: Path, text: str, path: str) -> None:
    assert path in named(tmp_path, text)


@pytest.mark.parametrize("text", ['// #ci("intervals", "19")', '#my-ci("intervals")'])
def test_comments_and_functions_whose_names_end_alike_name_nothing(
    tmp_path: Path, text: str
) -> None:
    assert named(tmp_path, text) == []


def test_a_file_that_is_missing_is_named_with_the_line(tmp_path: Path) -> None:
    source = tmp_path / "a.typ"
    source.write_text('one\n#drawing(\n  "nowhere",\n)\n', encoding="utf-8")
    with pytest.raises(BadInputError) as error:
        check_named([source], tmp_path, [Path()])
    message = str(error.value)
    assert "line 2" in message
    assert "figures/nowhere.svg, which does not exist" in message
    assert "dvc repro" in message


def test_a_file_that_the_stage_does_not_read_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "a.typ"
    source.write_text('#let rows = csv("/data/plots/a.csv")\n', encoding="utf-8")
    with pytest.raises(BadInputError, match="would not compile the paper again"):
        check_named([source], tmp_path, [Path("data/metrics")])


@pytest.mark.parametrize(
    ("name", "content", "form"),
    [
        ("figures/a.svg", b"<svg", "SVG"),
        ("data/metrics/a.json", b"{", "JSON"),
        ("paper/tables/a.typ", b"\xff\xfe", "text"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_named(
    tmp_path: Path, name: str, content: bytes, form: str
) -> None:
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_bytes(content)
    source = tmp_path / "a.typ"
    source.write_text(f'#read("/{name}")\n', encoding="utf-8")
    with pytest.raises(BadInputError, match=rf"{Path(name).name}.*not a {form} file"):
        check_named([source], tmp_path, [Path(name)])


def test_a_source_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match=r"a\.typ.*missing"):
        named_files([tmp_path / "a.typ"])
