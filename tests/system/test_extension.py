"""Each addition of CONTRIBUTING.md, made once in a copy of the repository, and what follows."""

import csv
import json
import re
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl
import pytest
import yaml
from insertions import FEATURE, METHOD, SCENARIO, STUDY_FILES, STUDY_PARAMETERS, STUDY_ROW
from polars.testing import assert_frame_equal
from repository_copy import REPOSITORY, RepositoryCopy

from failbench.base.predictions import PREDICTION_SCHEMA

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def as_it_is(tmp_path_factory) -> RepositoryCopy:
    """A copy of the working tree, whose results are taken to be those of its code."""
    copy = RepositoryCopy.of_working_tree(tmp_path_factory.mktemp("as_it_is"))
    copy.dvc("commit", "--force", "--quiet")
    copy.commit()
    return copy


def to_run(copy: RepositoryCopy, *targets: str) -> list[str]:
    return re.findall(r"^Running stage '(.+)':$", copy.dvc("repro", "--dry", *targets), re.M)


# A method: its module, its entry in the catalogue, its section and its name in params.yaml.

ADDED_METHOD, ITS_LABEL = "linear_discriminant", "Linear discriminant"
TOUCHED_FOR_A_METHOD = {
    f"src/failbench/methods/{ADDED_METHOD}.py",
    "src/failbench/base/data/methods.csv",
    "params.yaml",
}


@pytest.fixture(scope="module")
def with_method(as_it_is, tmp_path_factory) -> RepositoryCopy:
    copy = as_it_is.copied_to(tmp_path_factory.mktemp("method") / "copy")
    params = copy.root / "params.yaml"
    few = re.sub(r"resamples: \d+", "resamples: 1000", params.read_text("utf-8"))
    params.write_text(few, encoding="utf-8")  # no test here looks at what is drawn
    copy.commit()
    touched = copy.add_files("method") | {copy.insert(insertion) for insertion in METHOD}
    assert touched == copy.changed() == TOUCHED_FOR_A_METHOD
    return copy


@pytest.fixture(scope="module")
def predicted(with_method) -> RepositoryCopy:
    with_method.python("experiments/nested_cv.py", ADDED_METHOD)
    return with_method


def test_dvc_fits_a_method_by_itself_where_it_is_named_and_else_all_methods(with_method):
    stage = f"nested_cv@{ADDED_METHOD}"
    assert to_run(with_method, "--single-item", stage) == [stage]
    fitted = [stage for stage in to_run(with_method) if stage.startswith("nested_cv@")]
    params = yaml.safe_load((with_method.root / "params.yaml").read_text("utf-8"))
    # in which order is DVC's affair
    assert sorted(fitted) == sorted(f"nested_cv@{name}" for name in params["methods"])
    assert fitted[-1] == f"nested_cv@{ADDED_METHOD}"


def test_the_tests_of_all_methods_accept_a_new_one(with_method):
    selected = f"{ADDED_METHOD} or every_entry or no_two"
    assert " passed" in with_method.pytest("tests/methods/test_catalogue.py", "-k", selected)


def test_a_new_method_predicts_the_runs_that_all_others_do(predicted):
    folder = predicted.root / "data/predictions/nested_cv"
    names = (ADDED_METHOD, "random_forest")
    table, other = (pl.read_parquet(folder / f"{name}.parquet") for name in names)
    assert table.schema == PREDICTION_SCHEMA
    assert set(table["method"]) == {ADDED_METHOD}
    key = [name for name in PREDICTION_SCHEMA.names()[:6] if name != "method"]
    assert_frame_equal(table.select(key), other.select(key))
    assert table["conditions"].min() > 0


def test_reports_of_all_methods_show_a_new_one_by_its_label(predicted):
    for study, shown in {
        "intervals": "paper/tables/intervals/methods.md",
        "per_category": "paper/tables/per_category/per_category.md",
    }.items():
        assert ITS_LABEL not in (predicted.root / shown).read_text("utf-8")
        predicted.python(f"experiments/{study}.py")
        assert ITS_LABEL in (predicted.root / shown).read_text("utf-8")


# A feature: one declaration.

