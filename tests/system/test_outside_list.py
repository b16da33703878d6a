"""Published bugs are recorded with their twins, and the monitor is asked what it saw."""

import pytest

pytest.importorskip("torch")

from failbench.cli.main import main
from failbench.monitor.records.tables import read_monitored
from failbench.neighbours.outside_list.bugs import BUGS, STATES, read_bugs, record, run_ids
from outside_list import LEVELS, judge

pytestmark = pytest.mark.system

ALONE, TOGETHER = "stackoverflow-60335387", "pytorch-84803"


@pytest.fixture(scope="module")
def bugs(repository):
    listed = read_bugs(repository / "data/outside" / BUGS)
    return [bug for bug in listed if bug.id in (ALONE, TOGETHER)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory, repository):
    folder = tmp_path_factory.mktemp("outside")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository)
        for name in (ALONE, TOGETHER):
            assert main(["outside-list", "--only", name, "--output", str(folder)]) == 0
    return folder


def test_both_are_kept_with_every_rank_and_told_apart_from_twins_without_an_alarm(folder, bugs):
    stored = read_monitored(folder)
    expected = [name for bug in bugs for state in STATES for name in run_ids(bug, state)]
    assert sorted(stored.runs["run_id"]) == sorted(expected)
    assert set(stored.runs["end_kind"]) == {"completed"}
    for level in LEVELS:
        for judged in judge(stored, bugs, {}, level).to_dicts():
            assert judged["told_apart"], judged
            assert judged["steps"] <= judged["every"], judged
            assert not judged["twin_alarm"], judged


def test_a_program_that_ends_with_an_error_and_a_bug_that_is_not_recreated_are_refused(
    bugs, repository, monkeypatch, capsys
):
    stranger = bugs[0].model_copy(update={"id": "no-such-bug"})
    with pytest.raises(RuntimeError, match="KeyError: 'no-such-bug'"):
        record([stranger])
    monkeypatch.chdir(repository)
    assert main(["outside-list", "--only", "transformers-23723"]) == 2
    assert "is no bug that is re-created" in capsys.readouterr().err
