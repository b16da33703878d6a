import numpy as np
import polars as pl
import pytest

from failbench.base.scenarios import read_scenarios
from failbench.monitor.end import End
from failbench.monitor.records.scoring import ScoringParams, VersionVerdicts, labelled
from failbench.monitor.records.verdicts import ends_of, of_halves
from invariants import judged
from made_up_monitored import history, monitored, rules
from shared import monitor_estimates as est
from study_settings import INTERVALS

ONSET, FAILURE = 20, 50
CRASH = End("exception", "data", FAILURE, "OSError", "")
SIGNS = {
    "data_pipeline": {"labels_outside": {ONSET: 1.0}},
    "model_software": {"loss_ratio": {ONSET + 10: 3.0}},
    "optimization": {"learning_rate": {ONSET: 0.0}},
    "unknown": {"blocked_data": {ONSET: 9.0}},
    "memory_hardware": {},
}
"""What breaks at the onset of a cause of each component; memory leaves the ending alone."""
DELAYS = {"data_pipeline": 0, "model_software": 10, "optimization": 1, "unknown": 2}
"""Steps from onset to the break; waiting must last for three measurements, a rate of 0 for two."""
PARAMS = ScoringParams(
    versions=("now",), halves=("development",), lenders=("gru-sgd",), contrasts=(),
    steps_ahead=(0, 10, 40),
)  # fmt: skip


def recordings(scenarios, unread):
    """Failing runs and twins in two settings, and two healthy runs, of which one waits."""
    for scenario in scenarios:
        # whoever reads these is wrong
        signs = {"labels_outside": {0: 1.0}} if scenario.id in unread else SIGNS[scenario.category]
        for architecture in ("gru", "t5"):
            key = {"scenario": scenario.id, "architecture": architecture}
            name = f"{scenario.id}-{architecture}"
            failing = history(CRASH, FAILURE + 1, **signs)
            yield {**key, "run_id": name, "onset_step": ONSET}, failing
            yield {**key, "run_id": f"{name}-twin", "kind": "twin"}, history()
            if scenario.category == "unknown":  # reading waits as it always did
                begun = history(CRASH, FAILURE + 1, blocked_data={0: 9.0})
                yield {**key, "run_id": f"{name}-from-start", "kind": "from_start"}, begun
    yield {"run_id": "s0", "kind": "success"}, history()
    yield {"run_id": "s1", "kind": "success"}, history(blocked_data={30: 9.0})


@pytest.fixture(scope="module")
def halves(repository):
    return pl.read_csv(repository / "data/monitor/halves.csv")


@pytest.fixture(scope="module")
def version(repository, halves):
    """What the rules say of the development half of what was recorded."""
    scenarios = read_scenarios(repository / "data/scenarios")
    unread = set(halves.filter(half="test")["scenario"])
    table = monitored(list(recordings(scenarios, unread)))
    table = of_halves(table, halves, PARAMS.halves)
    failed = table.runs.select("run_id", failure_step=pl.lit(FAILURE, pl.Int32))
    ends = ends_of(table.runs, failed)
    tables = judged(rules(), table, ends, PARAMS)
    return VersionVerdicts(rules(), *tables, ends, labelled(table.runs, scenarios, halves))


@pytest.fixture(scope="module")
def rates(version):
    found = pl.concat(est.rates(version, PARAMS, "gru-sgd", INTERVALS))
    key = ("setting", "part", "name", "metric")
    return {tuple(row[name] for name in key): row for row in found.to_dicts()}


def accuracy(rates, *place):
    return rates[(*place, "accuracy")]["value"]


def test_accuracy_is_of_the_development_half_and_abstentions_are_wrong(rates, version, halves):
    counts = dict(halves.filter(half="development")["category"].value_counts().rows())
    total, own, other = sum(counts.values()), "gru-sgd", "t5-sgd"
    whole = rates[own, "whole", "whole", "accuracy"]
    # a crash while reading, and nothing else, is taken for a fault of the data
    expected = pytest.approx(1 - counts["memory_hardware"] / total, abs=1e-6)
    assert (whole["n"], whole["value"]) == (total, expected)
    components = [
        accuracy(rates, own, "component", name) for name in ("memory_hardware", "unknown")
    ]
    assert components == [0, 1]
    # without bounds of its own, waiting is not seen in the other setting, but with those of this
    assert accuracy(rates, other, "component", "unknown") == 0
    assert accuracy(rates, other, "borrowed", own) == expected
    assert (own, "borrowed", own, "accuracy") not in rates
    assert accuracy(rates, own, "from_start", "from_start") == 0
    for part, name, same in (
        ("from_start", "with_past", ("component", "unknown")),
        ("half", "development", ("whole", "whole")),
        ("log", "whole", ("whole", "whole")),  # the crash is the end of the log
    ):
        for bound in ("value", "ci_low", "ci_high", "n"):
            one, another = (rates[own, *at, "accuracy"] for at in ((part, name), same))
            assert one[bound] == another[bound]
    assert (own, "half", "test", "accuracy") not in rates
    unread = set(halves.filter(half="test")["scenario"])
    for table in (version.breaks, version.verdicts, version.ends):
        scenarios = table["run_id"].str.replace(r"-(gru|t5)(-twin|-from-start)?$", "")
        assert not set(scenarios) & unread


def test_rungs_and_families_say_what_each_measurement_is_worth(rates):
    own = "gru-sgd"
    whole = rates[own, "whole", "whole", "accuracy"]
    rungs = [
        accuracy(rates, own, "rung", name)
        for name in ("ending", "batches", "optimizer", "memory", "probes")
    ]
    assert rungs[0] < rungs[1] < rungs[2] < rungs[3]
    assert rungs[4] == whole["value"]
    lost = {
        name: rates[own, "family", name, "lost"]["value"]
        for name in ("labels", "probes", "schedule")
    }
    assert (lost["labels"], lost["probes"]) == (0, 0)  # the ending says as much as labels do
    of_schedule = rates[own, "component", "optimization", "accuracy"]["n"] / whole["n"]
    assert lost["schedule"] == pytest.approx(of_schedule, abs=1e-6)


def test_first_breaks_and_false_alarms_are_counted(version, halves):
    (first,) = (
        row for part in est.delays(version) for row in part.filter(setting="gru-sgd").to_dicts()
    )
    assert (first["before"], first["never"] > 0) == (0, True)
    categories = halves.filter(half="development")["category"]
    delays = [DELAYS[each] for each in categories if each in DELAYS]
    quartiles = np.quantile(delays, (0.25, 0.5, 0.75)).tolist()
    assert [first["low"], first["median"], first["high"]] == quartiles
    found = est.false_alarms(version, PARAMS.lenders, "gru-sgd", 0.95).filter(setting="gru-sgd")
    alarms = {(row["kind"], row["bounds"]): row for row in found.to_dicts()}
    assert alarms["twin", "own"]["value"] == alarms["success", "logic"]["value"] == 0
    assert alarms["success", "own"]["value"] == 0.5
    assert alarms["twin", "own"]["ci_high"] > 0
    decisive = est.decisive(version)
    (ending,) = decisive.filter(setting="gru-sgd", decided_by="error_in_data").to_dicts()
    assert (ending["right"], ending["wrong"] > 0) == (0, True)
    assert set(decisive["decided_by"]) >= {"labels_are_classes", "reads_not_blocked"}
