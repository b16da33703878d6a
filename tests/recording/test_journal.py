"""The journal keeps what was recorded, or says why it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest

from failbench.base.errors import BadInputError
from failbench.recording.journal import JournalEntry, read_entry, write_entry

ENTRY = JournalEntry({"run_id": "one", "steps": 1}, [{"step": 0, "loss": float("nan")}])


def test_entry_comes_back_as_it_was_written(tmp_path: Path) -> None:
    write_entry(tmp_path, ENTRY)
    back = read_entry(tmp_path, "one")
    assert back is not None
    assert repr(back) == repr(ENTRY)


def test_full_disk_is_one_error_and_keeps_the_old_entry(tmp_path: Path) -> None:
    write_entry(tmp_path, ENTRY)
    before = (tmp_path / "one.json.gz").read_bytes()
    (tmp_path / ".one.json.gz.partial").symlink_to("/dev/full")
    with pytest.raises(BadInputError, match=r"No space left on device.*Free space"):
        write_entry(tmp_path, ENTRY)
    assert (tmp_path / "one.json.gz").read_bytes() == before


def test_damaged_entry_is_named_with_its_remedy(tmp_path: Path) -> None:
    write_entry(tmp_path, ENTRY)
    path = tmp_path / "one.json.gz"
    path.write_bytes(path.read_bytes()[:20])
    with pytest.raises(BadInputError, match=r"one\.json\.gz.*Delete it"):
        read_entry(tmp_path, "one")
