"""Cases: notebooks of the corpus in every arm, two naive predictors, and recorded answers."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

import polars as pl
from pydantic import Field

from failbench.base.errors import BadInputError
from failbench.base.records import Record, read_rows
from failbench.base.replay import AnswerTable, Replay
from failbench.base.scenarios import Identifier
from failbench.crashes.answers import asked
from failbench.crashes.prediction import CrashPrediction, Predictor
from failbench.crashes.question import Arm, Question, told
from failbench.notebooks import corpus
from failbench.notebooks.equal import EqualPair, read_equal, read_parts
from failbench.notebooks.summaries import Summary, parse_summary
from failbench.statistics.intervals import ScenarioIntervalSettings

Pairs: TypeAlias = Sequence[corpus.Pair] | Sequence[EqualPair]


class CrashPredictionSettings(ScenarioIntervalSettings):
    """The section ``crash_prediction`` of params.yaml, with what it takes of ``statistics``."""

    control_seed: int = Field(ge=0)
    readers: tuple[Identifier, ...] = ()


@dataclass(frozen=True)
class Case:
    """A notebook of a pair, what is known of its kernel, and whether its target crashed."""

    notebook: corpus.Notebook[Any]
    version: corpus.Version
    part: corpus.Part
    summary: Summary
    other: Summary
    exception: str | None

    def ask(self, arm: Arm) -> Question:
        """The question about it in an arm."""
        known = told(arm, self.summary, self.other)
        return Question(self.notebook.executed_sources, self.notebook.target, known)

    @property
    def characters(self) -> int:
        """Of the code that was executed, and of the target."""
        return sum(map(len, (*self.notebook.executed_sources, self.notebook.target)))


def read_cases(folder: Path, control_seed: int) -> tuple[Case, ...]:
    """Every notebook of a corpus, in order of libraries, pairs and versions."""
    pairs = corpus.read_corpus(folder)
    split = corpus.read_split(folder / corpus.SPLIT)
    corpus.check_unchanged(pairs, split, folder / corpus.SPLIT)
    parts: dict[str, corpus.Part] = {pair.card.pair: split[pair.card.pair].part for pair in pairs}
    return _cases(pairs, parts, folder / corpus.OBSERVED, control_seed)


def read_equal_cases(folder: Path, control_seed: int) -> tuple[Case, ...]:
    """Every notebook of equal code in both of its worlds, in the same order."""
    pairs = read_equal(folder)
    return _cases(pairs, read_parts(folder, pairs), folder / corpus.OBSERVED, control_seed)


def _cases(
    pairs: Pairs, parts: Mapping[str, corpus.Part], place: Path, control_seed: int
) -> tuple[Case, ...]:
    observed = _by_notebook(corpus.read_observed(place), pairs, place)
    lent = lenders(pairs, parts, control_seed)
    summaries = {key: _summary(row["summary"], place) for key, row in observed.items()}
    return tuple(
        Case(
            execution.notebook,
            execution.version,
            parts[key[0]],
            summaries[key],
            summaries[lent[key]],
            observed[key]["ename"],
        )
        for pair in pairs
        for execution in pair.executions
        for key in [_key(execution)]
    )


def lenders(
    pairs: Pairs, parts: Mapping[str, corpus.Part], seed: int
) -> dict[tuple[str, str], tuple[str, str]]:
    """Which notebook lends its summary to which, in the control."""
    groups: dict[tuple[str, str], list[str]] = {}
    for pair in pairs:
        name = pair.card.pair
        groups.setdefault((pair.card.library, parts[name]), []).append(name)
    lent = {}
    for names in groups.values():
        circle = sorted(names, key=lambda name: _hash(seed, name))
        for name, other in zip(circle, circle[1:] + circle[:1], strict=True):
            # by a hash, so that a summary does not tell by its origin whether a target crashes
            swapped = int(_hash(seed, f"{name} {other}"), 16) % 2
            versions = ("crashing", "mended")
            for place, version in enumerate(versions):
                lent[name, version] = (other, versions[(place + swapped) % 2])
    return lent


def _hash(seed: int, name: str) -> str:
    return hashlib.sha256(f"{seed} {name}".encode()).hexdigest()


def _key(execution: corpus.Execution[Any]) -> tuple[str, str]:
    return execution.notebook.card.pair, execution.version


def _by_notebook(
    observed: pl.DataFrame, pairs: Pairs, path: Path
) -> dict[tuple[str, str], dict[str, str | None]]:
    rows = {(row["pair"], row["version"]): row for row in observed.iter_rows(named=True)}
    for execution in (each for pair in pairs for each in pair.executions):
        row = rows.get(_key(execution))
        if row is None or row["notebook_sha256"] != execution.sha256:
            pair, version = _key(execution)
            problem = f"{pair!r}, {version}, was not observed as it is."
            raise BadInputError(path, "notebook_sha256", problem, corpus.OBSERVED_REMEDY)
    return rows


def _summary(text: str | None, path: Path) -> Summary:
    try:
        return parse_summary(text or "")
    except (ValueError, TypeError) as error:
        raise BadInputError(path, "summary", f"{error}.", corpus.OBSERVED_REMEDY) from error


def majority(cases: Sequence[Case]) -> list[CrashPrediction]:
    """What most development notebooks do; a tie is a crash, so that an exception can be named."""
    raised = [case.exception for case in cases if case.part == "development" and case.exception]
    most = max(sorted(set(raised)), key=raised.count)
    return [CrashPrediction(True, most, "Most that crash raise it.")] * len(cases)


def by_length(cases: Sequence[Case]) -> list[CrashPrediction]:
    """Crashes on one side of a number of characters of code."""
    known = [case for case in cases if case.part == "development"]
    sides = [
        (threshold, longer)
        for threshold in sorted({case.characters for case in known})
        for longer in (False, True)
    ]

    def right(side: tuple[int, bool]) -> int:
        threshold, longer = side
        return sum(
            ((case.characters >= threshold) == longer) == (case.exception is not None)
            for case in known
        )

    threshold, longer = max(sides, key=right)
    side = "at least" if longer else "fewer than"
    reason = f"Code of {side} {threshold:,} characters crashes, of development notebooks."
    return [
        CrashPrediction((case.characters >= threshold) == longer, None, reason) for case in cases
    ]


WORD: Final = r"[A-Za-z_]\w*|[-+]?\d+(?:\.\d+)?"  # a name or a number


def by_tokens(cases: Sequence[Case], arm: Arm) -> list[CrashPrediction]:
    """What a logistic regression on which words are there learnt of development notebooks."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    def text(case: Case) -> str:
        question = case.ask(arm)
        told = "" if question.summary is None else json.dumps(asdict(question.summary))
        return "\n".join((*question.executed, question.target, told))

    known = [case for case in cases if case.part == "development"]
    words = CountVectorizer(token_pattern=WORD, binary=True)
    model = make_pipeline(words, LogisticRegression(C=0.1, solver="liblinear"))
    model.fit(list(map(text, known)), [case.exception is not None for case in known])
    reason = "Words of code and summary are as in development notebooks that crash."
    return [
        CrashPrediction(True, None, reason) if crash else CrashPrediction(False, None, reason)
        for crash in model.predict(list(map(text, cases)))
    ]


