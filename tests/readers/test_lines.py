import pytest

from failbench.diagnose.readers.lines import LONGEST_LINE, lines_of
from failbench.diagnose.readers.text import read_text

TEXT = "first\nsecond\n\nlöss 3\n"


def texts(*chunks):
    return [tuple(line) for line in lines_of(chunks)]


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_lines_are_the_same_wherever_chunks_end(size):
    data = TEXT.encode()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    assert texts(*chunks) == [(1, "first"), (2, "second"), (3, ""), (4, "löss 3")]


def test_what_a_progress_bar_overwrites_keeps_the_number_of_its_line():
    assert texts(b"a\r\nb 1\rb 2\rb 3\nc") == [
        (1, "a"),
        (2, "b 1"),
        (2, "b 2"),
        (2, "b 3"),
        (3, "c"),
    ]


def test_colours_titles_and_letters_that_turn_text_around_are_gone():
    line = b"\x1b]0;title\x07\x1b[1;31mloss\x1b[0m\x1b[2K 3\x00 \xe2\x80\xaex"
    assert texts(line) == [(1, "loss 3 x")]


def test_the_end_of_a_long_line_is_dropped_and_the_next_line_is_read():
    lines = texts(b"x" * 3_000_000, b"x\nnext")
    assert [(number, len(text)) for number, text in lines] == [(1, LONGEST_LINE), (2, 4)]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_the_mark_at_its_beginning_tells_the_encoding(encoding):
    log = read_text("-", ["step 1 loss 2.5".encode(encoding)])
    assert log.rows["loss"].tolist() == [2.5]
