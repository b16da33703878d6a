"""The engine that runs fits is named by the environment, and changes no byte of the results."""

import os
import sys
from collections.abc import Iterator

import joblib
import pytest

from failbench.base.errors import BadInputError
from failbench.base.method_settings import DecisionTreeSettings
from failbench.base.telemetry import write_parquet
from failbench.base.workers import ENGINE, available_workers, parallel_map
from failbench.features.catalogue import FEATURE_SETS
from failbench.prediction.nested_cv import nested_cv
from worker_threads import process, threads_of_libraries


def test_a_process_uses_the_processors_that_it_is_bound_to_or_those_that_are_known(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3}, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    assert available_workers() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    assert available_workers() == 64
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_workers() == 1


TREE = DecisionTreeSettings(inner_folds=2, max_depth=(2, None), min_samples_leaf=(1,))
LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """The address of a Dask cluster of two processes, which limit their threads in no way."""
    dask = pytest.importorskip("dask", reason="needs the extra `cluster`")
    distributed = pytest.importorskip("distributed", reason="needs the extra `cluster`")
    unlimited = {"distributed.nanny.pre-spawn-environ": {}}
    with pytest.MonkeyPatch.context() as patch, dask.config.set(unlimited):
        for name in LIMITS:
            patch.delenv(name, raising=False)
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster:
            yield cluster.scheduler_address


@pytest.fixture
def on_dask(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENGINE, f"dask:{scheduler}")


@pytest.mark.system
def test_a_fit_on_dask_writes_what_loky_writes(
    failures, successes, splits, scheduler, tmp_path, monkeypatch
):
    for name, engine in (("loky", "loky"), ("dask", f"dask:{scheduler}")):
        monkeypatch.setenv(ENGINE, engine)
        table = nested_cv(
            failures, successes, splits, "decision_tree", TREE, FEATURE_SETS, 5, workers=2
        )
        write_parquet(table, tmp_path / name)
    assert (tmp_path / "dask").read_bytes() == (tmp_path / "loky").read_bytes()


@pytest.mark.system
def test_work_goes_to_workers_of_dask_with_one_thread_each_and_comes_back_in_order(on_dask):
    processes = parallel_map(process, [()] * 20, workers=1)
    assert os.getpid() not in processes
    powers = [(2, power) for power in range(50)]
    assert parallel_map(pow, powers, workers=1) == [2**power for _, power in powers]
    threads = parallel_map(threads_of_libraries, [()] * 4, workers=2)
    assert all(threads)
    assert {thread for each in threads for thread in each} == {1}
    assert parallel_map(joblib.effective_n_jobs, [(-1,)] * 2, workers=2) == [1, 1]


@pytest.mark.system
@pytest.mark.filterwarnings("ignore::distributed.versions.VersionMismatchWarning")
def test_workers_with_other_versions_are_refused(on_dask, monkeypatch):
    monkeypatch.setattr("distributed.versions._version_cached", lambda package: "1.2.3")
    with pytest.raises(BadInputError, match=r"has a worker, tcp://.* and not 1\.2\.3\. Start work"):
        parallel_map(abs, [(-1,)], workers=2)


@pytest.mark.parametrize("name", ["", "ray", "dask", "dask:", "loky:tcp://elsewhere:8786"])
def test_an_engine_that_is_unknown_is_refused(monkeypatch, name):
    monkeypatch.setenv(ENGINE, name)
    with pytest.raises(BadInputError) as error:
        parallel_map(abs, [(-1,)], workers=1)
    assert str(error.value) == (
        f"environment: FAILBENCH_ENGINE: {name!r} is no engine. Unset it to use processes of this "
        "machine, or give the address of a Dask scheduler, as in dask:tcp://HOST:8786."
    )
    monkeypatch.setenv(ENGINE, "dask:tcp://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(BadInputError, match="Dask, which is not installed"):
        parallel_map(abs, [(-1,)], workers=1)
