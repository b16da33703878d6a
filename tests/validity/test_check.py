"""The check: what passes, and each thing that does not, in its own words."""

from dataclasses import replace

import polars as pl
import pytest

from failbench.base.errors import BadInputError
from failbench.base.scenarios import COUNTS
from failbench.base.telemetry import NOISY_STEP_COLUMNS, RUN_SCHEMA, STEP_SCHEMA, Telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.recording.fingerprint import PROVENANCE, fingerprint
from failbench.recording.plan import RecordParams, Remedy, RunsWanted, Setting
from failbench.recording.validity.check import check, metrics, report
from failbench.recording.validity.rules import check_rules
from made_up_declarations import detector_params, nominal_ranges
from made_up_scenarios import made_up_scenario
from prediction_fixtures import scenarios_of

RECORD = RecordParams(
    settings={"transformer-adamw": {"seeds": 1, "successes": 10}},
    hang_seconds=1,
    wall_limit_seconds=1,
    nominal=nominal_ranges(planned_steps=(130, 130), onset_step=(20, 25)),
)
DETECTOR = detector_params(consecutive_steps=5, head_steps=10, tail_steps=10, validations=2)
PLANNED, ONSET, DIED = 40, 20, 30
PROVENANCE_VALUES = dict.fromkeys(PROVENANCE, "one") | {"device": "cpu"}
RUN = "leak-transformer-adamw-s0"
TWIN = f"{RUN}-twin"


def scenario(name, category="memory_hardware", difficulty="easy", **changes):
    fault = {"name": "loss_graph_retained", "parameters": {"every": 5}, "onset": "mid_run"}
    changed = {"fault": fault | changes, "expected_outcome": "crash"}
    return made_up_scenario(name, category, difficulty, **changed)


LEAK = scenario("leak")


def mark(fault=None, *more, **outside):
    return fingerprint(RECORD.nominal, "adamw", fault, PROVENANCE_VALUES, *more, **outside)


def run_row(run_id, **values):
    healthy = {"run_id": run_id, "architecture": "transformer", "optimizer": "adamw", "seed": 0}
    healthy |= {"scale": "small", "ending": "completed", "outcome": "completed", "steps": PLANNED}
    healthy |= {"failure_step": PLANNED - 1, "fingerprint": mark()}
    return dict.fromkeys(RUN_SCHEMA) | PROVENANCE_VALUES | healthy | values


def step_rows(run_id, count):
    step = pl.int_range(count)
    loss = 3 - step / PLANNED
    values = dict.fromkeys(STEP_SCHEMA, step % 3 + 1) | {"run_id": pl.lit(run_id), "step": step}
    values |= {"loss": loss, "validation_loss": pl.when(step % 10 == 0).then(loss)}
    values |= {"gradient_norm": pl.lit(1.0), "step_seconds": pl.lit(0.1)}
    return pl.select(**{name: value.cast(STEP_SCHEMA[name]) for name, value in values.items()})


CRASHED = {
    "kind": "failure", "scenario": "leak", "onset_step": ONSET, "ending": "exception",
    "outcome": "crash", "failure_step": DIED, "steps": DIED + 1, "error_type": "RuntimeError",
}  # fmt: skip


@pytest.fixture
def telemetry():
    """A run that died at step 30 with the fault that ``LEAK`` declares, its twin, and ten more."""
    runs = [
        run_row(RUN, fingerprint=mark(LEAK.fault), **CRASHED),
        run_row(TWIN, kind="twin", scenario="leak", twin_of=RUN),
        *(run_row(f"success-{item}", kind="success", seed=item) for item in range(10)),
    ]
    steps = pl.concat(step_rows(row["run_id"], row["steps"]) for row in runs)
    runs = pl.DataFrame(runs, schema=RUN_SCHEMA).sort("run_id")
    return Telemetry(runs, steps.sort("run_id", "step"))


def with_run(run_id, **values):
    mine = pl.col("run_id") == run_id
    changes = [
        pl.when(mine).then(pl.lit(value, RUN_SCHEMA[name])).otherwise(name).alias(name)
        for name, value in values.items()
    ]
    return lambda telemetry: Telemetry(telemetry.runs.with_columns(changes), telemetry.steps)


