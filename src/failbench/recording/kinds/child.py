"""The child's side of a run of another kind of network: the recorder's, with its parts replaced."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from failbench.recording import child
from failbench.recording.kinds import image_faults, models
from failbench.recording.kinds.image_run import ImageRun
from failbench.recording.kinds.own_time import OwnTimeRun
from failbench.recording.unmonitored import UNMONITORED

if TYPE_CHECKING:
    from failbench.monitor import Monitor
    from failbench.recording.memory import MemoryMeter
    from failbench.recording.order import Line, RunOrder
    from failbench.recording.unmonitored import Unmonitored

assert image_faults  # imported, its faults are registered


@dataclass(frozen=True)
class KindTraining:
    """Trains as any child does, models of another kind."""

    on_images: bool

    def __call__(self, order: RunOrder, line: Line) -> None:
        """Execute an order."""
        models.register()
        vars(child).update(TrainingRun=OwnTimeRun)
        if self.on_images:
            vars(child).update(TrainingRun=ImageRun, _monitor=_monitor_of_images)
        child.main(order, line)


def _monitor_of_images(
    order: RunOrder, line: Line, meter: MemoryMeter, _vocabulary: int
) -> Monitor | Unmonitored:
    """A monitor that is told of no vocabulary, as images have none."""
    if order.level is None:
        return UNMONITORED
    from failbench.monitor import Monitor

    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"failbench\.monitor")
    before = meter.read()
    monitor = Monitor(line.log, order.level)
    meter.leave_out(meter.read() - before)
    return monitor
