import csv
from pathlib import Path

import pytest

from failbench.diagnose.readers.events import MOST_EVENTS
from failbench.diagnose.readers.text import read_text
from failbench.messages.catalogue import message_of, messages

EXAMPLES = Path(__file__).parents[2] / "data/messages/examples.csv"


def read(text):
    return read_text("-", [text.encode()])


def known(text):
    """The kind of each event, and as which message it is known."""
    return [
        (event.kind, said.id if (said := message_of(event.name, event.message)) else None)
        for event in read(text).events
    ]


def lines_that_say_something():
    said = {message.id: message.said for message in messages()}
    for row in csv.DictReader(EXAMPLES.read_text(encoding="utf-8").splitlines()):
        name = row["name"].rpartition(".")[2]
        if said[row["id"]] is not None and row["text"] and name != "Unsupported":
            yield row["id"], f"worker 3 | {name}: {row['text']}" if name else row["text"]


@pytest.mark.parametrize(("message", "line"), [*lines_that_say_something()])
def test_a_message_is_an_event_whatever_stands_before_it(message, line):
    assert [name for _, name in known(f"step 1 loss 2.5\n{line}\nstep 2 loss 2.4")] == [message]


@pytest.mark.parametrize(
    ("line", "kind", "name"),
    [
        ("Loss is nan, stopping training", "warning", "not_a_number"),
        ("Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
         "warning", "overflow_skipped"),
        ("Current loss scale already at minimum - cannot decrease scale anymore. Exiting run.",
         "exception", "loss_scale_least"),
        ("  what():  CUDA error: device-side assert triggered", "exception", "device_assertion"),
        ("Indexing.cu:1290: block: [7,0,0] Assertion `srcIndex < srcSelectDimSize` failed.",
         "exception", "id_outside"),
        ("terminate called after throwing an instance of 'std::bad_alloc'",
         "exception", "cpu_out_of_memory"),
        ("slurmstepd: error: Exceeded job memory limit", "exception", "killed_for_memory"),
        ("[1.2] Memory cgroup out of memory: Killed process 47 (python)", "death",
         "killed_for_memory"),
        ("train.py: error: unrecognized arguments: --rat 1", "exception", "arguments_refused"),
        ("2026-01-01 10:00:00 ERROR    ValueError: the moon is full", "exception", None),
        ("E       KeyError: 'model_state'", "exception", "key_missing"),
        ("2026-01-01 WARNING Read timed out. Retrying in 5 s", "warning", "network_down"),
    ],
)  # fmt: skip
def test_what_is_pasted_without_a_traceback_is_an_event(line, kind, name):
    assert known(line) == [(kind, name)]


def test_a_warning_at_each_step_makes_few_events():
    line = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: {}, reducing to 1"
    log = read("\n".join(line.format(2**16 + step) for step in range(5_000)))
    assert [event.line for event in log.events] == list(range(1, MOST_EVENTS + 1))


HEALTHY = """\
check_for_nan_in_loss ........ True
logging_nan_inf_filter=True,
metric_for_best_model=None,
trust_remote_code=True
attn_implementation: sdpa
NCCL INFO NET/Plugin: No plugin found (libnccl-net.so)
wandb: Currently logged in as: sun. Use `wandb login --relogin` to force relogin
WARNING: using slow Attention. Flash Attention requires PyTorch >= 2.0
`Trainer.fit` stopped: `max_epochs=3` reached.
Preemption handler installed
number of parameters: 123.59M
`use_cache=True` is incompatible with gradient checkpointing. Setting `use_cache=False`.
/x/torch/optim/lr_scheduler.py:60: FutureWarning: The verbose parameter is deprecated.
found vocab_size = 50304 (inside data/meta.pkl)
"""


@pytest.mark.parametrize("line", HEALTHY.splitlines())
def test_what_healthy_runs_print_is_no_event(line):
    assert known(line) == []


def test_arguments_that_are_printed_are_no_events():
    transformers = pytest.importorskip("transformers")
    made = transformers.TrainingArguments("unused", report_to=[], use_cpu=True)
    texts = (str(made), made.to_json_string(), str(transformers.GPT2Config()))
    assert [known(text) for text in texts] == [[], [], []]
