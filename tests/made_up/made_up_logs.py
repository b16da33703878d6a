import math

from failbench.neighbours.rendering.run import LoggedRun, LogShape, perplexity
from failbench.neighbours.rendering.tracebacks import Ending, neutral_traceback

ERROR = """\
Traceback (most recent call last):
  File "failbench/recording/child.py", line 50, in _train
    _execute(order, line.channel, meter, Path(line.scratch))
  File "failbench/recording/child.py", line 96, in _execute
    run.train_step()
  File "failbench/recording/loop.py", line 198, in train_step
    self.backward(loss)
  File "failbench/recording/faults/software.py", line 77, in backward
    inner(loss)
  File "failbench/recording/loop.py", line 277, in _backward
    loss.backward()
  File "torch/_tensor.py", line 623, in backward
    torch.autograd.backward(
  File "python3.11/gzip.py", line 314, in read1
    return self._buffer.read1(size)
           ^^^^^^^^^^^^^^^^^^^^^^^^
RuntimeError: the batch is broken
\tin two places
"""

ENDINGS = {
    "completed": Ending("completed"),
    "exception": Ending("exception", neutral_traceback(ERROR)),
    "death": Ending("death", signal="SIGKILL"),
    "silence": Ending("silence"),
}

SHAPE = LogShape(
    signals=("loss", "grad_norm", "learning_rate", "perplexity", "memory", "throughput"), every=1,
    digits=6, kept=60, style="plain", cut="none", **dict.fromkeys(("validation", "ending"), True),
    **dict.fromkeys(("terminal", "prefixed", "coloured", "bars"), False),
)  # fmt: skip
"""Everything is logged, and nothing beside it."""


def made_up_run(ending="completed", count=100, losses=None):
    """A run that learns; an epoch has 40 steps, and every tenth step is validated."""
    losses = losses or [6.0 * math.exp(-step / 80) + 0.01 * math.sin(step) for step in range(count)]
    count = len(losses)
    seconds = tuple(0.05 + 0.001 * (step % 7) for step in range(count))
    tokens = tuple(600 + step for step in range(count))
    signals = {
        "loss": losses,
        "grad_norm": [0.5 + 0.01 * (step % 13) for step in range(count)],
        "learning_rate": [1e-3 * (1 - step / 200) for step in range(count)],
        "memory": [40 * 2**20 + 4096 * step for step in range(count)],
        "throughput": [number / time for number, time in zip(tokens, seconds, strict=True)],
        "perplexity": [perplexity(loss) for loss in losses],
    }
    validation = tuple(5.0 - 0.01 * step if step % 10 == 0 else None for step in range(count))
    sizes = {"sequences": 16, "steps_per_epoch": 40, "planned_steps": count, "seconds": seconds}
    of_run = {"steps": tuple(range(count)), "signals": signals, "validation": validation}
    return LoggedRun(**of_run, **sizes, ending=ENDINGS[ending])
