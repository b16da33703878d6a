import numpy as np
import polars as pl
import pytest

from diagnose_logs import alarm_table, surest
from failbench.base.params import read_section
from failbench.base.vocabulary import ABSTAIN, CATEGORIES
from failbench.causes.catalogue import causes
from failbench.diagnose.finding import Finding, look_up
from failbench.diagnose.readers.text import read_text
from failbench.diagnose.signs import Sign
from failbench.diagnose.words import no_words
from failbench.neighbours.rendering.run import COMPLETE
from known_logs import Outside, model_of
from measure_diagnose_logs import cross_validated
from shared.diagnose_logs import CARRIED_BOUNDS, OWN_BOUNDS, DiagnosedLogs

FEW = {"repeats": 1, "inner_folds": 2, "penalties": (1.0,), "margins": (0.0, 1.0)}
SETTINGS = read_section("diagnose_logs", DiagnosedLogs).model_copy(
    update=FEW | {"most_alarmed": 0.1}
)
CAUSES = {
    f"{category} {number}": [name for name, each in causes().items() if each.category == category]
    for category in CATEGORIES
    for number in range(4)
}
SPLITS = pl.DataFrame(
    [(0, place % 2, scenario) for place, scenario in enumerate(CAUSES)],
    schema={"repeat": pl.Int32, "fold": pl.Int32, "scenario": pl.String},
    orient="row",
)


def examples():
    """Four scenarios a category, each of which says its cause; twins and successes say nothing."""
    rng = np.random.default_rng(0)

    def example(kind, scenario, form, seed, cause=None):
        quiet = Sign("check", "loss_jumps", amount=float(rng.random()))
        category = cause and causes()[cause].category
        said = Sign("message", cause, "direct", (cause,), category) if cause else quiet
        return {
            "author": "A",
            "model": model_of(form),
            "by_hand": None,
            "run_id": f"{kind} {scenario} {seed}",
            "format": form,
            "kind": kind,
            "setting": "transformer-adamw",
            "seed": seed,
            "scenario": scenario,
            "category": category,
            "cause": cause,
            "present": "loss",
            "says_end": cause is not None,
            "signs": (said,),
            "words": no_words(),
        }

    for form in ("csv", COMPLETE, OWN_BOUNDS, CARRIED_BOUNDS):
        for place, (scenario, known) in enumerate(CAUSES.items()):
            for seed in (0, 1):
                yield example("failure", scenario, form, seed, known[place % 4 % len(known)])
                yield example("twin", scenario, form, seed)
        for number in range(10):
            yield example("success", f"run {number}", form, number)


@pytest.fixture(scope="module")
def answers():
    return cross_validated([*examples()], SPLITS, Outside(), SETTINGS, 1)


def test_a_twin_is_tested_in_the_fold_of_its_scenario_and_a_run_with_several_logs_is_one(answers):
    joined = answers.join(SPLITS.select("scenario", expected="fold"), on="scenario")
    assert (joined["fold"] == joined["expected"]).all()
    assert set(joined["kind"]) == {"failure", "twin"}
    healthy = answers.filter(pl.col("kind") != "failure", model="log")
    alarmed = healthy.with_columns(alarm=pl.col("format") == "csv")
    (row,) = alarm_table(alarmed, 0.95).filter(kind="success").to_dicts()
    assert (row["value"], row["n"], row["logs"]) == (0.5, 10, 20)


def test_an_answer_among_the_surest_is_never_less_sure_than_one_that_is_withheld(answers):
    failing = answers.filter(kind="failure", model="log")
    confidence = pl.Series(np.linspace(0.2, 1, failing.height))
    kept = surest(failing.with_columns(confidence=confidence), 0.25)
    withheld = pl.col("prediction") == ABSTAIN
    given = kept.filter(~withheld)
    assert given["confidence"].min() > kept.filter(withheld)["confidence"].max()
    assert given.height == pytest.approx(0.25 * failing.height, abs=1)


LINES = b"step=1 loss=2.5000 mem=1.5GiB\n\x1b[31mRuntimeError: the batch is broken\x1b[0m\n"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"value": 2.5, "signal": "loss"}, True),
        ({"value": 2.6, "signal": "loss"}, False),
        ({"value": 1.5 * 2**30, "signal": "memory"}, True),
        ({"line": 2, "quote": "RuntimeError: the batch is broken"}, True),
        ({"line": 2, "quote": "RuntimeError: the moon is full"}, False),
    ],
)
def test_evidence_is_looked_up_in_the_bytes_of_the_log(change, found):
    item = {"line": 1, "step": 1, "source": "train.log"} | change
    finding = Finding("x", "check", "direct", "It is so.", **item)
    log = read_text("train.log", [LINES])
    assert look_up(finding, log, {"train.log": LINES}) == ("line", found)