ADDED_FEATURE = "traceback_lines"
TOUCHED_FOR_A_FEATURE = {"src/failbench/features/catalogue.py"}
FEATURES = "data/features/features.parquet"
TREE_THAT_SEES_IT = f"""
import polars as pl
from failbench.features.catalogue import FEATURE_SETS
from failbench.features.feature_table import to_frame
from failbench.methods.classifiers import decision_tree
from failbench.base.method_settings import DecisionTreeSettings

columns = ("{ADDED_FEATURE}", "peak_memory")
runs = pl.read_parquet("{FEATURES}").filter(kind="failure", seed=0)
settings = DecisionTreeSettings(inner_folds=2, max_depth=(5,), min_samples_leaf=(1,))
tree = decision_tree(settings, columns, 0).fit(to_frame(runs), runs["category"].to_numpy())
signals = {{item.signal for run in tree.diagnose(to_frame(runs)) for item in run.evidence}}
print(len(FEATURE_SETS["19"]), *signals & {{"{ADDED_FEATURE}"}})
"""


@pytest.fixture(scope="module")
def with_feature(as_it_is, tmp_path_factory) -> RepositoryCopy:
    copy = as_it_is.copied_to(tmp_path_factory.mktemp("feature") / "copy")
    assert {copy.insert(FEATURE)} == copy.changed() == TOUCHED_FOR_A_FEATURE
    copy.python("experiments/features.py")
    return copy


def test_the_feature_table_has_a_new_column_filled_and_the_others_as_they_were(with_feature):
    before, after = (pl.read_parquet(root / FEATURES) for root in (REPOSITORY, with_feature.root))
    assert_frame_equal(after.drop(ADDED_FEATURE), before)
    raised = pl.col("error_type").is_not_null()
    assert after[ADDED_FEATURE].null_count() == 0
    assert after.filter(raised)[ADDED_FEATURE].min() > 0
    assert after.filter(~raised)[ADDED_FEATURE].max() == 0


def test_a_feature_set_may_name_a_new_feature_and_the_papers_has_19(with_feature):
    assert with_feature.python("-c", TREE_THAT_SEES_IT).split() == ["19", ADDED_FEATURE]


def test_a_new_feature_is_accepted_and_runs_the_studies_again_and_records_nothing(with_feature):
    others = ("tests/benchmarks/test_feature_extraction.py", "tests/test_committed_observables.py")
    assert " passed" in with_feature.pytest("tests/features", *others)
    stages = to_run(with_feature)
    assert {"features", "nested_cv@ebm", "measure_importance"} <= set(stages)
    assert not {"record", "check"} & set(stages)


# A scenario: a JSON file and a function marked as a fault.

ADDED_SCENARIO = "labels_as_floats"
TOUCHED_FOR_A_SCENARIO = {
    f"data/scenarios/data_pipeline/{ADDED_SCENARIO}.json",
    "src/failbench/recording/faults/data.py",
}
CHECK = ("-m", "failbench.cli.main", "check", "--brief")
TO_BE_RECORDED = (
    f"missing: {ADDED_SCENARIO}, of which nothing is recorded: run "
    f"`failbench record --only {ADDED_SCENARIO}`"
)


@pytest.fixture(scope="module")
def with_scenario(as_it_is, tmp_path_factory) -> RepositoryCopy:
    copy = as_it_is.copied_to(tmp_path_factory.mktemp("scenario") / "copy")
    touched = copy.add_files("scenario") | {copy.insert(SCENARIO)}
    assert touched == copy.changed() == TOUCHED_FOR_A_SCENARIO
    return copy


def test_check_says_that_a_new_scenario_is_to_be_recorded(as_it_is, with_scenario):
    before = as_it_is.python(*CHECK).splitlines()
    after = with_scenario.python(*CHECK, status=1).splitlines()
    added = [line.strip() for line in after if line not in before]
    counts = re.compile(r"ok: \d+ of 77 scenarios are hard|data_pipeline: \d+ easy")
    assert [line for line in added if not counts.match(line)] == [
        "77 scenarios",
        "data_pipeline: 1 more than the paper has",
        TO_BE_RECORDED,
        "The check FAILS.",
    ]


def test_a_new_scenario_is_accepted_and_checked_again_and_records_nothing_by_itself(with_scenario):
    assert " passed" in with_scenario.pytest("tests/test_scenarios.py")
    stages = to_run(with_scenario)
    assert {"check", "features"} <= set(stages)
    assert "record" not in stages


def test_a_small_run_of_a_new_scenario_ends_as_declared(with_scenario):
    pytest.importorskip("torch", reason="recording needs the extra `record`")
    selected = f"test_a_fault_ends_as_declared and {ADDED_SCENARIO}"
    whichever = ("-m", "system or not system", "-k", selected)
    assert "1 passed" in with_scenario.pytest("tests/recording/test_faults.py", *whichever)


# A study: a script, its captions, its tests, a row of studies.yaml, a section, rows of outputs.