def with_step(run_id, step, column):
    mine = (pl.col("run_id") == run_id) & (pl.col("step") == step)
    other = (pl.col(column).fill_null(3) + 0.001).cast(STEP_SCHEMA[column])
    if STEP_SCHEMA[column].is_integer():
        other = pl.col(column) + 1
    changed = pl.when(mine).then(other).otherwise(column).alias(column)
    return lambda telemetry: Telemetry(telemetry.runs, telemetry.steps.with_columns(changed))


def without_run(run_id):
    return lambda telemetry: telemetry.select(pl.col("run_id") != run_id)


def without_step(run_id, step):
    mine = (pl.col("run_id") == run_id) & (pl.col("step") == step)
    return lambda telemetry: Telemetry(telemetry.runs, telemetry.steps.filter(~mine))


def naming(setting, successes=10):
    wanted = RunsWanted(seeds=1, successes=successes)
    return RECORD.model_copy(update={"settings": {**RECORD.settings, setting: wanted}})


def check_leak(telemetry, scenarios=(LEAK,), record=RECORD):
    (setting,) = check(scenarios, telemetry, record, DETECTOR).settings
    return setting


def counts_of(telemetry, leak=LEAK):
    return metrics(check((leak,), telemetry, RECORD, DETECTOR))["transformer-adamw"]


def test_a_good_pair_passes_and_is_counted(telemetry):
    setting = check_leak(telemetry)
    assert [(run.run_id, run.problems) for run in setting.runs] == [(RUN, ())]
    assert (setting.name, setting.missing, setting.successes) == ("transformer-adamw", (), 10)
    assert (setting.successes_flagged, setting.successes_out_of_date) == (0, 0)
    assert counts_of(telemetry)["passed"] == 1
    assert counts_of(with_run(RUN, failure_step=0)(telemetry))["passed"] == 0
    assert counts_of(telemetry)["outcomes"] == {"crash": 1}
    for onset, holds in ((DIED, True), (DIED + 1, False)):
        (run,) = check_leak(with_run(RUN, onset_step=onset)(telemetry)).runs
        assert run.after_onset is holds


def test_a_run_that_ends_in_another_declared_outcome_passes_and_is_counted_apart(telemetry):
    may_be_killed = LEAK.model_copy(update={"other_outcomes": {"killed": "By chance alone."}})
    ended = with_run(RUN, ending="signal", outcome="killed")(telemetry)
    assert check_leak(ended, (may_be_killed,)).runs[0].passed
    counts = counts_of(ended, may_be_killed)
    assert (counts["as_expected"], counts["other_outcome"]) == (0, 1)
    hung = with_run(RUN, ending="timeout", outcome="hung")(telemetry)
    problems = check_leak(hung, (may_be_killed,)).runs[0].problems
    assert "hung where crash or killed was expected" in problems


def test_other_causes_need_neither_counts_nor_settings_nor_balance(telemetry):
    record = naming("gru-adamw")
    assert not check((LEAK,), telemetry, record, DETECTOR).passed
    checked = check((LEAK,), telemetry, record, DETECTOR, benchmark=False)
    assert checked.passed
    names = [rule.name for rule in checked.settings[0].rules]
    assert names == ["healthy_perplexity", "onset_kinds"]
    assert report(checked, brief=True).startswith("1 scenario\n\ntransformer-adamw\n")
    for change, complaint in (
        (with_run(RUN, onset_step=ONSET - 1), "FAILED: onset kinds"),
        (without_run(RUN), "of which nothing is recorded: record it"),
    ):
        checked = check((LEAK,), change(telemetry), RECORD, DETECTOR, benchmark=False)
        assert not checked.passed
        assert complaint in report(checked, brief=False)


def test_the_code_of_a_fault_from_outside_is_in_its_fingerprint(telemetry):
    other = LEAK.model_copy(update={"fault": LEAK.fault.model_copy(update={"name": "added"})})
    recorded = with_run(RUN, fingerprint=mark(other.fault, outside={"added": "its code"}))
    for code, holds in (("its code", True), ("other code", False)):
        outside = {"added": code}
        checked = check((other,), recorded(telemetry), RECORD, DETECTOR, outside, benchmark=False)
        assert checked.passed == holds


