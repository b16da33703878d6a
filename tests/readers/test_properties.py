from hypothesis import given, settings
from hypothesis import strategies as st

from failbench.diagnose.readers.text import read_text

PIECES = st.sampled_from(
    [
        b"step ", b"loss", b"=", b": ", b"1e-3", b"nan", b"|", b",", b"{", b"}", b"'", b'"', b"\n",
        b"\r", b"\x1b[", b"Traceback (most recent call last):\n", b'  File "a.py", line 3, in f\n',
        b"ValueError: x\n", b"\xe2\x94\x82 ", b"[rank0]: ", b"epoch", b"step,loss\n", b"9" * 50,
        b"Killed\n", b"--> 3 ", b"\xff\xfe", b"\0",
    ]
)  # fmt: skip

MEASURED = [f"step {step} | loss {3 / (step + 1):.4f} | lr 1e-3" for step in range(5)]


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES | st.binary(max_size=8), max_size=60))
def test_any_bytes_are_read(pieces):
    data = b"".join(pieces)
    log = read_text("-", [data])
    lines = data.count(b"\n") + 1
    assert all(1 <= line <= lines for line in log.rows.line)
    assert all(0 <= event.line <= lines for event in log.events)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(0, 5),
            st.sampled_from(
                [
                    "Downloading shards",
                    "wandb: Syncing run sun-7",
                    "[INFO] saved the model",
                    "accuracy 0.5",
                ]
            ),
        ),
        max_size=8,
    )
)
def test_lines_that_measure_nothing_change_nothing(added):
    lines = list(MEASURED)
    for place, text in sorted(added, reverse=True):
        lines.insert(place, text)
    plain, longer = (
        read_text("-", ["\n".join(text).encode()]).frame().drop("line")
        for text in (MEASURED, lines)
    )
    assert plain.equals(longer)