ADDED_STUDY = "agreement"
TOUCHED_FOR_A_STUDY = {
    f"tests/studies/test_{ADDED_STUDY}.py", f"experiments/{ADDED_STUDY}.py",
    f"paper/captions/{ADDED_STUDY}.yaml", "studies.yaml", "params.yaml", "data/files.csv",
}  # fmt: skip
OUTPUTS_OF_THE_STUDY = {
    f"data/metrics/{ADDED_STUDY}.json",
    f"data/plots/{ADDED_STUDY}.csv",
    f"figures/{ADDED_STUDY}.svg",
    *(f"paper/tables/{ADDED_STUDY}/{ADDED_STUDY}.{ending}" for ending in ("md", "typ")),
}


def lines_of(text: str) -> int:
    return text.strip().count("\n") + 1


@pytest.fixture(scope="module")
def with_study(as_it_is, tmp_path_factory) -> RepositoryCopy:
    copy = as_it_is.copied_to(tmp_path_factory.mktemp("study") / "copy")
    touched = copy.add_files("study")
    script = (copy.root / f"experiments/{ADDED_STUDY}.py").read_text("utf-8")
    texts = (script, STUDY_ROW.text, STUDY_PARAMETERS.text)
    assert all(lines_of(text) <= most for text, most in zip(texts, (100, 5, 10), strict=True))
    touched |= {copy.insert(each) for each in (STUDY_ROW, STUDY_PARAMETERS, STUDY_FILES)}
    assert touched == copy.changed() == TOUCHED_FOR_A_STUDY
    copy.dvc("repro", "--single-item", f"study@{ADDED_STUDY}")
    return copy


def test_a_new_study_writes_what_its_stage_declares_and_nothing_else(with_study):
    assert with_study.changed() == TOUCHED_FOR_A_STUDY | OUTPUTS_OF_THE_STUDY | {"dvc.lock"}
    assert "up to date" in with_study.dvc("status", f"study@{ADDED_STUDY}")


def test_points_metrics_table_and_figure_of_a_new_study_are_of_the_same_numbers(with_study):
    def read(path: str) -> str:
        return Path(with_study.root, path).read_text("utf-8")

    metrics = json.loads(read(f"data/metrics/{ADDED_STUDY}.json"))
    points = list(csv.DictReader(read(f"data/plots/{ADDED_STUDY}.csv").splitlines()))
    assert points
    for point in points:
        assert metrics[point["left"]][point["right"]]["value"] == float(point["value"])
    assert read(f"paper/tables/{ADDED_STUDY}/{ADDED_STUDY}.md").count("\n| ") >= len(points)
    assert "Random forest" in read(f"figures/{ADDED_STUDY}.svg")


def test_a_change_of_the_section_of_a_new_study_runs_it_and_what_shows_all_studies(with_study):
    printed = with_study.python("-m", "failbench.cli.main", "reruns", ADDED_STUDY).splitlines()
    assert printed[1] == f"study@{ADDED_STUDY}"
    assert set(printed[2:]) == {"crosswalk", "negative_results", "page", "paper"}


def test_the_tests_of_the_pipeline_accept_a_new_study_and_its_own_pass(with_study):
    # one lists every file of data, the other reads whatever its text names
    shown = ("crosswalk", "negative_results", "data_card", "page", "paper")
    with_study.dvc("repro", "--single-item", *shown)
    with_study.run("git", "add", "--all")
    names = ("declarations", "layers", "files", "reruns")
    paths = [f"tests/pipeline/test_{name}.py" for name in names]
    assert " passed" in with_study.pytest(*paths, f"tests/studies/test_{ADDED_STUDY}.py")
    # of the results of all studies, those that are new
    assert " passed" in with_study.pytest("tests/pipeline/test_results.py", "-k", ADDED_STUDY)


# What CONTRIBUTING.md says is to be touched.


def test_every_file_that_was_touched_is_named_where_the_addition_is_described():
    text = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
    for kind, touched in {
        "scenario": TOUCHED_FOR_A_SCENARIO,
        "method": TOUCHED_FOR_A_METHOD,
        "feature": TOUCHED_FOR_A_FEATURE,
        "study": TOUCHED_FOR_A_STUDY,
    }.items():
        section = text.partition(f"\n### A {kind}\n")[2].partition("\n##")[0]
        named = [re.sub(r"<\w+>", "*", path) for path in re.findall(r"`([\w.<>/]+)`", section)]
        patterns = [f"{path}*" if path.endswith("/") else path for path in named]
        for path in touched:
            assert any(fnmatchcase(path, pattern) for pattern in patterns), (kind, path)
