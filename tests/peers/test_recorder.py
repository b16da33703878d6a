from failbench.neighbours.peers.recorder import Peer, record
from failbench.neighbours.peers.verdicts import VERDICT_TABLE, Reading

RUNS = ("run-a", "run-b")


class Asked:
    """A peer that reports what is written in the log, and knows how often it was asked."""

    def __init__(self, issue="divergence", version="0.1.1", formats=("csv", "text")):
        self.issue = issue
        self.times = 0
        self.peer = Peer("runmedic", version, formats, self.read)

    def read(self, folder):
        self.times += 1
        content = (folder / "logs" / "log.txt").read_text(encoding="utf-8")
        if "odd" in content:
            return Reading(unreadable="\x1b[31mno metrics\x1b[0m")
        return Reading((self.issue,), ("critical",))


def rendered(run, form):
    return {"logs/log.txt": f"{run} as {form}".encode()}


def recorded(path, *asked, runs=RUNS, render=rendered, progress=lambda done, planned: None):
    return record(path, runs, [one.peer for one in asked], render, progress)


def test_every_run_is_asked_about_in_every_format_of_the_peer(tmp_path):
    path, asked = tmp_path / "verdicts.parquet", Asked()
    table = recorded(path, asked)
    assert asked.times == 4
    asked_about = [(run, form) for run in RUNS for form in ("csv", "text")]
    assert table.select("run_id", "format").rows() == asked_about
    assert VERDICT_TABLE.read(path).equals(table)
    doctor = Peer("training_doctor", "0.1.0", ("csv",), lambda folder: Reading())
    both = record(path, RUNS, [doctor, asked.peer], rendered, lambda *_: None)
    assert both.filter(peer="training_doctor")["format"].to_list() == ["csv", "csv"]


def test_a_log_or_a_version_that_changed_is_asked_about_again_and_nothing_else(tmp_path):
    path = tmp_path / "verdicts.parquet"
    recorded(path, Asked())

    def changed(run, form):
        return rendered(run, "odd " + form) if run == "run-b" else rendered(run, form)

    asked = Asked()
    assert (
        recorded(path, asked, render=changed)["unreadable"].drop_nulls().to_list()
        == ["no metrics"] * 2
    )
    assert asked.times == 2
    newer = Asked(version="0.1.2")
    assert recorded(path, newer, render=changed, runs=RUNS[:1]).height == 2
    assert newer.times == 2
