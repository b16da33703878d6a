"""What reading a log and diagnosing it cost, as ratios within one run of processor time."""

from failbench.diagnose.diagnosis import diagnosis_of
from failbench.diagnose.readers.text import read_text
from measured_child import cpu_seconds

LINES = 20_000
ROUNDS = 6


def times_as_long(work, yardstick, most):
    """Quickest over quickest, in turns: a neighbour makes a round slower and never quicker."""
    worked, measured = [], []
    for _ in range(ROUNDS):
        measured.append(cpu_seconds(yardstick))
        worked.append(cpu_seconds(work))
        if min(worked) <= most * min(measured):
            break
    return min(worked) / min(measured)


def log_of(lines: int) -> list[bytes]:
    text = []
    for step in range(lines // 2):
        text.append(f"step {step} | loss {3 / (step + 1):.5f} | grad norm {1.5:.3f} | lr 1.0e-04")
        text.append(f"{{'loss': {3 / (step + 1):.5f}, 'learning_rate': 1e-4, 'step': {step}}}")
    return ["\n".join(text).encode()]


def test_four_times_the_lines_take_about_four_times_as_long():
    small, large = log_of(LINES), log_of(4 * LINES)
    assert len(read_text("-", small).rows)
    assert times_as_long(lambda: read_text("-", large), lambda: read_text("-", small), 7) <= 7


def test_a_line_meant_to_be_slow_costs_no_more_than_lines_of_its_length():
    hostile = [("loss " * 1_999 + "\n").encode(), b"a" * 9_999 + b"\n", b"1," * 4_999 + b"\n"] * 20
    plain = [b"step 1 loss 2.5 lr 1.0e-04 grad norm 1.5\n" * 250] * 60
    assert times_as_long(lambda: read_text("-", hostile), lambda: read_text("-", plain), 20) <= 20


def test_a_diagnosis_costs_less_than_reading_the_log_and_grows_with_its_rows():
    chunks = log_of(4 * LINES)
    small, large = read_text("-", log_of(LINES)), read_text("-", chunks)
    diagnosis_of(small)  # the model and the catalogues are read once
    assert times_as_long(lambda: diagnosis_of(large), lambda: read_text("-", chunks), 1) <= 1
    assert times_as_long(lambda: diagnosis_of(large), lambda: diagnosis_of(small), 7) <= 7
