"""Formats: all that recorded telemetry can be written as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from failbench.neighbours.rendering import (
    libraries,
    lightning,
    own_loops,
    pastes,
    pretraining,
    tables,
    tensorboard_events,
    trackers,
    trainer,
)
from failbench.neighbours.rendering.run import LoggedRun
from failbench.neighbours.rendering.shape import LogShape

Renderer = Callable[[LoggedRun, LogShape, np.random.Generator], dict[str, bytes]]

RENDERERS: Final[dict[str, Renderer]] = {
    "trainer_state": trainer.trainer_state,
    "trainer_v4": trainer.trainer_v4,
    "trainer_v5": trainer.trainer_v5,
    "lightning_csv": lightning.lightning_csv,
    "lightning_bar": lightning.lightning_bar,
    "tensorboard": tensorboard_events.tensorboard,
    "wandb_export": trackers.wandb_export,
    "wandb_folder": trackers.wandb_folder,
    "mlflow": trackers.mlflow,
    "json_lines": tables.json_lines,
    "history": tables.history,
    "csv": tables.csv_table,
    "markdown": tables.markdown,
    "nanogpt": pretraining.nanogpt,
    "megatron": pretraining.megatron,
    "fairseq": libraries.fairseq,
    "llm_c": pretraining.llm_c,
    "llm_c_log": pretraining.llm_c_log,
    "composer": libraries.composer,
    "torchtune": libraries.torchtune,
    "torchtitan": pretraining.torchtitan,
    "keras": libraries.keras,
    "key_equals": own_loops.key_equals,
    "key_colon": own_loops.key_colon,
    "key_bars": own_loops.key_bars,
    "traceback_alone": pastes.traceback_alone,
    "mixed_paste": pastes.mixed_paste,
}
FORMATS: Final[tuple[str, ...]] = tuple(RENDERERS)


def rendered(
    run: LoggedRun,
    format: str,  # noqa: A002
    shape: LogShape,
    rng: np.random.Generator,
) -> dict[str, bytes]:
    """The files that a log of a run consists of."""
    return RENDERERS[format](run, shape, rng)
