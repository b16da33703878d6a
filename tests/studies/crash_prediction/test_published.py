"""What CRANE-LLM publishes, as it is read."""

from __future__ import annotations

import pytest

from failbench.errors import BadInputError
from failbench.studies.crash_prediction.published import read_published

HEAD = "model,counted,told,precision,recall,f1,accuracy\n"
WHOLE = "".join(
    f"M,{counted},{told},,,0.5,0.5\n"
    for counted in ("detection", "detection and diagnosis")
    for told in ("no", "yes")
)


def test_the_published_gains_are_those_of_the_abstract(repository):
    published = read_published(repository / "data/reported/crane_llm.csv")
    judged = {
        each.model: 100 * each.gain
        for each in published
        if each.counted == "detection and diagnosis" and each.model not in ("pylint", "pyright")
    }
    assert len(judged) == 3
    assert min(judged.values()) == pytest.approx(7.2)
    assert 9.3 < max(judged.values()) < 9.5  # 9.5 in its sheet, of rounded accuracies 9.4


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("", "counted"),
        (WHOLE.replace("M,detection,", "pylint,detection,"), "counted"),
        (f"{WHOLE}N,detection,no,,,0.5,0.5\n", "told"),
        ("M,detection,maybe,,,0.5,0.5\n", "told"),
        ("M,detection,no,,,0.5,50\n", "accuracy"),
        ("M,guess,no,,,0.5,0.5\n", "counted"),
    ],
)
def test_a_bad_row_is_named(tmp_path, row, field):
    path = tmp_path / "crane.csv"
    path.write_text(HEAD + row)
    with pytest.raises(BadInputError, match=field):
        read_published(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInputError, match="missing"):
        read_published(tmp_path / "crane.csv")