# columns of the table; its key is the first four
ANSWER_SCHEMA: Final = pl.Schema(
    {
        "predictor": pl.String(),
        "arm": pl.String(),
        "pair": pl.String(),
        "version": pl.String(),  # of the notebook: "crashing" or "mended"
        "crash": pl.Boolean(),  # null where the predictor cannot say
        "exception": pl.String(),  # null where none is named
        "reason": pl.String(),
        "line": pl.Int64(),  # of the target, counted from 1; null where none is pointed at
        "asked": pl.String(),  # sha256 of the question
        "maker": pl.String(),  # what answered: versions, or a hash of code
    }
)

KEY: Final = ("predictor", "arm", "pair", "version")
REMEDY: Final = "Restore it with git, or run `make record-crashes`."
ANSWER_TABLE: Final = AnswerTable(ANSWER_SCHEMA, KEY, KEY, ("asked", "maker"), REMEDY)
RESTORE: Final = "Restore it with git; data/reported/README.md says where it is from."
Counted = Literal["detection", "detection and diagnosis"]
TOOLS = ("pyright", "pylint")  # what is no language model
Share = Annotated[float, Field(ge=0, le=1)]


class PublishedRow(Record):
    """A row of ``data/reported/crane_llm.csv``; shares are fractions, empty where none is given."""

    model: str = Field(min_length=1)
    counted: Counted
    told: Literal["no", "yes"]
    precision: Share | Literal[""]
    recall: Share | Literal[""]
    f1: Share
    accuracy: Share


def read_published(path: Path) -> pl.DataFrame:
    """What each model gains in accuracy, a fraction, as counted in either way."""
    read = {"model", "counted", "told", "accuracy"}
    rows = [row.model_dump(include=read) for row in read_rows(path, PublishedRow, RESTORE)]
    wide = pl.DataFrame(rows).pivot("told", index=["model", "counted"], values="accuracy")
    of_models = set(wide.filter(~pl.col("model").is_in(TOOLS))["counted"])
    for counted in get_args(Counted):
        if counted not in of_models:
            raise BadInputError(path, "counted", f"no model is there of {counted!r}.", RESTORE)
    for model in wide.filter(pl.any_horizontal(pl.col("no", "yes").is_null()))["model"]:
        raise BadInputError(path, "told", f"{model!r} is not there with no and yes.", RESTORE)
    return wide.select("model", "counted", gain=pl.col("yes") - pl.col("no"))


CHUNK: Final = 20  # questions between two writes: what an interruption costs at most


def record(
    cases: Sequence[Case],
    predictors: Sequence[Predictor],
    path: Path,
    show: Callable[[str, int, int], None],
) -> int:
    """Ask what was not asked yet, of the same question and by what would answer today."""
    names = {case.notebook.card.pair for case in cases}
    number = 0
    with Replay(ANSWER_TABLE, path) as replay:
        replay.drop_strangers(lambda row: row["pair"] in names)
        for predictor in predictors:
            maker = predictor.maker
            wanted = [(arm, case) for arm in predictor.arms for case in cases]
            due = [
                (arm, case)
                for arm, case in wanted
                if not replay.has(_unit(predictor, arm, case), [(asked(case.ask(arm)), maker)])
            ]
            ask = predictor.build_for_many()
            for first in range(0, len(due), CHUNK):
                chunk = due[first : first + CHUNK]
                show(predictor.name, len(wanted) - len(due) + first, len(wanted))
                answers = ask([case.ask(arm) for arm, case in chunk])
                replay.keep(
                    dict(zip(KEY, _unit(predictor, arm, case), strict=True))
                    | asdict(answer)
                    | {"asked": asked(case.ask(arm)), "maker": maker}
                    for (arm, case), answer in zip(chunk, answers, strict=True)
                )
            show(predictor.name, len(wanted), len(wanted))
            number += len(due)
    return number


def _unit(predictor: Predictor, arm: Arm, case: Case) -> tuple[str, str, str, str]:
    return predictor.name, arm, case.notebook.card.pair, case.version
