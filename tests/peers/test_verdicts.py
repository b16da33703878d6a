import ast
import inspect
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import polars as pl
import pytest

from failbench.base.telemetry import RUN_SCHEMA, STEP_SCHEMA, Telemetry, read_table
from failbench.neighbours.peers.recorder import (
    KINDS,
    Peer,
    digest_of,
    record,
    record_peers,
    renderer,
)
from failbench.neighbours.peers.rules import rule_peers, rules_of
from failbench.neighbours.peers.skill import PEER, skill_rules
from failbench.neighbours.peers.verdicts import (
    VERDICT_SCHEMA,
    VERDICT_TABLE,
    Meaning,
    Reading,
    issues_of,
    mapping,
    recorded_answers,
    rows_of,
    standards,
    verdict_row,
)


def answered(peer, reading, by=None):
    row = verdict_row("run", "csv", peer, "1", "0" * 16, reading)
    (made,) = recorded_answers(pl.DataFrame([row], schema=VERDICT_SCHEMA), by).to_dicts()
    return made


NAN, OOM = "log:anomaly_nan", "log:cuda_oom"


@pytest.mark.parametrize(
    ("peer", "reading", "prediction", "detected"),
    [
        # the first issue with a category is the answer
        (
            "runmedic",
            Reading((NAN, OOM, "divergence"), ("critical", "critical", "warning")),
            "memory_hardware",
            True,
        ),
        # without a category it is a detection
        ("runmedic", Reading((NAN,), ("critical",)), "abstain", True),
        # a remark is neither
        ("runmedic", Reading(("overfitting",), ("info",)), "abstain", False),
        # the skill answers from 80 percent on and detects from 70
        ("ml_training_debugger", Reading(("overfitting",), ("low",), (0.75,)), "abstain", True),
        # where a peer cannot read it detects nothing
        ("runmedic", Reading(unreadable="no metrics"), "abstain", False),
    ],
)
def test_a_verdict_comes_to_a_detection_and_an_answer(peer, reading, prediction, detected):
    made = answered(peer, reading)
    assert (made["prediction"], made["detected"]) == (prediction, detected)
    assert made["readable"] == (reading.unreadable is None)


def test_cause_and_confidence_are_those_of_the_answer_and_the_most_cautious_detects_less():
    reading = Reading((NAN, OOM), ("critical", "critical"))
    made = answered("runmedic", reading)
    assert (made["cause"], made["confidence"]) == ("batch_exceeds_memory", None)
    unsure = Reading(("lr_too_low", "lr_too_high"), ("warning", "warning"), (0.2, 0.4))
    assert answered("training_doctor", unsure)["confidence"] == 0.4
    standard = standards()["training_doctor"]
    sure = {"training_doctor": standard.taken_from(standard.strict_from)}
    low = Reading(("lr_too_low",), ("warning",), (0.4,))
    assert answered("training_doctor", low)["detected"]
    assert not answered("training_doctor", low, sure)["detected"]
    with pytest.raises(KeyError):
        answered("runmedic", Reading(("bad_weather",), ("critical",)))


# Recording.

RUNS = ("run-a", "run-b")


class Asked:
    """A peer that reports what is written in the log, and knows how often it was asked."""

    def __init__(self, issue="divergence", version="0.1.1", formats=("csv", "text")):
        self.issue = issue
        self.times = 0
        self.peer = Peer("runmedic", version, formats, self.read)

    def read(self, folder):
        self.times += 1
        content = (folder / "logs" / "log.txt").read_text(encoding="utf-8")
        if "odd" in content:
            return Reading(unreadable="\x1b[31mno metrics\x1b[0m")
        return Reading((self.issue,), ("critical",))


def rendered(run, form):
    return {"logs/log.txt": f"{run} as {form}".encode()}


def recorded(path, *asked, runs=RUNS, render=rendered, progress=lambda done, planned: None):
    return record(path, runs, [one.peer for one in asked], render, progress)


def test_every_run_is_asked_about_in_every_format_of_the_peer(tmp_path):
    path, asked = tmp_path / "verdicts.parquet", Asked()
    table = recorded(path, asked)
    assert asked.times == 4
    asked_about = [(run, form) for run in RUNS for form in ("csv", "text")]
    assert table.select("run_id", "format").rows() == asked_about
    assert VERDICT_TABLE.read(path).equals(table)
    doctor = Peer("training_doctor", "0.1.0", ("csv",), lambda folder: Reading())
    both = record(path, RUNS, [doctor, asked.peer], rendered, lambda *_: None)
    assert both.filter(peer="training_doctor")["format"].to_list() == ["csv", "csv"]


