"""Records what a program logs, beside what it prints: one JSON line a number, to the file that FIELD_RECORD names."""
import json
import os


def _write(step, values):
    path = os.environ.get("FIELD_RECORD")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            for name, value in values.items():
                try:
                    number = float(value)
                except (TypeError, ValueError):
                    continue
                file.write(json.dumps({"name": name, "step": None if step is None else int(step), "value": number}) + "\n")


def logged(step, **values):
    """What was logged at a step, by name; a name that is no identifier: logged(step, **{"val/loss": x})."""
    _write(step, values)


try:
    from transformers import TrainerCallback
except Exception:
    TrainerCallback = object


class TrainerRecord(TrainerCallback):
    """Records what a transformers Trainer logs."""

    def on_log(self, args, state, control, logs=None, **kwargs):
        if state.is_world_process_zero:
            _write(state.global_step, logs or {})
