"""A run that says what it imported; without pytest, as each child imports this module anew."""

import json
import sys

from failbench.recording.order import Line, RunOrder
from failbench.recording.sandbox import train


def train_and_list_imports(order: RunOrder, line: Line) -> None:
    """Train, and say what was imported beside the standard library, which comes compiled."""
    before = set(sys.modules)
    train(order, line)
    new = {name for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names}
    imported = sorted(new - before)
    line.channel.send_bytes(json.dumps(["configuration", {"imported": imported}]).encode())
