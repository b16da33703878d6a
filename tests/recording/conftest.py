"""Small but real settings for recordings in tests."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="recording needs the extra `record`")

from small_campaign import RECORD, living_in_session, make_folder, record

from failbench.recording.nominal import Nominal, NominalRanges, Seeds
from failbench.telemetry import Telemetry

ONSET = 20
PLANNED = 160


@pytest.fixture(scope="session")
def corpus_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from failbench.recording.corpus import load_corpus

    path = tmp_path_factory.mktemp("corpus") / "corpus.json"
    load_corpus(path)
    return path


@pytest.fixture(scope="session")
def nominal() -> Nominal:
    return Nominal(
        batch_size=4,
        learning_rate=0.006,
        width=32,
        sequence_length=20,
        warmup_steps=10,
        clip_norm=1.0,
        corpus_slice=1,
        planned_steps=PLANNED,
        onset_step=ONSET,
        capacity_multiple=1.8,
        distractor="none",
        distractor_step=5,
        distractor_share=0.2,
    )


@pytest.fixture(scope="session")
def seeds() -> Seeds:
    return Seeds(1, 2, 3, 4, 5)


@pytest.fixture(scope="session")
def ranges() -> NominalRanges:
    return NominalRanges(
        batch_size=(4,),
        learning_rate={"adamw": (0.004, 0.008), "sgd": (0.1, 0.4)},
        width=(32,),
        sequence_length=(20,),
        warmup_steps=(5, 10),
        clip_norm=(1.0,),
        planned_steps=(130, 135),
        onset_step=(10, 20),
        capacity_multiple=(1.6, 2.0),
        distractor=("none", "loss_spike"),
    )


@pytest.fixture(scope="session")
def make_project(
    tmp_path_factory: pytest.TempPathFactory, ranges: NominalRanges, corpus_cache: Path
) -> Callable[[], Path]:
    """Makes folders to record a small campaign in."""
    return lambda: make_folder(tmp_path_factory.mktemp("project"), ranges, corpus_cache)


@pytest.fixture(scope="session")
def uninterrupted(make_project: Callable[[], Path]) -> tuple[Path, Telemetry]:
    folder = make_project()
    return folder, record(folder)


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts a campaign in a session of its own, of which nothing survives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(folder: Path, *options: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [*RECORD, *options],
            cwd=folder,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        for pid in living_in_session(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()
