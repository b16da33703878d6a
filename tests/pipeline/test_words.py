"""The check of words in ``make lint``: what it finds in prose, and what it leaves alone."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from pipeline import REPOSITORY

SETTINGS = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["tool"]["codespell"]
LEAVING = [
    line.partition("->")[0]
    for line in (REPOSITORY / "docs/words.txt").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("words", LEAVING)
def test_a_phrase_of_the_list_is_looked_up_as_one_word(words: str) -> None:
    found = re.match(SETTINGS["regex"], words)
    assert found
    assert found.group() == words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Rules made with these scenarios in view are right in {share} %.",
            ["in view", "right in"],
        ),
        ("What the paper reports is held against ours.", ["the paper", "held against"]),
        ("Methods are told the catagory.", ["told", "catagory"]),
        ("The column `told` and {told.accuracy} stay, as does what is not known.", []),
        ("On unknown scenarios the held-out accuracy is given.", []),
    ],
)
def test_a_phrase_that_leaves_is_found_in_a_caption_and_code_is_not(
    text: str, found: list[str], tmp_path: Path
) -> None:
    caption = tmp_path / "study.yaml"
    caption.write_text(f"told:\n  caption: >-\n    {text}\n", encoding="utf-8")
    check = [sys.executable, "-m", "codespell_lib", str(caption)]
    ended = subprocess.run(check, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    lines = ended.stdout.splitlines()
    assert [line.split(": ", 1)[1].partition(" ==> ")[0] for line in lines] == found
    assert ended.returncode == (65 if found else 0), ended.stderr
