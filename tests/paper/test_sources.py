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
