"""The child's side: trains as any child does, and stops before some steps for a preflight."""

import json
import resource
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from failbench.preflight.preflight import capacity_of, preflight
from failbench.recording import child
from failbench.recording.architectures import Examples
from failbench.recording.loop import TrainingRun
from failbench.recording.order import Line, RunOrder


class LookedAtError(Exception):
    """A run has come as far as it is wanted."""


@dataclass(frozen=True)
class TrainingWithLooks:
    """The child's side of a run that a preflight looks at."""

    steps: tuple[int, ...]
    healthy_step: int | None
    crashes: bool
    path: str

    def __call__(self, order: RunOrder, line: Line) -> None:
        """Train, with the loop's own code, in which the class of the run is another."""
        wanted = self

        class LookedAt(TrainingRun):
            def begin_step(self, step: int) -> None:
                super().begin_step(step)
                if step == wanted.healthy_step:
                    drawn = self.data_generator.bit_generator.state
                    examples = self._read_batch()
                    self.data_generator.bit_generator.state = drawn
                    super().begin_step(step)
                    wanted.note(self, examples, healthy=True)

            def train_step(self) -> None:
                if self.step in wanted.steps:
                    examples = next(self.batches)
                    self.batches = chain([examples], self.batches)
                    wanted.note(self, examples, healthy=False)
                is_last = self.step == max(wanted.steps)
                if is_last and not wanted.crashes:
                    raise LookedAtError
                super().train_step()
                if is_last:
                    self.between_steps()
                    raise LookedAtError

        # This process is a fork of its own: nothing else is trained in it.
        vars(child)["TrainingRun"] = LookedAt
        child.main(order, line)

    def note(self, run: TrainingRun, examples: Examples, *, healthy: bool) -> None:
        """Look at the step that a run is about to take with a batch, and write what is said."""
        answer = {"step": run.step, "healthy": healthy, **_answer(run, examples)}
        with Path(self.path).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(answer) + "\n")


def _answer(run: TrainingRun, examples: Examples) -> dict[str, Any]:
    """What a preflight says of the step that a run is about to take."""
    for group in run.optimizer.param_groups:
        group["lr"] = run.schedule(run.step)  # as the step itself would, with the same value
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    capacity = capacity_of(run.model, run.optimizer, examples)
    if soft == resource.RLIM_INFINITY:  # then there is no limit, or another process holds it
        capacity = None
    before = run.meter.read()
    run.meter.lift()
    report = preflight(
        run.model,
        run.optimizer,
        run.compute_loss,
        examples,
        capacity_bytes=capacity,
        vocabulary=run.tokenizer.get_vocab_size(),
    )
    # What the preflight has imported and kept is none of the run's own memory.
    taken = max(0, run.meter.read() - before)
    run.meter.leave_out(taken)
    if soft != resource.RLIM_INFINITY:
        resource.setrlimit(resource.RLIMIT_DATA, (soft + taken, hard))
    found = report.findings
    return {
        "findings": [each.id for each in found],
        "severities": [each.severity for each in found],
        "causes": [each.cause or "" for each in found],
        "places": [each.where for each in found],
        "errors": [each.error or "" for each in found],
        "estimated_bytes": None if report.memory is None else report.memory.peak,
        "capacity_bytes": capacity,
        "seconds": report.seconds,
    }
