"""What README.md says is what the files say."""

from __future__ import annotations

import re

from pipeline import REPOSITORY, holds, stages

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")


def test_the_results_table_is_the_generated_one():
    table = (REPOSITORY / "paper/tables/intervals/methods.md").read_text(encoding="utf-8")
    begin, end = "<!-- methods table: begin -->\n", "<!-- methods table: end -->"
    assert README.split(begin)[1].split(end)[0] == table, "Run `make readme`."


def test_every_make_target_that_it_names_exists():
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z-]+)", README))
    assert named
    assert named <= set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))


def files_named_in(text: str) -> set[str]:
    """Every file in the text, in code; ``name.{a,b}`` stands for two, as in a shell."""
    folders = "data|src|figures|paper|experiments|tests"
    found = re.findall(rf"`((?:{folders})/[\w./<>-]+?)(?:\{{([\w,]+)\}})?`", text)
    return {start + end for start, ends in found for end in ends.split(",")}


def test_every_file_that_it_names_exists():
    named = {path for path in files_named_in(README) if "<" not in path}
    assert named
    assert [path for path in named if not (REPOSITORY / path).exists()] == []


def test_its_file_dictionary_has_every_file_that_stages_write():
    dictionary = files_named_in(README.split("## Files")[1])
    for name, stage in stages().items():
        for path in stage.outputs:
            written = path.replace("${item}", "<method>")
            named = any(holds(written, file) for file in dictionary)
            assert named, f"{written}, of {name}, is not in README.md, nor anything in it."