def test_a_log_or_a_version_that_changed_is_asked_about_again_and_nothing_else(tmp_path):
    path = tmp_path / "verdicts.parquet"
    recorded(path, Asked())

    def changed(run, form):
        return rendered(run, "odd " + form) if run == "run-b" else rendered(run, form)

    asked = Asked()
    assert (
        recorded(path, asked, render=changed)["unreadable"].drop_nulls().to_list()
        == ["no metrics"] * 2
    )
    assert asked.times == 2
    newer = Asked(version="0.1.2")
    assert recorded(path, newer, render=changed, runs=RUNS[:1]).height == 2
    assert newer.times == 2


def test_every_issue_of_the_skill_is_mapped_and_no_other():
    assert issues_of(PEER) == {rule.issue for rule in skill_rules()}


def test_every_issue_of_the_installed_runmedic_is_mapped_and_no_other():
    checks = pytest.importorskip("runmedic.checks")
    tree = ast.parse(inspect.getsource(checks))
    made = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "Finding"
        and isinstance(node.args[0], ast.Constant)
    }
    patterns = import_module("runmedic.logpatterns").PATTERNS
    assert made | {f"log:{pattern.id}" for pattern in patterns} == issues_of("runmedic")


def test_the_variants_are_found_in_the_source_of_the_installed_runmedic():
    source = inspect.getsource(pytest.importorskip("runmedic.checks"))
    for row in rows_of("variants.csv"):
        assert row["leads_with"].lstrip("^").replace(r"\d+ ", "") in source, row


def test_every_issue_of_the_installed_training_doctor_is_mapped_and_no_other():
    detectors = pytest.importorskip("training_doctor.detectors")
    base = detectors.BaseDetector
    classes = [value for value in vars(detectors).values() if inspect.isclass(value)]
    names = {one.name for one in classes if issubclass(one, base) and one is not base}
    assert names == issues_of("training_doctor")


def test_a_cause_of_another_category_is_refused():
    row = {"peer": "runmedic", "issue": "divergence", "reason": "Its first cause is this."}
    cause = {"cause": "learning_rate_too_high"}
    assert Meaning(**row, **cause, category="optimization").cause
    with pytest.raises(ValueError, match="is no cause of 'data_pipeline'"):
        Meaning(**row, **cause, category="data_pipeline")


def test_every_peer_has_a_mapping_and_says_from_where_on_it_stands_by_an_issue():
    judged = {peer for peer in standards() if peer not in rule_peers() or rules_of(peer)}
    assert {peer for peer, _ in mapping()} == judged


DATA = Path(__file__).parents[2] / "data"
SETTING = {"architecture": "transformer", "optimizer": "adamw", "scale": "small"}
SAME_EVERYWHERE = ("nanogpt", "trainer_state", "trainer_v5")
"""Formats without perplexity, whose last digit processors compute otherwise."""
INSTALLED = all(find_spec(name) is not None for name in ("runmedic", "training_doctor"))


@cache
def committed() -> pl.DataFrame:
    return VERDICT_TABLE.read(DATA / "peers/verdicts.parquet")


@cache
def asked_runs() -> pl.DataFrame:
    runs = read_table(DATA / "telemetry/runs.parquet", RUN_SCHEMA)
    setting = [pl.col(name) == value for name, value in SETTING.items()]
    return runs.filter(*setting, pl.col("kind").is_in(KINDS)).sort("run_id")


@cache
def some_runs() -> Telemetry:
    """Every thirtieth run, failing runs and healthy ones."""
    runs = asked_runs().gather_every(30)
    steps = read_table(DATA / "telemetry/steps/transformer-adamw.parquet", STEP_SCHEMA)
    kept = steps.join(runs.select("run_id"), on="run_id", how="semi")
    return Telemetry(runs, kept.sort("run_id", "step"))


@pytest.mark.parametrize("form", SAME_EVERYWHERE)
def test_the_peers_were_given_the_logs_that_are_rendered_today(form):
    render = renderer(some_runs())
    was = committed().filter(pl.col("format") == form, pl.col("peer") == "runmedic")
    digests = dict(was.select("run_id", "rendering").iter_rows())
    for run in some_runs().runs["run_id"]:
        assert digest_of(render(run, form)) == digests[run], run


@pytest.mark.system
@pytest.mark.skipif(not INSTALLED, reason="the extra `peers` is not installed")
def test_the_installed_peers_say_what_is_recorded(tmp_path):
    table = record_peers(tmp_path / "verdicts.parquet", some_runs(), lambda done, planned: None)
    same = committed().join(table.select("run_id"), on="run_id", how="semi")
    said = [name for name in VERDICT_SCHEMA if name != "rendering"]
    assert table.select(said).equals(same.sort("run_id", "format", "peer").select(said))