def test_a_run_with_a_remedy_is_no_twin_and_is_named_where_it_is_missing_or_out_of_date(telemetry):
    remedy = Remedy(run=RUN, clip_norm=1.0)
    record = RECORD.model_copy(update={"remedies": {"clipped": remedy}})
    name = f"{RUN}-clipped"
    steps = pl.concat([telemetry.steps, step_rows(name, PLANNED).with_columns(pl.col("loss") + 1)])
    of_remedy = {"kind": "remedy", "scenario": "leak", "twin_of": RUN}

    def with_remedy(fingerprint):
        row = run_row(name, fingerprint=fingerprint, **of_remedy)
        return Telemetry(telemetry.runs.vstack(pl.DataFrame([row], schema=RUN_SCHEMA)), steps)

    current = mark(LEAK.fault, remedy.model_dump(mode="json"))
    setting = check_leak(with_remedy(current), record=record)
    assert [(run.run_id, run.problems) for run in setting.runs] == [(RUN, ())]
    assert setting.outdated_remedies == ()
    for part in (telemetry, with_remedy("0" * 16)):
        setting = check_leak(part, record=record)
        assert (setting.outdated_remedies, setting.passed) == ((name,), False)


OUT_OF_DATE = "its fingerprint does not match the code: record it again"
UNHEALTHY = "its twin did not complete in health"
UNEQUAL = "run and twin differ before onset"
UNDETECTED = "the detector now says otherwise"


CHANGED_DECLARATION = mark(scenario("leak", parameters={"every": 1}).fault)


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (with_run(RUN, ending="signal", outcome="killed"), ("killed where crash was expected",)),
        (with_run(RUN, failure_step=DIED - 1), (UNDETECTED,)),
        (with_run(TWIN, failure_step=DIED), (UNDETECTED,)),
        (with_run(TWIN, ending="exception", outcome="crash"), (UNHEALTHY,)),
        (without_step(RUN, ONSET - 1), (UNEQUAL,)),
        (without_step(TWIN, ONSET - 1), (UNEQUAL,)),
        (without_run(TWIN), (UNHEALTHY, UNEQUAL)),
        (with_run(RUN, fingerprint=CHANGED_DECLARATION), (OUT_OF_DATE,)),
        (with_run(TWIN, fingerprint="0" * 16), (OUT_OF_DATE,)),
        (with_run(RUN, torch_version="another"), (OUT_OF_DATE,)),
    ],
)
def test_each_thing_that_is_wrong_has_its_sentence(telemetry, change, problems):
    for benchmark in (True, False):
        checked = check((LEAK,), change(telemetry), RECORD, DETECTOR, benchmark=benchmark)
        assert checked.settings[0].runs[0].problems == problems
        assert not checked.passed
        assert not checked.settings[0].passed
        assert f"FAILED: {problems[0]}" in report(checked, True)


@pytest.mark.parametrize("column", sorted(set(STEP_SCHEMA) - {"run_id", "step"}))
def test_a_difference_before_onset_is_found_in_each_column(telemetry, column):
    """From the onset on it is what a fault is for."""
    for run_id in (RUN, TWIN):
        (run,) = check_leak(with_step(run_id, ONSET - 1, column)(telemetry)).runs
        assert run.problems == (() if column in NOISY_STEP_COLUMNS else (UNEQUAL,))
    assert check_leak(with_step(RUN, ONSET, column)(telemetry)).runs[0].passed


def test_changed_ranges_make_everything_out_of_date(telemetry):
    ranges = RECORD.nominal.model_copy(update={"width": (16,)})
    setting = check_leak(telemetry, record=RECORD.model_copy(update={"nominal": ranges}))
    assert not setting.runs[0].fingerprint_matches
    assert setting.successes_out_of_date == 10


def test_what_is_missing_strange_or_not_applicable_is_listed(telemetry):
    record = RECORD.with_seeds(Setting("transformer", "adamw"), 2)
    assert check_leak(telemetry, record=record).missing == (("leak", 1),)
    assert "missing: leak, seed 1\n" in report(check((LEAK,), telemetry, record, DETECTOR), True)
    drip, reason = scenario("drip"), "Nothing there can leak, says a test."
    setting = check_leak(telemetry, (drip,))
    assert (setting.missing, setting.orphans) == ((("drip", 0),), (RUN,))
    checked = check((LEAK, drip), telemetry, RECORD, DETECTOR)
    assert (checked.unrecorded, checked.passed) == (("drip",), False)
    (line,) = (line for line in report(checked, True).splitlines() if "drip" in line)
    assert "missing: drip, of which nothing is recorded: run `failbench record --only" in line
    elsewhere = drip.model_copy(update={"not_applicable": {"transformer": reason}})
    setting = check_leak(telemetry, (LEAK, elsewhere))
    assert (setting.missing, setting.not_applicable) == ((), {"drip": reason})


