"""Undisturbed: what a step may change beside model and optimizer is put back as it was."""

from __future__ import annotations

import logging
import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np
import torch

# they print a traceback of every error that is looked for here
LOGGERS: Final = ("torch._subclasses.fake_tensor",)


@contextmanager
def undisturbed() -> Iterator[list[warnings.WarningMessage]]:
    """Keep the states of all random generators, the mode of gradients, loggers and warnings."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the state of users' code
    levels = {name: logging.getLogger(name).level for name in LOGGERS}
    devices = list(range(torch.cuda.device_count())) if torch.cuda.is_initialized() else []
    enabled = torch.is_grad_enabled()
    try:
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        with torch.random.fork_rng(devices), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("default")
            yield heard
    finally:
        torch.set_grad_enabled(enabled)
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
