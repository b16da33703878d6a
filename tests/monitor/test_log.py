"""What is written while a run lives is what is read afterwards, whatever ended the run."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from failbench.base.errors import BadInputError
from failbench.monitor.end import End, end_of_error
from failbench.monitor.history import read_history
from failbench.monitor.log import LAST_STEPS, LINES, NOW, NOW_TYPE, Header, LogWriter
from failbench.monitor.signals import SIGNAL_NAMES, SIGNALS

HEADER = Header("standard", 10, {"ranks_disagree": "there is one rank"}, {"vocabulary": 512})

VALUES = st.floats(width=32, allow_subnormal=False)
STEPS = st.lists(
    st.dictionaries(st.sampled_from(SIGNAL_NAMES), VALUES, max_size=6), min_size=1, max_size=60
)


def write(folder, steps, end=None):
    writer = LogWriter(folder, HEADER)
    for step, values in enumerate(steps):
        writer.phase("data", step)
        writer.step(step, values, check=step % HEADER.every == 0)
    if end is not None:
        writer.end(end)


def same(left, right):
    return (math.isnan(left) and math.isnan(right)) or math.isclose(left, right, rel_tol=1e-5)


@given(STEPS)
def test_checks_and_the_last_steps_are_read_as_they_were_written(tmp_path_factory, steps):
    folder = tmp_path_factory.mktemp("log") / "run"
    write(folder, steps)
    rows = {row.step: row.values for row in read_history(folder).rows}
    for step, values in enumerate(steps):
        if step % HEADER.every == 0 or step >= len(steps) - LAST_STEPS:
            assert rows[step].keys() == values.keys()
            assert all(same(rows[step][name], value) for name, value in values.items())


def test_every_change_of_an_exact_signal_is_read_and_others_only_at_checks(tmp_path):
    steps = [{"labels_outside": 0.0, "loss": float(step)} for step in range(60)]
    steps[13]["labels_outside"] = 4.0
    write(tmp_path / "run", steps)
    history = read_history(tmp_path / "run")
    at, values = history.series("labels_outside")
    early = {step: value for step, value in zip(at, values, strict=True) if step < 40}
    assert early == {0: 0, 10: 0, 13: 4, 14: 0, 20: 0, 30: 0}
    assert [step for step in history.series("loss")[0] if step < 40] == [0, 10, 20, 30]


def test_an_exact_signal_that_appears_between_checks_is_read(tmp_path):
    steps = [{"loss": 1.0} | ({"gradients_left": 3.0} if step else {}) for step in range(60)]
    write(tmp_path / "run", steps)
    at, values = read_history(tmp_path / "run").series("gradients_left")
    assert (at[0], values[0]) == (1, 3.0)


def test_header_events_and_end_are_read(tmp_path):
    writer = LogWriter(tmp_path / "run", HEADER)
    writer.off("dropout", "it raised an error")
    writer.end(end_of_error(RuntimeError("the cause"), "loss", 7))
    history = read_history(tmp_path / "run")
    assert (history.level, history.every, history.facts) == ("standard", 10, {"vocabulary": 512})
    assert history.off == {**HEADER.off, "dropout": "it raised an error"}
    assert history.end == End("exception", "loss", 7, "RuntimeError", "the cause")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (MemoryError(), "out of memory"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
            "out of memory",
        ),
        (ValueError("shapes differ"), "exception"),
        (KeyboardInterrupt(), "exception"),
    ],
)
def test_an_error_tells_whether_memory_ran_out(error, kind):
    assert end_of_error(error, "forward", 3).kind == kind


def test_a_living_process_without_progress_hangs(tmp_path):
    write(tmp_path / "run", [{"busy_forward": 0.1}])
    assert read_history(tmp_path / "run").end.kind == "running"
    now = bytearray((tmp_path / "run" / NOW).read_bytes())
    offset = NOW_TYPE.fields["wall"][1]
    now[offset : offset + 8] = bytes(8)  # since 1970
    (tmp_path / "run" / NOW).write_bytes(now)
    assert read_history(tmp_path / "run").end == End("hung", "data", 0)


def test_a_line_cut_off_is_left_out(tmp_path):
    write(tmp_path / "run", [{"loss": 1.0}] * 40)
    path = tmp_path / "run" / LINES
    path.write_bytes(path.read_bytes()[:-4])
    (tmp_path / "run" / NOW).unlink()
    assert [row.step for row in read_history(tmp_path / "run").rows] == [0, 10, 20]


@pytest.mark.parametrize("content", [b"", b"\xff\x00\n", b"{}\n", b'{"format": 99}\n', b"[1]\n"])
def test_what_is_no_log_is_refused_by_name(tmp_path, content):
    (tmp_path / LINES).write_bytes(content)
    with pytest.raises(BadInputError, match=LINES):
        read_history(tmp_path)


def test_a_log_is_never_overwritten(tmp_path):
    write(tmp_path / "run", [{"loss": 1.0}])
    before = (tmp_path / "run" / LINES).read_bytes()
    with pytest.raises(FileExistsError):
        LogWriter(tmp_path / "run", HEADER)
    assert (tmp_path / "run" / LINES).read_bytes() == before


def test_ten_thousand_steps_in_which_everything_varies_take_less_than_a_megabyte(tmp_path):
    varying = [signal.name for signal in SIGNALS if not signal.exact]
    writer = LogWriter(tmp_path / "run", HEADER)
    for step in range(10_000):
        values = {name: math.sin(step + place) for place, name in enumerate(varying)}
        writer.step(step, values, step % HEADER.every == 0)
    size = sum(path.stat().st_size for path in (tmp_path / "run").iterdir())
    assert size < 1_000_000, size


def test_lines_are_strict_json(tmp_path):
    write(tmp_path / "run", [{"loss": math.nan, "gradient_norm": math.inf}])

    def refuse(word):
        raise ValueError(word)

    for line in (tmp_path / "run" / LINES).read_text("utf-8").splitlines():
        json.loads(line, parse_constant=refuse)
