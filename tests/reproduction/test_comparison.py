import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import typst
import yaml

from failbench.base.predictions import PREDICTION_SCHEMA
from failbench.cli.main import main
from failbench.publish.reproduction.comparison import READERS, RESULTS
from failbench.publish.reproduction.printed import compiled_differences, page_texts
from failbench.publish.reproduction.values import FILE_RULES, rule_of

PREDICTIONS = "data/predictions/nested_cv/forest.parquet"
FEATURES = "data/features/features.parquet"
METRICS = "data/metrics/study.json"
POINTS = "data/plots/study.csv"
CURVES = "data/plots/gallery.csv"
TABLE = "paper/tables/study.md"
FIGURE = "figures/study.svg"
RECORDED = "data/telemetry/steps.parquet"
DESCRIBED = "data/croissant.json"

ROUNDED = "| Method | Accuracy | n |\n| - | -: | -: |\n| Forest | 10.0 | 76 |\n"

Alter = Callable[[], None]


def predictions() -> pl.DataFrame:
    row: dict[str, object] = dict.fromkeys(PREDICTION_SCHEMA)
    row |= {"study": "nested_cv", "feature_set": "19", "method": "forest", "repeat": 0, "fold": 0}
    row |= {"prediction": "optimization", "confidence": 0.7, "conditions": 400, "p_unknown": 0.1}
    rows = [row | {"run_id": f"run_{number}"} for number in range(9)]
    return pl.DataFrame(rows, schema=PREDICTION_SCHEMA)


