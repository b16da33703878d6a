import pickle

import polars as pl
import pytest
import yaml
from pydantic import Field, model_validator

from failbench.base.errors import BadInputError
from failbench.base.params import read_section
from failbench.base.records import Record, kept_by_hand, read_json, read_rows, validated
from failbench.base.replay import DENSE, AnswerTable, Replay
from failbench.statistics.bootstrap import BootstrapSettings
from failbench.statistics.settings import read_statistics, read_with_statistics
from failbench.statistics.significance import ComparisonSettings


class Inner(Record):
    folds: int = Field(ge=2)


class Outer(Record):
    name: str = "study"
    inner: Inner = Inner(folds=5)

    @model_validator(mode="after")
    def _is_no_stub(self):
        if self.name == "stub":
            raise ValueError("a stub is no study")
        return self


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ({"size": 1}, "size: the key is unknown. Known keys are name, inner."),
        (
            {"inner": {"folds": 1}},
            "inner.folds: Input should be greater than or equal to 2 (found 1). Mend it.",
        ),
        ({"name": "stub"}, "(file): Value error, a stub is no study. Mend it."),
        ([], "(file): Input should be a valid dictionary or instance of Outer. Mend it."),
    ],
)
def test_what_does_not_is_named_by_file_and_key(raw, complaint):
    with pytest.raises(BadInputError) as caught:
        validated(Outer, raw, "a.yaml", "Mend it.")
    assert str(caught.value) == f"a.yaml: {complaint}"


def test_keys_that_lead_to_a_part_and_the_module_to_correct_it_after_are_named():
    with pytest.raises(BadInputError, match=r"^a\.yaml: studies\.pooled\.name: "):
        validated(Outer, {"name": 3}, "a.yaml", "Mend it.", ("studies", "pooled"))
    with pytest.raises(BadInputError, match=rf"Correct it after the records in {__name__}\.$"):
        kept_by_hand(Outer, {"inner": {}}, "facts.yaml")


@pytest.mark.parametrize("content", [None, b"", b"\xff\xfe"])
def test_a_file_that_is_missing_of_another_format_or_with_a_wrong_line_is_refused(
    tmp_path, content
):
    path = tmp_path / "a"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"a: \(file\): is missing or is not JSON \(.+\)\. Me"):
        read_json(path, "Mend it.")
    if content != b"":
        with pytest.raises(BadInputError, match=r"a: \(file\): is missing or is not a CSV file"):
            read_rows(path, Inner, "Mend it.")
    path.write_text("folds\n3\n1\n", encoding="utf-8")
    with pytest.raises(BadInputError, match=r"a, line 3: folds: .*\(found '1'\)\. Mend it\.$"):
        read_rows(path, Inner, "Mend it.")


def test_bad_input_in_another_process_is_the_same_there_and_here():
    error = BadInputError("a.yaml", "folds", "is 1.", "Give 2.")
    back = pickle.loads(pickle.dumps(error))
    assert (back.args, vars(back)) == (error.args, vars(error))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"study: {folds: 5, fold: 3}", r"study\.fold: the key is unknown\. Known keys are folds"),
        (b"study: {folds: 1}", r"study\.folds: .*greater than or equal to 2 \(found 1\)"),
        (b"other: {folds: 5}", r"study: the section is missing or empty\. Give it the keys folds"),
        (b"study: [", r"\(file\): is not YAML"),
        (None, r"\(file\): cannot be read\. Run the stage from the repository's root"),
    ],
)
def test_bad_parameters_are_refused_by_file_key_and_remedy(tmp_path, content, complaint):
    path = tmp_path / "params.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(BadInputError, match=r"params\.yaml: " + complaint):
        read_section("study", Inner, path)


# What studies share.

SHARED = {
    "confidence": 0.9,
    "resamples": 2000,
    "seed": 7,
    "wilson_from": 0.8,
    "wilson_below": 5,
    "practical_equivalence": 0.02,
    "equivalence_margin": 0.2,
    "power": 0.7,
}


class StudySettings(BootstrapSettings):
    points: int = Field(ge=1)


@pytest.fixture
def params(tmp_path):
    def write(statistics=SHARED, **sections):
        path = tmp_path / "params.yaml"
        path.write_text(yaml.safe_dump({"statistics": statistics, **sections}), encoding="utf-8")
        return path

    return write


