"""What the monitor saw of the field's programs is learnt alone, and beside what was printed."""

from collections import defaultdict

import pytest

from failbench.field.corpus import consoles
from failbench.field.monitored import BESIDE, MONITOR, healthy_histories, known_monitored
from failbench.monitor.invariants import Bound

PART = "development"
NEVER = {"gradients_not_growing": Bound(9.0, 9.0)}
"""Bounds within which nothing lies that is held against them."""


@pytest.fixture(scope="module")
def seen(repository):
    return known_monitored(repository / "data/field", PART, defaultdict(dict, author_1=NEVER))


def test_each_watched_run_is_read_alone_and_beside_its_console(seen):
    forms = defaultdict(list)
    for console, _, log in seen:
        forms[console.program.name, console.run].append(log)
        assert log.group == console.program.card.author
        assert log.category == console.category
    assert all([log.setting for log in logs] == [MONITOR, BESIDE] for logs in forms.values())
    assert all(log.teaches_words for logs in forms.values() for log in logs)
    for alone, beside in forms.values():
        assert {*alone.words.bins} <= {*beside.words.bins}
        kinds = {(sign.kind, sign.id) for sign in alone.signs if sign.kind == "invariant"}
        assert kinds <= {(sign.kind, sign.id) for sign in beside.signs}


def test_all_but_programs_without_pytorch_and_their_children_were_watched(repository, seen):
    watched = {console.program.name for console, _, _ in seen}
    missing = {
        each.program.card.library
        for each in consoles(repository / "data/field", PART)
        if each.program.name not in watched
    }
    assert missing >= {"jax", "keras"}
    assert missing <= {"jax", "keras", "ddp", "torch", "transformers", "datasets", "trl"}


def test_bounds_of_an_author_count_for_that_author_alone(seen):
    broke = defaultdict(set)
    for console, _, log in seen:
        ids = {sign.id for sign in log.signs if sign.kind == "invariant"}
        broke[console.program.card.author] |= ids
    assert "gradients_not_growing" in broke["author_1"]
    assert not any("gradients_not_growing" in broke[f"author_{each}"] for each in (2, 3, 4))


def test_healthy_runs_of_each_author_have_measurements(repository):
    found = healthy_histories(repository / "data/field", PART)
    assert sorted(found) == ["author_1", "author_2", "author_3", "author_4", "author_7"]
    assert all(
        each.rows and each.end.kind == "completed" for runs in found.values() for each in runs
    )
