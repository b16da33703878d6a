"""The command ``failbench lens``: a page, a document, a figure, and exit statuses."""

from __future__ import annotations

import json

import polars as pl
import pytest

from failbench.cli import main
from failbench.commands.arguments.diagnosing import LENSES as CHOICES
from failbench.lenses.catalogue import LENSES
from made_up_traces import falling, made_up_answers


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("traces") / "traces.parquet"
    pl.concat(
        [
            made_up_answers("healthy-0", items=8),
            made_up_answers("short-0", condition="short", accuracy=falling(4, 5), items=8),
        ]
    ).write_parquet(path)
    return path


def test_the_command_offers_every_lens():
    assert (*LENSES, "synthesis") == CHOICES


@pytest.mark.parametrize("lens", CHOICES)
def test_the_page_says_verdict_and_grounds(file, capsys, lens):
    assert main(["lens", lens, str(file), "--where", "model=short-0"]) == 0
    page = capsys.readouterr().out
    assert "short-0, arithmetic:" in page
    assert "after:" in page
    assert max(map(len, page.splitlines())) <= 100


def test_a_page_beside_another_model_shows_differences(file, capsys):
    assert main(["lens", "surface", str(file), "--against", "healthy-0"]) == 0
    page = capsys.readouterr().out
    assert "less" in page
    assert "healthy-0, arithmetic" in page


def test_many_slices_get_a_line_each(tmp_path, capsys):
    path = tmp_path / "many.parquet"
    pl.concat(
        [made_up_answers(f"model-{n}", items=3, lengths=(2, 4, 6)) for n in range(5)]
    ).write_parquet(path)
    assert main(["lens", "synthesis", str(path)]) == 0
    page = capsys.readouterr().out
    assert [line.split()[0] for line in page.splitlines() if line.startswith("model-")] == [
        f"model-{n}" for n in range(5)
    ]
    assert "--where" in page


def test_the_document_holds_numbers_grounds_and_points(file, capsys):
    arguments = ["lens", "synthesis", str(file), "--json", "--against", "healthy-0"]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    healthy, short = document["slices"]
    assert "against" not in healthy
    assert short["against"]["model"] == "healthy-0"
    assert short["against"]["differences"]["surface"]["boundary_length"]["ci_high"] < 0
    assert short["looks"]["surface"]["verdict"] == "cliff"
    assert short["looks"]["surface"]["because"][0]["reason"]
    assert short["looks"]["hazard"]["points"]
    assert short["synthesis"]["place"]


def test_a_figure_has_the_same_bytes_for_the_same_traces(file, tmp_path, capsys):
    paths = [tmp_path / f"{number}.svg" for number in range(2)]
    for path in paths:
        assert main(["lens", "surface", str(file), "--figure", str(path)]) == 0
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert len(paths[0].read_bytes()) > 1_000


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--where", "task=sorting"], "no trace is left"),
        (["--where", "length=long"], "is no whole number"),
        (["--against", "nobody"], "there is no trace of 'nobody'"),
        (["--figure", "a.bmp"], "no kind of picture"),
    ],
)
def test_bad_input_is_one_line_and_status_two(file, capsys, arguments, says):
    assert main(["lens", "surface", str(file), *arguments]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert says in error


def test_what_traces_hold_is_no_markup_and_no_escape(tmp_path, capsys):
    path = tmp_path / "hostile.parquet"
    made_up_answers("\x1b[31m[bold]m", items=3, lengths=(2, 4)).write_parquet(path)
    assert main(["lens", "surface", str(path)]) == 0
    page = capsys.readouterr().out
    assert "\x1b" not in page
    assert "[bold]m" in page
