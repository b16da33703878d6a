import os
import signal
import subprocess

import pytest

pytest.importorskip("torch", reason="recording needs the extra `record`")

from made_up_campaign import MadeUpRuns, made_up_campaign
from small_campaign import RECORD, living_in_session, make_folder, record

from failbench.recording.nominal import Nominal, Seeds
from failbench.recording.order import RunOrder
from made_up_declarations import nominal_ranges


@pytest.fixture(scope="session")
def corpus_cache(tmp_path_factory):
    from failbench.recording.corpus import load_corpus

    path = tmp_path_factory.mktemp("corpus") / "corpus.json"
    load_corpus(path)
    return path


@pytest.fixture(scope="session")
def nominal():
    sizes = {"batch_size": 4, "learning_rate": 0.006, "width": 32, "sequence_length": 20}
    sizes |= {"warmup_steps": 10, "clip_norm": 1.0, "corpus_slice": 1, "planned_steps": 160}
    distractor = {"distractor": "none", "distractor_step": 5, "distractor_share": 0.2}
    # a run that ends by itself takes up to 1.5 times its twin's memory, and a leak of graphs 1.8
    return Nominal(**sizes, onset_step=20, capacity_multiple=1.65, **distractor)


@pytest.fixture(scope="session")
def order(nominal, corpus_cache):
    """A small healthy run without a limit of memory."""
    where, seeds = ("gru", "adamw", "small", "cpu"), Seeds(1, 2, 3, 4, 5)
    return RunOrder("one", *where, nominal, seeds, None, None, None, str(corpus_cache))


@pytest.fixture(scope="session")
def ranges():
    return nominal_ranges()


@pytest.fixture(scope="session")
def make_project(tmp_path_factory, ranges, corpus_cache):
    return lambda: make_folder(tmp_path_factory.mktemp("project"), ranges, corpus_cache)


@pytest.fixture(scope="session")
def uninterrupted(make_project):
    folder = make_project()
    return folder, record(folder)


@pytest.fixture
def made_up_runs(monkeypatch):
    """Runs that train nothing, in place of those that campaigns execute."""
    runs = MadeUpRuns()
    monkeypatch.setattr("failbench.recording.campaign.execute", runs.execute)
    monkeypatch.setattr("failbench.recording.campaign.fork_server", lambda *_: None)
    return runs


@pytest.fixture
def campaign_in(tmp_path, ranges, corpus_cache, made_up_runs):
    """Makes campaigns of two scenarios, two seeds and a remedy, by the name of their journal."""
    return lambda name: made_up_campaign(ranges, corpus_cache, tmp_path / name)


@pytest.fixture
def start():
    """Starts a campaign in a session of its own, of which nothing survives the test."""
    started = []

    def begin(folder, *options):
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([*RECORD, *options], cwd=folder, start_new_session=True, **quiet)
        started.append(process)
        return process

    yield begin
    for process in started:
        for pid in living_in_session(process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()