@pytest.mark.parametrize(("unknown", "passes"), [(10, True), (8, True), (7, False)])
def test_more_scenarios_than_the_paper_has_are_no_fault_and_fewer_are(telemetry, unknown, passes):
    scenarios = scenarios_of({**COUNTS, "unknown": unknown})
    asked = tuple(scenario(*row) for row in scenarios.iter_rows())
    checked = check(asked, telemetry, RECORD, DETECTOR)
    assert checked.fewer_than_paper == ({"unknown": 8 - unknown} if unknown != 8 else {})
    assert replace(checked, unrecorded=(), absent=(), settings=()).passed is passes


def test_each_setting_is_checked_by_itself_and_must_be_named_and_recorded(telemetry):
    of_gru = pl.format("{}-gru", "run_id").alias("run_id")
    twin = pl.format("{}-gru", "twin_of").alias("twin_of")
    runs = telemetry.runs.with_columns(of_gru, twin, architecture=pl.lit("gru"))
    steps = telemetry.steps.with_columns(of_gru)
    gru = with_run(f"{RUN}-gru", failure_step=0)(Telemetry(runs, steps))
    both = Telemetry(telemetry.runs.vstack(gru.runs), telemetry.steps.vstack(gru.steps))
    gru, transformer = check((LEAK,), both, naming("gru-adamw", successes=11), DETECTOR).settings
    assert (gru.name, gru.runs[0].passed) == ("gru-adamw", False)
    assert (transformer.name, transformer.runs[0].passed) == ("transformer-adamw", True)
    assert (gru.successes_wanted, transformer.successes_wanted) == (11, 10)

    checked = check((LEAK,), telemetry, naming("gru-adamw-paper"), DETECTOR)
    assert checked.absent == (Setting("gru", "adamw", "paper"),)
    assert not checked.passed
    assert "--architecture gru --optimizer adamw --scale paper`" in report(checked, True)

    other = RECORD.model_copy(update={"settings": {"gru-adamw": RunsWanted(seeds=1, successes=10)}})
    complaint = r"record\.settings: transformer-adamw is not among the settings\. Name it there"
    with pytest.raises(BadInputError, match=complaint):
        check((LEAK,), telemetry, other, DETECTOR)


# The rules over the whole benchmark: failing runs alone matter, twenty scenarios a category.

KINDS = ("easy", "medium", "hard")
SCENARIOS = tuple(
    scenario(f"{category}_{item}", category, KINDS[item % 3])
    for category in CATEGORIES
    for item in range(20)
)


def rule(name, scenarios=SCENARIOS, seeds=1, **changes):
    """One rule over runs that all crash at step 120, ``changes`` (by column) apart."""
    runs = []
    for item in scenarios:
        for seed in range(seeds):
            key = (item.category, int(item.id.rsplit("_", 1)[1]), seed)
            crash = {**CRASHED, "scenario": item.id, "onset_step": 22, "failure_step": 121}
            row = run_row(f"{item.id}-s{seed}", **crash, seed=seed)
            runs.append(row | {name: cells[key] for name, cells in changes.items() if key in cells})
    telemetry = Telemetry(pl.DataFrame(runs, schema=RUN_SCHEMA), STEP_SCHEMA.to_frame())
    (actual,) = [item for item in check_rules(scenarios, telemetry, RECORD) if item.name == name]
    return actual


def cells(counts, value, seed=0):
    return {(item, index, seed): value for item, count in counts.items() for index in range(count)}


def spread(*counts):
    return dict(zip(CATEGORIES, counts, strict=False))


EARLY, SLOW = ("early_failures", 109), ("slow_failures", 122)


@pytest.mark.parametrize(
    ("name", "counts", "holds"),
    [
        (EARLY, (7, 6, 6, 6), True),  # 25
        (EARLY, (7, 7, 6, 6), False),  # 26
        (EARLY, (3, 3, 3), False),  # three categories
        (EARLY, (5, 2, 2, 1), True),  # half of all are of one category
        (EARLY, (6, 2, 2, 1), False),  # above half
        (EARLY, (10, 5, 5, 5), True),  # half of a category fails early
        (EARLY, (11, 5, 4, 4), False),  # above half
        (SLOW, (10, 5, 5, 5), True),
        (SLOW, (9, 5, 5, 5), False),  # 24
        (SLOW, (15, 10, 10), False),  # three categories
    ],
)
def test_early_failures_are_few_slow_ones_many_and_both_are_spread(name, counts, holds):
    actual = rule(name[0], failure_step=cells(spread(*counts), name[1]))
    assert (actual.holds, actual.counts["scenarios"]) == (holds, sum(counts))