FILES = {
    METRICS: json.dumps({"forest": {"brier": 0.5, "n": 76, "verdict": "pass"}}),
    POINTS: "method,note,value,n\nforest,57 of 76 are 75.0 %,0.5,76\nrules,,,76\n",
    CURVES: "role,step,loss\nfailing,0,6.3921\n",
    TABLE: "| Method | Accuracy |   n |\n| ------ | -------: | --: |\n| Forest |     9.9 |  76 |\n",
    FIGURE: '<svg width="10pt">\n<path id="m0123456789" d="M 1 1 L 5 5 z" style="fill: #102030"/>\n'
    '<use xlink:href="#m0123456789" x="3.0" y="4.0"/>\n<text x="2">75.0</text>\n</svg>\n',
    RECORDED: "recorded",
    DESCRIBED: json.dumps({"distribution": [{"@id": "a", "sha256": "0a", "contentSize": "9 B"}]}),
    "README.md": "Prose.\n<!-- t: begin -->\n| 9.9 |\n<!-- t: end -->\nMore.\n",
    "dvc.lock": yaml.safe_dump(
        {
            "schema": "2.0",
            "stages": {
                "study": {
                    "cmd": "python study.py",
                    "deps": [{"path": "src/a.py", "md5": "aa", "size": 1}],
                    "params": {"params.yaml": {"study": {"trees": 100, "seed": None}}},
                    "outs": [{"path": METRICS, "md5": "bb", "size": 2}],
                }
            },
        }
    ),
}


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a result of each kind, all committed, as working folder."""
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet")
    for path, text in FILES.items():
        write(path, text)
    for path, table in [
        (PREDICTIONS, predictions()),
        (FEATURES, pl.DataFrame({"run_id": ["a", "b"], "perplexity": [1e6, float("nan")]})),
    ]:
        Path(path).parent.mkdir(parents=True)
        table.write_parquet(path)
    git("add", "--all")
    git("-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "--quiet", "--message", "Results")
    return tmp_path


def write(path: str, text: str) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text, encoding="utf-8")


def replace(path: str, before: str, after: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert before in text
    write(path, text.replace(before, after))


def set_prediction(**values: object) -> None:
    """Give the third prediction other values."""
    third = pl.int_range(pl.len()) == 2
    table = pl.read_parquet(PREDICTIONS).with_columns(
        pl.when(third).then(pl.lit(value)).otherwise(pl.col(column)).cast(PREDICTION_SCHEMA[column])
        .alias(column)
        for column, value in values.items()
    )  # fmt: skip
    table.write_parquet(PREDICTIONS)


def set_perplexity(values: list[float | None]) -> None:
    pl.read_parquet(FEATURES).with_columns(perplexity=pl.Series(values)).write_parquet(FEATURES)


def test_untouched_results_are_equal(project, capsys) -> None:
    assert main(["compare"]) == 0
    assert capsys.readouterr().out == (
        "The regenerated results equal those of HEAD, byte for byte.\n"
    )


@pytest.mark.parametrize(
    ("path", "alter"),
    [
        (PREDICTIONS, lambda: set_prediction(p_unknown=0.10009)),
        (PREDICTIONS, lambda: set_prediction(confidence=0.69991)),
        (PREDICTIONS, lambda: set_prediction(conditions=401)),
        (FEATURES, lambda: set_perplexity([1e6 * (1 + 1e-10), float("nan")])),
        (METRICS, lambda: replace(METRICS, "0.5", "0.5005")),
        (POINTS, lambda: replace(POINTS, "0.5", "0.5005")),
        (POINTS, lambda: replace(POINTS, "75.0 %", "75.1 %")),
        (CURVES, lambda: replace(CURVES, "6.3921", "6.392101")),
        (TABLE, lambda: write(TABLE, ROUNDED)),
        (FIGURE, lambda: replace(FIGURE, 'x="3.0"', 'x="3.4"')),
        (FIGURE, lambda: replace(FIGURE, "L 5 5", "L 5.2 5")),
        (FIGURE, lambda: replace(FIGURE, "#102030", "#112230")),
        (FIGURE, lambda: replace(FIGURE, "75.0", "74.9")),
        (FIGURE, lambda: replace(FIGURE, "m0123456789", "mabcdef0123")),
        ("README.md", lambda: replace("README.md", "9.9", "9.8")),
    ],
)  # fmt: skip
def test_a_number_within_its_tolerance_is_another_processor(
    project, capsys, path: str, alter: Alter
) -> None:
    alter()
    assert main(["compare"]) == 0
    out = capsys.readouterr().out
    if path == FIGURE and "abcdef" in Path(FIGURE).read_text(encoding="utf-8"):
        assert out.startswith("The regenerated results say the same")
    else:
        assert out.startswith("Other processor: 1 of 11 files differ from HEAD")
    assert path in out


@pytest.mark.parametrize(
    ("path", "alter", "shown"),
    [
        (PREDICTIONS, lambda: set_prediction(p_unknown=0.1002), "p_unknown: 0.1 -> 0.1002"),
        (PREDICTIONS, lambda: set_prediction(p_unknown=None), "p_unknown: 0.1 -> null"),
        (PREDICTIONS, lambda: set_prediction(p_unknown=float("nan")), "p_unknown: 0.1 -> nan"),
        (PREDICTIONS, lambda: set_prediction(prediction="unknown"),
         "row 3 (nested_cv 19 forest 0 0 run_2), prediction: optimization -> unknown"),
        (PREDICTIONS, lambda: set_prediction(conditions=402), "conditions: 400 -> 402"),
        (PREDICTIONS, lambda: predictions().head(8).write_parquet(PREDICTIONS), "rows: 9 -> 8"),
        (PREDICTIONS, lambda: predictions().drop("route").write_parquet(PREDICTIONS), "columns: "),
        (PREDICTIONS, lambda: write(PREDICTIONS, "no parquet"), "content: readable -> cannot be"),
        (FEATURES, lambda: set_perplexity([1e6 * (1 + 1e-8), float("nan")]), "perplexity: 1000000"),
        (FEATURES, lambda: set_perplexity([1e6, None]), "perplexity: nan -> null"),
        (METRICS, lambda: replace(METRICS, "0.5", "0.51"), "forest.brier: 0.5 -> 0.51"),
        (METRICS, lambda: replace(METRICS, "pass", "fail"), "forest.verdict: pass -> fail"),
        (METRICS, lambda: replace(METRICS, "76", "75"), "forest.n: 76 -> 75"),
        (METRICS, lambda: replace(METRICS, "brier", "score"), "forest.brier: 0.5 -> (absent)"),
        (POINTS, lambda: replace(POINTS, "0.5", "0.51"), "row 1 (forest"),
        (POINTS, lambda: replace(POINTS, "0.5,76", "0.5,75"), "n: 76 -> 75"),
        (POINTS, lambda: replace(POINTS, "75.0 %", "75.2 %"), "note: 57 of 76 are 75.0 %"),
        (POINTS, lambda: replace(POINTS, "rules,,,76\n", ""), "rows: 2 -> 1"),
        (POINTS, lambda: replace(POINTS, "note", "remark"), "columns: "),
        (CURVES, lambda: replace(CURVES, "6.3921", "6.3931"), "loss: 6.3921 -> 6.3931"),
        (TABLE, lambda: replace(TABLE, "9.9", "9.7"), "line 3: "),
        (TABLE, lambda: replace(TABLE, "| Forest", "\n| Forest"), "lines: 3 -> 4"),
        (FIGURE, lambda: replace(FIGURE, 'x="3.0"', 'x="3.6"'), "<use>, x: 3.0 -> 3.6"),
        (FIGURE, lambda: replace(FIGURE, "L 5 5 z", "L 5 5 L 1 5 z"), "<path>, d: "),
        (FIGURE, lambda: replace(FIGURE, "#102030", "#142030"), "style: fill: #102030"),
        (FIGURE, lambda: replace(FIGURE, "75.0", "75.2"), "text: 75.0 -> 75.2"),
        (FIGURE, lambda: replace(FIGURE, "<use", "<rect/><use"), "elements: "),
        (FIGURE, lambda: replace(FIGURE, '#m0123456789', "#mabcdef0123"), "xlink:href: "),
        (RECORDED, lambda: write(RECORDED, "recoded"), "Recorded once"),
        ("README.md", lambda: replace("README.md", "9.9", "9.7"), "t line 1: "),
        ("README.md", lambda: replace("README.md", "t: end", "end"), "generated parts: t -> "),
        ("dvc.lock", lambda: replace("dvc.lock", "100", "200"),
         "stages.study.params.params.yaml.study.trees: 100 -> 200"),
        ("dvc.lock", lambda: replace("dvc.lock", "null", "0"), "study.seed: None -> 0"),
        ("dvc.lock", lambda: replace("dvc.lock", "src/a.py", "src/b.py"), "src/a.py: True -> (abs"),
        ("dvc.lock", lambda: replace("dvc.lock", "study:\n    cmd", "other:\n    cmd"), "stages.s"),
        (DESCRIBED, lambda: replace(DESCRIBED, '"a"', '"b"'), "distribution.0.@id: a -> b"),
        (DESCRIBED, lambda: replace(DESCRIBED, '"@id": "a", ', ""), "@id: a -> (absent)"),
        (METRICS, lambda: Path(METRICS).unlink(), "file: committed -> (absent)"),
        ("data/metrics/new.json", lambda: write("data/metrics/new.json", "{}"), "file: (absent)"),
        ("data/llm/a.jsonl", lambda: write("data/llm/a.jsonl", ""), "file: (absent) -> new"),
    ],
)  # fmt: skip
def test_anything_more_is_a_change_that_is_named_with_both_values(
    project, capsys, path: str, alter: Alter, shown: str
) -> None:
    alter()
    assert main(["compare"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("The results differ from those of HEAD, in 1 files:\n")
    assert f"  {path}\n" in out
    assert shown in out


def test_hashes_in_the_lock_say_no_more_and_a_figure_that_differs_needs_its_points(
    project, capsys
) -> None:
    replace("dvc.lock", "md5: aa", "md5: cc")
    assert main(["compare"]) == 0
    assert capsys.readouterr().out == (
        "The regenerated results say the same as those of HEAD, in other bytes in 1 of 11 files.\n"
        "  dvc.lock: the same values and declarations\n"
    )
    replace(FIGURE, 'x="3.0"', 'x="3.1"')
    Path(POINTS).unlink()
    assert main(["compare"]) == 1
    assert f"points in {POINTS}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "alter", "words"),
    [
        (["--against", "nowhere"], lambda: None, ["git rev-parse", "commit"]),
        ([], lambda: shutil.rmtree(".git"), ["not a git repository", "root of a clone"]),
        ([], lambda: write("data/metrics/study.xlsx", ""), ["data/metrics/study.xlsx", "toleranc"]),
    ],
)
def test_what_cannot_be_compared_is_one_sentence(
    project: Path, monkeypatch, capsys, options: list[str], alter: Alter, words: list[str]
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(project.parent))
    alter()
    assert main(["compare", *options]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert all(word in captured.err for word in words), captured.err


def paper(text: str) -> bytes:
    return typst.compile(f"#set page(width: 6cm, height: 6cm)\n{text}".encode(), format="pdf")


def test_of_the_paper_a_last_digit_may_differ_and_where_a_line_breaks_does_not_count():
    narrow, wide = (f"#box(width: {width}cm)[one two three four five six]" for width in (2, 5))
    assert page_texts(paper(narrow)) == page_texts(paper(wide))
    before = paper("It reaches 60.7 of them.")
    for number, within in (("60.8", True), ("61.7", False)):
        after = paper(f"It reaches {number} of them.")
        (difference,) = compiled_differences(before, after, rule_of("paper/paper.pdf"))
        assert difference.within == within


def test_every_committed_result_has_a_rule_that_says_why(repository: Path) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *RESULTS], cwd=repository, check=True, capture_output=True
    )
    paths = [path for path in listed.stdout.decode("utf-8").split("\0") if path]
    assert {rule_of(path).pattern for path in paths} >= {"dvc.lock", "figures/*.svg"}
    assert all(rule.reason.endswith(".") and rule.kind in READERS for rule in FILE_RULES)
