"""What README.md says is what the files say."""

from __future__ import annotations

import re

import pytest

from failbench.publish.reproduction.printed import generated_blocks, text_differences
from pipeline import REPOSITORY

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("block", "file"),
    [
        ("answer", "diagnose_logs/example"),
        ("finding", "intervals/finding"),
        ("logs table", "diagnose_logs/headline"),
        ("monitor finding", "monitor/finding"),
        ("external finding", "external_default/finding"),
        ("methods table", "intervals/headline"),
    ],
)
def test_what_is_generated_in_it_is_what_the_stage_wrote(block, file):
    # On another processor a last digit may differ, as `make compare` allows.
    text = (REPOSITORY / f"paper/tables/{file}.md").read_text(encoding="utf-8")
    differences = text_differences(generated_blocks(README)[block], text)
    assert [str(difference) for difference in differences if not difference.within] == [], (
        "Run `make readme`."
    )


def test_it_is_a_front_door():
    generated = sum(block.count("\n") for block in generated_blocks(README).values())
    assert README.count("\n") - generated < 110


def test_every_make_target_that_it_names_exists():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z-]+)", README))
    assert named
    assert named <= set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))


def files_named_in(text: str) -> set[str]:
    """Every file in the text, in code; ``name.{a,b}`` stands for two, as in a shell."""
    folders = "data|src|figures|paper|experiments|tests"
    mentions = re.findall(rf"`((?:{folders})/[\w./<>-]+?)(?:\{{([\w,]+)\}})?`", text)
    return {start + end for start, ends in mentions for end in ends.split(",")}


def test_every_file_that_it_names_exists():
    named = {path for path in files_named_in(README) if "<" not in path}
    assert named
    assert [path for path in named if not (REPOSITORY / path).exists()] == []
