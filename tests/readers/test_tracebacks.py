import io
import subprocess
import sys

import pytest
from rich.console import Console

from failbench.diagnose.readers.text import read_text

PROGRAM = """
def inner(size):
    raise RuntimeError(f"shape '[{size}]' is invalid for input of size 3")

def outer():
    try:
        inner(7)
    except RuntimeError as error:
        raise ValueError("the batch is broken") from error

outer()
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What Python itself prints of a chain of two exceptions."""
    path = tmp_path_factory.mktemp("program") / "train.py"
    path.write_text(PROGRAM, encoding="utf-8")
    return subprocess.run(
        [sys.executable, path], capture_output=True, text=True, check=False
    ).stderr


def events(text):
    return read_text("-", [text.encode()]).events


def told(text):
    return [(event.name, event.message) for event in events(text) if event.kind == "exception"]


CAUSE = ("RuntimeError", "shape '[7]' is invalid for input of size 3")
OUTCOME = ("ValueError", "the batch is broken")


def test_a_chain_is_read_from_its_first_cause(printed):
    assert told(printed) == [CAUSE, OUTCOME]
    cause, outcome = events(printed)
    assert [frame.rpartition(" in ")[2] for frame in cause.frames] == ["outer", "inner"]
    assert outcome.frames[0].endswith("train.py:11 in <module>")
    assert printed.splitlines()[outcome.line - 1] == "ValueError: the batch is broken"


@pytest.mark.parametrize(
    "prefix", ["[rank0]: ", "[default3]:", "[1]: ", "(RayTrainWorker pid=47, ip=10.0.0.1) "]
)
def test_what_launchers_put_before_a_line_is_no_part_of_it(printed, prefix):
    prefixed = "\n".join(prefix + line for line in printed.splitlines())
    assert told(prefixed) == [CAUSE, OUTCOME]
    plain = [event.frames for event in events(printed)]
    assert [event.frames for event in events(prefixed)] == plain


def test_a_traceback_in_one_line_is_read(printed):
    line = printed.replace("\n", "\\n").replace('"', '\\"')
    assert told(f'{{"level": "error", "text": "{line}"}}\nstep 1 loss 2.5') == [CAUSE, OUTCOME]


def test_a_box_of_rich_is_read():
    out = io.StringIO()
    console = Console(file=out, width=90, force_terminal=True)
    try:
        int("loss")
    except ValueError:
        console.print_exception()
    (event,) = events(out.getvalue())
    message = "invalid literal for int() with base 10: 'loss'"
    assert (event.name, event.message) == ("ValueError", message)
    assert event.frames[-1].endswith(" in test_a_box_of_rich_is_read")


NOTEBOOK = """\
---------------------------------------------------------------------------
RuntimeError                              Traceback (most recent call last)
Cell In[3], line 5
      3 logits = model(batch)
      4 loss = criterion(logits, labels)
----> 5 loss.backward()

File /opt/torch/_tensor.py:630, in Tensor.backward(self, gradient)
    629     )
--> 630 torch.autograd.backward(
    631     self, gradient

RuntimeError: element 0 of tensors does not require grad
"""


def test_a_notebooks_arrows_are_read():
    (event,) = events(NOTEBOOK)
    message = "element 0 of tensors does not require grad"
    assert (event.name, event.message) == ("RuntimeError", message)
    assert event.frames == ("In[3]:5", "/opt/torch/_tensor.py:630 in Tensor.backward")


def test_a_traceback_without_its_head_or_its_tail_is_read_as_far_as_it_goes(printed):
    lines = printed.splitlines()
    assert told("\n".join(lines[3:])) == [CAUSE, OUTCOME]
    head = "\n".join(lines[: lines.index(": ".join(CAUSE))])
    (event,) = events(head + "\nstep 4 loss 2.5\n")
    assert (event.name, event.message) == ("", "")
    assert event.frames[-1].endswith(" in inner")


def test_hints_of_cuda_are_of_its_message_later_lines_are_not_and_endless_frames_are_cut():
    begun = 'Traceback (most recent call last):\n  File "train.py", line 3, in f\n    f()\n'
    (event,) = events(
        begun + "torch.AcceleratorError: CUDA error: device-side assert triggered\n"
        "CUDA kernel errors might be asynchronously reported at some other API call\n"
        "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
        "wandb: Waiting for the process to finish\n"
    )
    assert event.name == "torch.AcceleratorError"
    assert event.message.count("\n") == 2
    assert "wandb" not in event.message
    frame = '  File "model.py", line 3, in f\n    f()\n'
    (event,) = events(begun + frame * 990 + "RecursionError: maximum depth\n")
    assert (event.name, len(event.frames)) == ("RecursionError", 200)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Killed", "SIGKILL"),
        ("run.sh: line 3: 4711 Killed                  python train.py", "SIGKILL"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=4.0.", "SIGKILL"),
        ("[ 12.3] Out of memory: Killed process 4711 (python)", "SIGKILL"),
        ("Segmentation fault (core dumped)", "SIGSEGV"),
        ("  exitcode  : -9 (pid: 4711)", "SIGKILL"),
        ("slurmstepd: error: *** JOB 4 CANCELLED AT 2026-01-01 DUE TO TIME LIMIT", "SIGTERM"),
        ("[ 12.3] oom_reaper: reaped process 4711 (python)", "SIGKILL"),
        *((line, None) for line in ("vm.oom_kill_allocating = 0", "oom_kill 0", "[oom_reaper]")),
        *((line, None) for line in ("oomph", "we killed the baseline", "exitcode: 0", "bus bus")),
    ],
)
def test_the_death_of_a_process_is_an_event_and_words_that_look_like_it_are_none(line, name):
    expected = [] if name is None else [("death", name)]
    assert [(event.kind, event.name) for event in events(line)] == expected
