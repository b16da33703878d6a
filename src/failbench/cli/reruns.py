"""The command ``reruns``: the stages that a change of a parameter reruns."""

from __future__ import annotations

from pathlib import Path


def print_reruns(*, parameter: str) -> int:
    """Print the stages that a change of a parameter runs again."""
    from failbench.publish.reproduction.reruns import Pipeline

    pipeline = Pipeline(Path())
    names = pipeline.reruns(parameter)
    print(f"A change of {parameter} runs {len(names)} of {len(pipeline.stages)} stages again:")
    print("\n".join(names))
    return 0
