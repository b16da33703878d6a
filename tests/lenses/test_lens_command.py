"""The command ``failbench lens``: a page, a document, a figure, and exit statuses."""

import json
from typing import get_args

import polars as pl
import pytest

from failbench.cli.main import main
from failbench.cli.reasoning import Lens
from failbench.neighbours.lenses.catalogue import LENSES
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
    assert (*LENSES, "synthesis") == get_args(Lens)


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
