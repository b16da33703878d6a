import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.replay import DENSE, AnswerTable, Replay

SCHEMA = pl.Schema({"run": pl.String(), "look": pl.Int64(), "said": pl.String(), "by": pl.Int64()})
TABLE = AnswerTable(SCHEMA, ("run", "look"), ("run",), ("by",), "Record it again.", DENSE)


def record(path, runs, by=1, every=1, stop_at=None):
    """Ask about two looks of each run, and name the runs that were asked about."""
    asked = []
    with Replay(TABLE, path, every) as replay:
        replay.drop_strangers(lambda row: row["run"] in runs)
        for run in runs:
            if replay.has((run,), [(by,)]):
                continue
            if run == stop_at:
                raise KeyboardInterrupt
            asked.append(run)
            replay.keep({"run": run, "look": k, "said": f"{run}{k}", "by": by} for k in (1, 0))
    return asked


@pytest.mark.parametrize("every", [1, 2, 10])
def test_what_was_answered_before_an_interruption_is_not_asked_again(tmp_path, every):
    path = tmp_path / "new" / "answers.parquet"
    with pytest.raises(KeyboardInterrupt):
        record(path, "dacb", every=every, stop_at="b")
    assert TABLE.read(path)["said"].to_list() == ["a0", "a1", "c0", "c1", "d0", "d1"]
    assert record(path, "dacb", every=every) == ["b"]
    at_once = tmp_path / "answers.parquet"
    record(at_once, "abcd")
    assert path.read_bytes() == at_once.read_bytes()


def test_killed_it_has_lost_what_was_not_written_yet(tmp_path):
    replay = Replay(TABLE, tmp_path / "answers.parquet", every=2)
    for run in "abc":
        replay.keep([{"run": run, "look": 0, "said": "", "by": 1}])
    assert TABLE.read(tmp_path / "answers.parquet")["run"].to_list() == ["a", "b"]


def test_another_version_asks_again_and_keeps_the_old_answer_until_then(tmp_path):
    path = tmp_path / "answers.parquet"
    record(path, "ab")
    with pytest.raises(KeyboardInterrupt):
        record(path, "ab", by=2, stop_at="b")
    assert TABLE.read(path)["by"].to_list() == [2, 2, 1, 1]
    assert record(path, "ab", by=2) == ["b"]
    with Replay(TABLE, path, 1) as replay:
        replay.keep({"run": "a", "look": look, "said": "", "by": look} for look in (0, 1))
        assert [replay.has(("a",), [(0,), *more]) for more in ([], [(1,)])] == [False, True]


def test_strangers_are_dropped_though_nothing_is_asked(tmp_path):
    path = tmp_path / "answers.parquet"
    record(path, "ab")
    assert record(path, "b") == []
    assert set(TABLE.read(path)["run"]) == {"b"}


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        (None, "(file)"),
        (lambda table: table.drop("by"), "by"),
        (lambda table: table.with_columns(more=1), "more"),
        (lambda table: table.cast({"look": pl.Int32}), "look"),
        (lambda table: pl.concat([table, table]), "run, look"),
    ],
)
def test_a_broken_file_is_named_and_kept(tmp_path, broken, field):
    path = tmp_path / "answers.parquet"
    record(path, "ab")
    if broken is None:
        path.write_bytes(b"no table")
    else:
        broken(TABLE.read(path)).write_parquet(path)
    content = path.read_bytes()
    with pytest.raises(BadInputError, match="Record it again") as caught:
        record(path, "ab")
    assert (caught.value.place, caught.value.field) == (str(path), field)
    assert path.read_bytes() == content
