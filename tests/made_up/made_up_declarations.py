from typing import Any

from failbench.base.detector import DetectorParams
from failbench.recording.nominal import NominalRanges


def detector_params(**changes: Any) -> DetectorParams:
    values = {
        "deviations": 3, "consecutive_steps": 20, "head_steps": 60, "tail_steps": 20,
        "validations": 3, "slow_factor": 2.0, "worse_nats": 0.05,
    }  # fmt: skip
    return DetectorParams.model_validate(values | changes)


def nominal_ranges(**changes: Any) -> NominalRanges:
    values = {
        "batch_size": (4,), "learning_rate": {"adamw": (0.004, 0.008), "sgd": (0.1, 0.4)},
        "width": (32,), "sequence_length": (20,), "warmup_steps": (5, 10), "clip_norm": (1.0,),
        "planned_steps": (130, 135), "onset_step": (10, 20), "capacity_multiple": (1.6, 2.0),
        "distractor": ("none", "loss_spike"),
    }  # fmt: skip
    return NominalRanges.model_validate(values | changes)
