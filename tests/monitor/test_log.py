"""What is written is what is read, whatever ended the run; and the clock tells waits apart."""

import json
import math
import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.monitor.clock import Clock
from failbench.monitor.end import End, end_of_error
from failbench.monitor.history import read_history
from failbench.monitor.log import LAST_STEPS, LINES, NOW, NOW_TYPE, Header, LogWriter
from failbench.monitor.signals import SIGNAL_NAMES, SIGNALS

HEADER = Header("standard", 10, {"ranks_disagree": "there is one rank"}, {"vocabulary": 512})
VALUES = st.floats(width=32, allow_subnormal=False)
STEP = st.dictionaries(st.sampled_from(SIGNAL_NAMES), VALUES, max_size=6)
STEPS = st.lists(STEP, min_size=1, max_size=60)


def written(folder, steps):
    writer = LogWriter(folder, HEADER)
    for step, values in enumerate(steps):
        writer.phase("data", step)
        writer.step(step, values, check=step % HEADER.every == 0)
    return folder


@given(STEPS)
def test_checks_and_the_last_steps_are_read_as_they_were_written(tmp_path_factory, steps):
    folder = written(tmp_path_factory.mktemp("log") / "run", steps)
    rows = {row.step: row.values for row in read_history(folder).rows}
    for step, values in enumerate(steps):
        if step % HEADER.every == 0 or step >= len(steps) - LAST_STEPS:
            assert rows[step] == pytest.approx(values, rel=1e-5, nan_ok=True)


def test_every_change_of_an_exact_signal_is_read_and_others_only_at_checks(tmp_path):
    steps = [{"labels_outside": 0.0, "loss": float(step)} for step in range(60)]
    steps[13]["labels_outside"] = 4.0
    for step in steps[1:]:
        step["gradients_left"] = 3.0
    history = read_history(written(tmp_path / "run", steps))
    changes = dict(zip(*history.series("labels_outside"), strict=True))
    early = {step: value for step, value in changes.items() if step < 40}
    assert early == {0: 0, 10: 0, 13: 4, 14: 0, 20: 0, 30: 0}
    assert [step for step in history.series("loss")[0] if step < 40] == [0, 10, 20, 30]
    at, values = history.series("gradients_left")
    assert (at[0], values[0]) == (1, 3.0), "it appears between checks"


def test_header_events_and_end_are_read(tmp_path):
    writer = LogWriter(tmp_path / "run", HEADER)
    writer.off("dropout", "it raised an error")
    writer.end(end_of_error(RuntimeError("the cause"), "loss", 7))
    history = read_history(tmp_path / "run")
    assert (history.level, history.every, history.facts) == ("standard", 10, {"vocabulary": 512})
    assert history.off == {**HEADER.off, "dropout": "it raised an error"}
    assert history.end == End("exception", "loss", 7, "RuntimeError", "the cause")


def test_an_error_tells_whether_memory_ran_out():
    allocator = RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
    out = (MemoryError(), allocator), (ValueError("shapes differ"), KeyboardInterrupt())
    for errors, kind in zip(out, ("out of memory", "exception"), strict=True):
        assert {end_of_error(error, "forward", 3).kind for error in errors} == {kind}


def test_a_living_process_without_progress_hangs(tmp_path):
    folder = written(tmp_path / "run", [{"busy_forward": 0.1}])
    assert read_history(folder).end.kind == "running"
    now = bytearray((folder / NOW).read_bytes())
    offset = NOW_TYPE.fields["wall"][1]
    now[offset : offset + 8] = bytes(8)  # since 1970
    (folder / NOW).write_bytes(now)
    assert read_history(folder).end == End("hung", "data", 0)


def test_a_line_cut_off_is_left_out_and_what_is_no_log_refused_by_name(tmp_path):
    folder = written(tmp_path / "run", [{"loss": 1.0}] * 40)
    (folder / LINES).write_bytes((folder / LINES).read_bytes()[:-4])
    (folder / NOW).unlink()
    assert [row.step for row in read_history(folder).rows] == [0, 10, 20]
    for content in (b"", b"\xff\x00\n", b"{}\n", b'{"format": 99}\n', b"[1]\n"):
        (tmp_path / LINES).write_bytes(content)
        with pytest.raises(BadInputError, match=LINES):
            read_history(tmp_path)


def test_a_log_is_strict_json_and_never_overwritten(tmp_path):
    folder = written(tmp_path / "run", [{"loss": math.nan, "gradient_norm": math.inf}])
    before, words = (folder / LINES).read_text("utf-8"), []
    for line in before.splitlines():
        json.loads(line, parse_constant=words.append)
    assert words == []
    with pytest.raises(FileExistsError):
        LogWriter(folder, HEADER)
    assert (folder / LINES).read_text("utf-8") == before


def test_ten_thousand_steps_in_which_everything_varies_take_less_than_a_megabyte(tmp_path):
    varying = [signal.name for signal in SIGNALS if not signal.exact]
    names = [*enumerate(varying)]
    steps = ({name: math.sin(step + place) for place, name in names} for step in range(10_000))
    folder = written(tmp_path / "run", steps)
    assert sum(path.stat().st_size for path in folder.iterdir()) < 1_000_000


BURN = "import os; os.sched_setaffinity(0, {%d})\nwhile True: pass"


def compute(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.fixture
def shared_processor():
    """This thread on one processor, and another process that wants it all the time."""
    allowed = os.sched_getaffinity(0)
    processor = min(allowed)
    os.sched_setaffinity(0, {processor})
    other = subprocess.Popen([sys.executable, "-c", BURN % processor])
    time.sleep(1)
    yield
    other.kill()
    other.wait()
    os.sched_setaffinity(0, allowed)


@pytest.mark.usefixtures("shared_processor")
def test_a_wait_for_a_processor_is_neither_busy_nor_blocked():
    clock, began = Clock(), time.perf_counter()
    compute(0.5)
    busy, blocked = clock.lap()
    wall = time.perf_counter() - began
    assert wall > 1.2 * busy, "the other process had the processor for a while"
    assert blocked < 0.3 * (wall - busy)


def test_sleep_is_blocked_and_what_is_left_out_is_neither():
    clock = Clock()
    since = clock.read()
    compute(0.05)
    time.sleep(0.1)
    clock.leave_out(since)
    began = time.perf_counter()
    time.sleep(0.1)
    busy, blocked = clock.lap()
    wall = time.perf_counter() - began
    assert busy < 0.5 * wall
    assert 0.5 * wall < blocked <= 1.1 * wall


def test_where_the_system_does_not_say_waiting_for_a_processor_is_blocked(monkeypatch):
    def absent(*_):
        raise FileNotFoundError

    monkeypatch.setattr(os, "open", absent)
    clock = Clock()
    monkeypatch.undo()
    time.sleep(0.05)
    busy, blocked = clock.lap()
    assert blocked > busy