def test_a_scenario_fails_early_if_any_seed_does_and_slowly_if_their_median_does():
    early = spread(3, 3, 2, 2)
    actual = rule("early_failures", seeds=2, failure_step=cells(early, 10, seed=1))
    assert actual.counts["scenarios"] == 10
    assert rule("early_failures", failure_step=cells(early, 110)).counts["scenarios"] == 0
    slow = spread(10, 5, 5, 5)
    one = cells(slow, 122)
    two = one | cells(slow, 122, seed=1)
    for seeds, steps, holds in ((1, one, True), (3, one, False), (3, two, True)):
        assert rule("slow_failures", seeds=seeds, failure_step=steps).holds is holds


def test_a_third_of_the_scenarios_is_hard_and_each_category_has_every_difficulty():
    for hard, holds in ((5, True), (4, False)):
        scenarios = tuple(
            scenario(f"{item}_{index}", item, kind if place < hard or index < 2 else "easy")
            for place, item in enumerate(CATEGORIES)
            for index, kind in enumerate(KINDS)
        )
        actual = rule("hard_scenarios", scenarios)
        assert (actual.holds, actual.counts["hard"]) == (holds, hard)
    # thirty of the hundred scenarios are hard, to which five more are a third
    more = [scenario(f"optimization_{20 + item}", "optimization", "hard") for item in range(9)]
    assert rule("hard_scenarios", (*SCENARIOS, *more)).holds
    for missing in KINDS:
        kept = [one for one in SCENARIOS if (one.category, one.difficulty) != ("unknown", missing)]
        assert not rule("hard_scenarios", (*kept, *more)).holds


@pytest.mark.parametrize(("column", "value"), [("outcome", "hung"), ("exit_signal", "SIGBUS")])
def test_no_outcome_and_no_signal_belongs_to_one_category(column, value):
    assert rule(f"{column}s_shared").holds
    alone = rule(f"{column}s_shared", **{column: cells(spread(3), value)})
    assert (alone.holds, alone.counts["in_one_category"]) == (False, 1)
    assert f"{value}: memory_hardware 3" in alone.details
    assert rule(f"{column}s_shared", **{column: cells(spread(3, 1), value)}).holds


@pytest.mark.parametrize(
    ("column", "value", "partners", "holds"),
    [
        ("exit_signal", "SIGKILL", (1, 1), True),
        ("exit_signal", "SIGKILL", (0, 2, 1), True),
        ("exit_signal", "SIGKILL", (2,), False),
        ("exit_signal", "SIGKILL", (0, 1), False),
        # what looks alike does so in each of these
        ("exit_signal", "SIGKILL", (), False),
        ("outcome", "killed", (), False),
        ("error_type", None, (), False),
    ],
)
def test_an_unknown_scenario_has_two_partners_that_look_alike(column, value, partners, holds):
    alike = cells(spread(*partners) | {"unknown": 1}, value)
    actual = rule("unknown_partners", **{column: alike})
    assert (actual.holds, rule("unknown_partners").holds) == (holds, True)
    assert actual.counts == {"unknown_scenarios": 20, "without_enough_partners": not holds}
    assert partners or "unknown_0 (truly_ambiguous): none" in actual.details


def test_mid_run_onsets_lie_in_the_one_range_and_start_crashes_outside_it():
    for onset, holds in ((20, True), (25, True), (19, False), (26, False)):
        assert rule("onset_kinds", onset_step=cells(spread(1), onset)).holds is holds
    start = scenario("memory_hardware_0", onset="start_crash")
    assert rule("onset_kinds", (start, *SCENARIOS[1:]), onset_step=cells(spread(1), 0)).holds


@pytest.mark.parametrize(("rise", "holds"), [(0.0, True), (5.0, False)])
def test_healthy_runs_have_learnt_by_the_earliest_onset(telemetry, rise, holds):
    raised = telemetry.steps.with_columns(pl.col("validation_loss") + rise)
    late = pl.when(pl.col("step") > 20).then(9.0).otherwise("validation_loss")
    steps = raised.with_columns(late.cast(pl.Float32).alias("validation_loss"))
    rules = check_rules((LEAK,), Telemetry(telemetry.runs, steps), RECORD)
    assert {item.name: item.holds for item in rules}["healthy_perplexity"] is holds