def test_a_record_gets_the_keys_that_it_has_and_what_the_section_of_a_study_says_holds(params):
    expected = BootstrapSettings(resamples=2000, confidence=0.9, seed=7)
    assert read_statistics(BootstrapSettings, params()) == expected
    path = params(study={"points": 3, "seed": 1})
    assert read_with_statistics("study", StudySettings, path).seed == 1
    settings = read_statistics(ComparisonSettings, path)
    named = settings.named("19", (("a", "b"),))
    assert (named.feature_set, named.contrasts) == ("19", (("a", "b"),))
    assert named.model_dump(exclude={"feature_set", "contrasts"}) == settings.model_dump()


@pytest.mark.parametrize("key", sorted(SHARED))
def test_a_missing_key_is_refused_and_not_filled_in(params, key):
    missing = {name: value for name, value in SHARED.items() if name != key}
    with pytest.raises(BadInputError, match=rf"statistics\.{key}: Field required"):
        read_statistics(BootstrapSettings, params(missing))


# What was answered is asked once.

SCHEMA = pl.Schema({"run": pl.String(), "look": pl.Int64(), "said": pl.String(), "by": pl.Int64()})
TABLE = AnswerTable(SCHEMA, ("run", "look"), ("run",), ("by",), "Record it again.", DENSE)


def record(path, runs, by=1, every=1, stop_at=None):
    """Ask about two looks of each run, and name the runs that were asked about."""
    asked = []
    with Replay(TABLE, path, every) as replay:
        replay.drop_strangers(lambda row: row["run"] in runs)
        for run in runs:
            if replay.has((run,), [(by,)]):
                continue
            if run == stop_at:
                raise KeyboardInterrupt
            asked.append(run)
            replay.keep({"run": run, "look": k, "said": f"{run}{k}", "by": by} for k in (1, 0))
    return asked


@pytest.mark.parametrize("every", [1, 2, 10])
def test_what_was_answered_before_an_interruption_is_not_asked_again(tmp_path, every):
    path = tmp_path / "new" / "answers.parquet"
    with pytest.raises(KeyboardInterrupt):
        record(path, "dacb", every=every, stop_at="b")
    assert TABLE.read(path)["said"].to_list() == ["a0", "a1", "c0", "c1", "d0", "d1"]
    assert record(path, "dacb", every=every) == ["b"]
    at_once = tmp_path / "answers.parquet"
    record(at_once, "abcd")
    assert path.read_bytes() == at_once.read_bytes()


def test_killed_it_has_lost_what_was_not_written_yet(tmp_path):
    replay = Replay(TABLE, tmp_path / "answers.parquet", every=2)
    for run in "abc":
        replay.keep([{"run": run, "look": 0, "said": "", "by": 1}])
    assert TABLE.read(tmp_path / "answers.parquet")["run"].to_list() == ["a", "b"]


def test_another_version_asks_again_and_keeps_the_old_answer_until_then(tmp_path):
    path = tmp_path / "answers.parquet"
    record(path, "ab")
    with pytest.raises(KeyboardInterrupt):
        record(path, "ab", by=2, stop_at="b")
    assert TABLE.read(path)["by"].to_list() == [2, 2, 1, 1]
    assert record(path, "ab", by=2) == ["b"]
    with Replay(TABLE, path, 1) as replay:
        replay.keep({"run": "a", "look": look, "said": "", "by": look} for look in (0, 1))
        assert [replay.has(("a",), [(0,), *more]) for more in ([], [(1,)])] == [False, True]


def test_strangers_are_dropped_though_nothing_is_asked(tmp_path):
    path = tmp_path / "answers.parquet"
    record(path, "ab")
    assert record(path, "b") == []
    assert set(TABLE.read(path)["run"]) == {"b"}


@pytest.mark.parametrize(
    ("broken", "field"),
    [
        (None, "(file)"),
        (lambda table: table.drop("by"), "by"),
        (lambda table: pl.concat([table, table]), "run, look"),
    ],
)
def test_a_broken_file_is_named_and_kept(tmp_path, broken, field):
    path = tmp_path / "answers.parquet"
    record(path, "ab")
    if broken is None:
        path.write_bytes(b"no table")
    else:
        broken(TABLE.read(path)).write_parquet(path)
    content = path.read_bytes()
    with pytest.raises(BadInputError, match="Record it again") as caught:
        record(path, "ab")
    assert (caught.value.place, caught.value.field) == (str(path), field)
    assert path.read_bytes() == content
