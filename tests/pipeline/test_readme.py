import json
import re

import pytest
from builder.numbers import FILLED, blocks

from failbench.base.scenarios import read_scenarios
from failbench.base.vocabulary import CATEGORIES
from failbench.publish.reproduction.printed import generated_blocks, text_differences, text_share
from pipeline import REPOSITORY

README, CONTRIBUTING = (
    (REPOSITORY / f"{name}.md").read_text(encoding="utf-8") for name in ("README", "CONTRIBUTING")
)
BLOCKS = generated_blocks(README)
METRICS = json.loads((REPOSITORY / "data/metrics/diagnose_logs.json").read_text(encoding="utf-8"))
MADE = blocks()
FOLDERS = r"\.ci|data|docs|dvc|experiments|figures|paper|params|src|tests"


@pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["readme", "contributing"])
def test_every_path_and_make_target_that_it_names_is_there(text):
    """``name.{a,b}`` stands for two, as in a shell, and ``<name>`` for any."""
    mentions = re.findall(rf"`((?:{FOLDERS})[\w./<>-]*?)(?:\{{([\w,]+)\}})?`", text)
    paths = {start + end for start, ends in mentions for end in ends.split(",")}
    targets = set(re.findall(r"`make ([a-z-]+)", text))
    assert paths
    assert targets
    globs = {path: re.sub(r"<\w+>", "*", path.rstrip("/")) for path in paths}
    assert [path for path, glob in globs.items() if not list(REPOSITORY.glob(glob))] == []
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    assert targets <= set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))


@pytest.mark.parametrize("file", FILLED)
def test_what_is_generated_in_a_text_is_what_the_studies_say(file):
    # On another processor a last digit may differ, as `make compare` allows.
    text = (REPOSITORY / file).read_text(encoding="utf-8")
    shown = generated_blocks(text)
    assert shown
    assert set(shown) <= set(MADE)
    found = [each for name in shown for each in text_differences(shown[name], MADE[name])]
    assert [str(each) for each in found if not each.within] == [], "Run `make readme`."


def test_the_numbers_of_the_readme_are_those_of_the_metrics():
    rate = METRICS["looks"]["3"]["accuracy"]
    printed = f"{100 * rate['value']:.1f} [{100 * rate['ci_low']:.1f}, {100 * rate['ci_high']:.1f}]"
    numbers = re.findall(r"\d+\.\d \[\d+\.\d, \d+\.\d\]", BLOCKS["numbers"])
    assert min(text_share(number, printed) for number in numbers) <= 1
    assert f"of {rate['n']} failing programs" in BLOCKS["numbers"]


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 110


TEXT = (REPOSITORY / "docs/categories.md").read_text(encoding="utf-8")
SCENARIOS = read_scenarios(REPOSITORY / "data/scenarios")
LABELS = {scenario.id: scenario.category for scenario in SCENARIOS}
BORDER, CONFLICTS = "## Border cases", "## Where it conflicts with labels"


def rows_below(heading: str) -> list[list[str]]:
    """Cells of the table below a heading, without its head."""
    part = TEXT.partition(heading)[2].partition("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in lines[2:]]


@pytest.mark.parametrize("row", rows_below(BORDER), ids=lambda row: row[0])
def test_a_border_case_with_a_scenario_is_placed_as_it_is_labelled(row):
    _, scenario, placed, why = row
    assert placed in CATEGORIES
    assert not scenario or LABELS[scenario] == placed
    assert re.match(r"[1-5]\b", why)


@pytest.mark.parametrize("row", rows_below(CONFLICTS), ids=lambda row: row[0])
def test_a_conflict_names_the_label_and_another_category(row):
    scenario, label, placed, _ = row
    assert LABELS[scenario] == label
    assert placed in set(CATEGORIES) - {label}
