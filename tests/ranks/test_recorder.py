"""Two real processes train together, and end as the cause says that one of them has."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="recording needs the extra `record`")

from failbench.base.errors import BadInputError
from failbench.base.scenarios import read_scenarios
from failbench.ranks.causes import planned_runs, read_rank_causes, read_settings
from failbench.ranks.recorder import Recorder
from failbench.ranks.recordings import read_runs
from failbench.ranks.verdicts import problems, publish
from failbench.recording.corpus import load_corpus
from failbench.vocabulary import CATEGORIES

REPOSITORY = Path(__file__).parents[2]
DATA = REPOSITORY / "data/ranks"
CAUSES = read_rank_causes(DATA)
NATS = 0.1


@pytest.fixture
def recorder(tmp_path):
    load_corpus(tmp_path / "corpus.json")
    return Recorder(read_settings(DATA), tmp_path / "work", tmp_path / "corpus.json")


def short(group, steps=30, onset=22):
    nominal = replace(group[0].nominal, planned_steps=steps, onset_step=onset)
    return tuple(replace(planned, nominal=nominal) for planned in group)


def test_a_rank_fails_as_declared_and_its_twin_was_its_equal_before(recorder, tmp_path):
    drawn = planned_runs(recorder.settings, CAUSES)
    group = next(each for each in drawn if each[-1].run_id == "unused_parameters-s0")
    group, shown = short(group), []
    runs = recorder.record([group], lambda *counts: shown.append(counts))
    assert list(problems(group, runs, NATS)) == []
    assert recorder.record([group], lambda *counts: shown.append(counts)) == runs
    assert shown == [(1, 2, 0), (2, 2, 0), (1, 2, 1), (2, 2, 2)], "what is known is kept"

    publish(tmp_path, [group], runs, NATS)
    failed, twin = read_runs(tmp_path)
    guilty = failed["guilty_rank"]
    assert (failed["outcome"], twin["outcome"]) == ("crash", "completed")
    assert "prior iteration" in failed.rows[guilty]["error_message"], "it says what it misses"
    assert "prior iteration" not in failed.rows[1 - guilty]["error_message"], "the other waited"
    assert {each.end.kind for each in failed.histories.values()} == {"exception"}
    assert {each.end.kind for each in twin.histories.values()} == {"completed"}

    faulty = runs["unused_parameters-s0"]["ranks"][0]
    faulty["steps"][3]["loss"] += 1e-6
    (problem,) = problems(group, runs, NATS)
    assert "rank 0 is not its twin's at step 3" in problem


def test_causes_are_ten_of_the_benchmark_on_one_rank_and_ten_of_ranks_alone():
    scenarios = {each.id: each for each in read_scenarios(REPOSITORY / "data/scenarios")}
    known = [cause for cause in CAUSES if cause.scenario is not None]
    assert (len(known), len(CAUSES)) == (10, 20)
    for cause in known:
        scenario = scenarios[cause.scenario]
        assert (cause.category, cause.fault) == (scenario.category, scenario.fault)
    labelled = [cause.category for cause in known]
    assert all(labelled.count(each) >= 2 for each in CATEGORIES if each != "unknown")


def test_a_declaration_with_an_unknown_key_is_refused_in_one_line(tmp_path):
    (tmp_path / "causes").mkdir()
    raw = json.loads((DATA / "causes/slow_rank.json").read_text("utf-8"))
    path = tmp_path / "causes/slow_rank.json"
    path.write_text(json.dumps(raw | {"rank": 1}))
    with pytest.raises(BadInputError, match=r"slow_rank\.json.*rank.*unknown") as refused:
        read_rank_causes(tmp_path)
    assert "\n" not in str(refused.value)
