"""One number of the metrics is changed: paper and page show it, and the README is refused."""

import json

import pytest
from repository_copy import RepositoryCopy

from failbench.publish.reproduction.printed import page_texts

pytestmark = pytest.mark.system

METRICS = "data/metrics/intervals.json"
CHANGED = 0.6372
PRINTED = "63.7"


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> RepositoryCopy:
    """A copy in which the forest's accuracy is another, inside its interval."""
    copy = RepositoryCopy.of_working_tree(tmp_path_factory.mktemp("changed") / "repository")
    path = copy.root / METRICS
    metrics = json.loads(path.read_text(encoding="utf-8"))
    estimate = metrics["19"]["random_forest"]["accuracy"]
    assert estimate["ci_low"] < CHANGED < estimate["ci_high"]
    assert f"{100 * estimate['value']:.1f}" != PRINTED
    estimate["value"] = CHANGED
    path.write_text(json.dumps(metrics, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    return copy


def test_the_paper_prints_it(changed):
    before = (changed.root / "paper/paper.pdf").read_bytes()
    changed.python("experiments/paper.py")
    after = (changed.root / "paper/paper.pdf").read_bytes()
    told = f"names the right category for {PRINTED} "
    assert told not in page_texts(before).replace("\u00a0", " ")
    assert told in page_texts(after).replace("\u00a0", " ")


def test_the_page_has_it(changed: RepositoryCopy) -> None:
    page = changed.root / "paper/report.html"
    before = page.read_text(encoding="utf-8")
    changed.python("experiments/page.py")
    after = page.read_text(encoding="utf-8")
    assert before.count(str(CHANGED)) < after.count(str(CHANGED))


def test_the_readme_is_refused(changed: RepositoryCopy) -> None:
    path = changed.root / "data/metrics/diagnose_logs.json"
    kept = path.read_text(encoding="utf-8")
    metrics = json.loads(kept)
    metrics["looks"]["3"]["accuracy"]["value"] = 0.7372
    path.write_text(json.dumps(metrics), encoding="utf-8")
    try:
        changed.pytest("tests/pipeline/test_readme.py", "-k", "numbers", status=1)
    finally:
        path.write_text(kept, encoding="utf-8")


def test_a_sentence_that_is_no_longer_true_is_marked_and_refused(changed: RepositoryCopy) -> None:
    path = changed.root / METRICS
    kept = path.read_text(encoding="utf-8")
    metrics = json.loads(kept)
    metrics["19"]["random_forest"]["accuracy"] |= {"value": 0.97, "ci_high": 0.99}
    path.write_text(json.dumps(metrics), encoding="utf-8")
    try:
        printed = changed.python("experiments/paper.py")
        changed.pytest("tests/paper/test_document.py", "-k", "bear_it_out", status=1)
    finally:
        path.write_text(kept, encoding="utf-8")
    assert "The metrics no longer bear this out, and it is marked" in printed
    marked = page_texts((changed.root / "paper/paper.pdf").read_bytes())
    assert "[no longer borne out by the metrics]" in marked
