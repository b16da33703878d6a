import functools
import json
import re
from pathlib import Path

import pytest

from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import advice, cause_of_scenario, causes
from failbench.causes.support import supports
from failbench.monitor.endings import ENDINGS
from failbench.monitor.invariants import CATALOGUE

SCENARIOS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))["category"]
    for path in Path("data/scenarios").glob("*/*.json")
}
REMEDIES = [(name, remedy) for name, known in advice().items() for remedy in known.remedies]
MEASUREMENTS = [(name, one) for name, known in advice().items() for one in known.settle]
GENERIC = re.compile(
    r"(?:another|different|other) optimizer|add more layers|(?:try|use) (?:another|a different)"
    r"|batch norm|try (?:a|an) |play with|tune (?:the )?hyper|(?:more|better|clean) data\b"
    r"|as needed|appropriate|carefully|make sure|simply|best practice",
    re.IGNORECASE,
)
LOWER_RATE = re.compile(
    r"(?:lower|reduce|halve|divide|decrease)[^.;]{0,40}learning rate", re.IGNORECASE
)


def test_causes_stand_in_the_order_of_categories_and_each_has_advice():
    order = [CATEGORIES.index(cause.category) for cause in causes().values()]
    assert order == sorted(order)
    assert set(order) == set(range(len(CATEGORIES)))
    assert list(advice()) == list(causes())


def test_every_scenario_has_a_cause_of_its_category():
    mapped = cause_of_scenario()
    assert set(mapped) == set(SCENARIOS)
    for scenario, cause in mapped.items():
        assert causes()[cause].category == SCENARIOS[scenario], scenario


def test_no_remedy_is_generic_lowers_any_rate_or_is_called_quick_in_vain():
    for name, remedy in REMEDIES:
        for text in remedy.model_dump(include={"change", "verify", "otherwise"}).values():
            assert not GENERIC.search(text), (name, text)
        if remedy.quick:
            assert (remedy.effort, remedy.risk != "high") == ("minutes", True), name
    lowered = {name for name, remedy in REMEDIES if LOWER_RATE.search(remedy.change)}
    assert lowered == {"learning_rate_too_high"}


def test_settling_names_invariants_that_the_monitor_has():
    known = {invariant.id for invariant in CATALOGUE}
    for name, measurement in MEASUREMENTS:
        named = measurement.invariants
        assert set(named) <= known, name
        assert len(set(named)) == len(named) <= 3, name


SAID = " ".join(
    text
    for known in advice().values()
    for remedy in known.remedies
    for text in (
        known.mechanism, remedy.change, remedy.why, remedy.expected, remedy.verify, remedy.otherwise
    )
) + " ".join(f"{one.measure} {one.tells}" for _, one in MEASUREMENTS)  # fmt: skip


def test_every_name_of_torch_is_one_that_it_has():
    torch = pytest.importorskip("torch")
    for module in ("distributed.algorithms.join", "distributed.optim", "utils.collect_env"):
        pytest.importorskip(f"torch.{module}")
    named = set(re.findall(r"\btorch((?:\.\w+)+)", SAID))
    assert len(named) > 30
    for name in named:
        *path, last = name.strip(".").split(".")
        assert hasattr(functools.reduce(getattr, path, torch), last), name


COMPONENTS = {
    "invariant": {invariant.id: invariant.component for invariant in CATALOGUE},
    "ending": {ending.id: ending.component for ending in ENDINGS},
}


@pytest.mark.parametrize("kind", COMPONENTS)
def test_all_that_the_monitor_says_speaks_for_causes_the_likeliest_of_its_component(kind):
    assert list(supports(kind)) == list(COMPONENTS[kind])
    for name, known in supports(kind).items():
        assert 1 <= len(set(known.causes)) == len(known.causes) <= 4, name
        assert causes()[known.causes[0]].category == COMPONENTS[kind][name], name
