"""Progress where there is no terminal: a line now and then, and the last state at the end."""

from __future__ import annotations

import io

import pytest

from failbench.cli.terminal import SECONDS_BETWEEN_LINES, LineMeter, progress_meter


class Clock:
    """A clock that a test moves."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def test_a_line_is_written_when_the_last_is_long_ago(clock: Clock, stream: io.StringIO) -> None:
    meter = LineMeter(stream, clock)
    for done in range(1, 7):
        clock.seconds += SECONDS_BETWEEN_LINES / 2
        meter.show("recording", done, 6, 60.0 * (6 - done))
    assert stream.getvalue().splitlines() == [
        "recording, 2 of 6 done, 4 min left",
        "recording, 4 of 6 done, 2 min left",
        "recording, 6 of 6 done",
    ]


def test_off_a_terminal_lines_go_to_standard_error_even_if_a_command_ends_early(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def interrupted() -> None:
        with progress_meter() as meter:
            meter.show("diagnosing", 3, 7)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "diagnosing, 3 of 7 done\n")


def test_on_a_terminal_there_is_a_bar(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # by which rich takes anything for a terminal
    with progress_meter() as meter:
        meter.show("diagnosing", 3, 7, 150.0)
    said = capsys.readouterr().err
    assert "━" in said
    assert "3 min left" in said
