"""Second opinion: what a local language model makes of the same evidence, and where it differs."""

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal
from urllib.parse import quote

from pydantic import Field

from failbench.agents.contents import compact, contents_of, fit
from failbench.base.errors import BadInputError
from failbench.base.records import Record
from failbench.base.vocabulary import CATEGORIES, Category
from failbench.causes.catalogue import causes
from failbench.diagnose.answer import LogDiagnosis, level_of
from failbench.diagnose.outputs.document import document_of
from failbench.diagnose.outputs.outline import CATEGORY_WORDS, numbered, one_line, percent, sure
from failbench.methods.llm.answer import (
    AnswerForm,
    Chat,
    Unreadable,
    cache_path,
    fence_mark,
    read_as,
    read_cache,
    request_hash,
    visible,
)
from failbench.methods.llm.session import Progress, Session, connect
from failbench.methods.llm.settings import AskingSettings, ServedModel, full_name

ASKING: Final = AskingSettings(
    temperature=0, seed=0, context_tokens=8192, answer_tokens=768, timeout_seconds=600,
    attempts=3, pause_seconds=2,
)  # fmt: skip
RECORD: Final = 12_000  # letters that a model is shown of a log: half of its context
NO_CAUSE: Final = "none"
CATEGORY: Final = {"healthy": "healthy", **{f"{name}": CATEGORY_WORDS[name] for name in CATEGORIES}}
TITLES: Final = {name: f"“{cause.title}”" for name, cause in causes().items()}


class Opinion(Record):
    """A model's answer."""

    category: Category | Literal["healthy"]
    cause: Annotated[str, Field(json_schema_extra={"enum": [*causes(), NO_CAUSE]})]
    confidence: float = Field(ge=0, le=1)
    explanation: str
    evidence: tuple[int, ...]


class SecondOpinion(Record):
    """A model's answer beside ours; ``unreadable`` says why there is none."""

    model: str
    opinion: Opinion | None = None
    unreadable: str = ""
    disagreements: tuple[str, ...] = ()


def _read(text: str, done_reason: str | None) -> Opinion | Unreadable:
    return read_as(Opinion, text, done_reason, {"category": "wrong_category"})


FORM: Final = AnswerForm(Opinion.model_json_schema(), _read)


def chat_of(diagnosis: LogDiagnosis, *, failed: bool) -> Chat:
    """The messages: causes to choose from, and the evidence without what we make of it."""
    document = document_of(diagnosis).model_dump(mode="json")
    own = [each for cause in document["root_causes"] for each in cause["evidence"]]
    findings = {each["number"]: each for each in (*own, *document["other_evidence"])}
    contents = contents_of(diagnosis.log, errors_first=True).model_dump(mode="json")
    shown = {"findings": [findings[number] for number in sorted(findings)], **contents}
    fit(shown, RECORD)
    record = visible(compact(shown))
    mark = fence_mark(record)
    system = files("failbench.agents").joinpath("data/second_opinion.txt").read_text("utf-8")
    return Chat(
        system.format(
            known="It is known that the run failed.\n" if failed else "",
            causes="\n".join(f"- {c.id} ({c.category}): {c.title}" for c in causes().values()),
            categories=", ".join(f'"{name}"' for name in CATEGORIES),
            mark=mark,
        ),
        f"BEGIN RECORD {mark}\n{record}\nEND RECORD {mark}\nWhat is the root cause?",
    )


def second_opinion(
    diagnosis: LogDiagnosis,
    model: str,
    folder: Path,
    show: Callable[[Progress], None],
    *,
    host: str | None = None,
    failed: bool = False,
) -> SecondOpinion:
    """Ask a model on an Ollama server; what it answered before is kept in a folder."""
    chat = chat_of(diagnosis, failed=failed)
    cache = cache_path(folder, quote(full_name(model), safe=""))
    client = connect(host, ASKING.timeout_seconds)
    try:
        served = ServedModel(name=model)
        Session(client, model, served, ASKING, cache, form=FORM).ask([chat], show)
        key = request_hash(chat, FORM.schema, ASKING.options())
        answer = [each for each in read_cache(cache).answers if each.prompt == key][-1]
    except BadInputError as error:
        remedy = error.remedy  # some are for who has params.yaml and a repository
        if error.place.startswith(str(cache)):
            remedy = "Delete it, and ask again."
        elif "params.yaml" in remedy:
            remedy = "Update the server, or ask another model."
        raise BadInputError(error.place, error.field, error.problem, remedy) from error
    opinion = _read(answer.text, answer.done_reason)
    if isinstance(opinion, Unreadable):
        return SecondOpinion(model=model, unreadable=opinion.detail)
    told = disagreements(diagnosis, opinion, model)
    return SecondOpinion(model=model, opinion=opinion, disagreements=told)


def disagreements(diagnosis: LogDiagnosis, opinion: Opinion, model: str) -> tuple[str, ...]:
    """Where two answers differ, in sentences."""
    told = []
    ours = "healthy" if diagnosis.status == "healthy" else diagnosis.category
    if ours != opinion.category:
        names = "names no category" if ours is None else f"says {CATEGORY[ours]}"
        told.append(f"Category: failbench {names}, {model} says {CATEGORY[opinion.category]}.")
    shares = {each.cause.id: percent(each.confidence) for each in diagnosis.hypotheses}
    first = next(iter(shares), NO_CAUSE)
    if first != opinion.cause:
        its = TITLES.get(opinion.cause, one_line(opinion.cause))
        if opinion.cause != NO_CAUSE:
            its += f" ({shares.get(opinion.cause, 'for which nothing was found')})"
        told.append(f"Cause: failbench's first is {TITLES.get(first, first)}, {model}'s is {its}.")
    if ours == opinion.category and diagnosis.level != level_of(opinion.confidence):
        both = f"failbench is {sure(diagnosis.confidence)}, {model} {sure(opinion.confidence)}"
        told.append(f"Confidence: {both}.")
    if made_up := sorted(set(opinion.evidence) - set(numbered(diagnosis).values())):
        told.append(f"Evidence: {model} cites findings that are not there: {made_up}.")
    return tuple(told)


def paragraphs(second: SecondOpinion) -> list[str]:
    """A second opinion as it is read below the first."""
    head, opinion = f"Second opinion of {second.model}", second.opinion
    if opinion is None:
        return [f"{head}: its answer cannot be read ({second.unreadable})."]
    return [
        f"{head}: {CATEGORY[opinion.category]}, {percent(opinion.confidence)} sure by its own word",
        f"  {TITLES.get(opinion.cause, one_line(opinion.cause))}",
        f"  {one_line(opinion.explanation)}",
        f"  Evidence: {', '.join(map(str, opinion.evidence)) or NO_CAUSE}",
        "",
        "Where they disagree" if second.disagreements else "They agree.",
        *(f"  {each}" for each in second.disagreements),
    ]
