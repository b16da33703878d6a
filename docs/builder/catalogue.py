"""Pages of the catalogue: one for each root cause and one for each symptom.

Everything on them is declared or recorded: titles, evidence and remedies in ``failbench.causes``,
``messages``, ``diagnose`` and ``monitor``, symptoms in ``failbench.publish.symptoms``, pictures in
telemetry. Which symptom a cause has is counted in the recorded runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from builder.pictures import draw, reference_runs
from failbench.base.scenarios import Scenario, read_scenarios
from failbench.base.telemetry import read_telemetry
from failbench.base.vocabulary import CATEGORIES
from failbench.causes.catalogue import Cause, Remedy, advice, cause_of_scenario, causes
from failbench.causes.support import supports
from failbench.diagnose.courses import Course, courses
from failbench.diagnose.outputs.outline import CATEGORY_WORDS
from failbench.diagnose.series import Check, checks
from failbench.messages.catalogue import Message, messages
from failbench.messages.literals import required_literals
from failbench.monitor.invariants import CATALOGUE as INVARIANTS
from failbench.publish.symptoms import Symptom, error_text, symptom_scenarios, symptoms
from failbench.study.cells import counted

MOST_SIGNS: Final = 6  # of one kind on a page, direct ones before others
COMMON: Final = ("torch", "cuda", "python", "any")  # libraries whose messages stand first
SHORTEST_WORDS: Final = 10  # letters of a message that are recognised
SHOWN_ERROR: Final = 300  # letters of a recorded error
MOST_PICTURES: Final = 3  # of one cause
HEAD: Final = '---\ntitle: "{title}"\ndescription: "{description}"\n---\n\n# {heading}\n'
TRY: Final = """
## Ask your own log

```console
$ failbench diagnose train.log
```

[How to install it](../index.md#install), [how often it is right](../works.md), and
[what an answer means](../diagnose.md). Nothing is sent anywhere.
"""


@dataclass(frozen=True)
class Recorded:
    """What was recorded of a scenario: its run that is shown, and where its picture lies."""

    scenario: Scenario
    run: Mapping[str, object]

    @property
    def picture(self) -> str:
        """The picture as a page of the catalogue shows it, with what it shows."""
        name = self.scenario.id
        what = f"{self.scenario.title}: a failing run over its healthy twin"
        return f"![{what}](../figures/runs/{name}.svg)\n\n*{self.sentence}*\n"

    @property
    def sentence(self) -> str:
        """What was wrong, and how and when the run failed."""
        onset, failed = self.run["onset_step"], self.run["failure_step"]
        begins = "from the start" if not onset else f"from step {onset}"
        return (
            f"{self.scenario.root_cause.rstrip('.')} ({begins}). The run failed at step {failed} "
            f"({self.run['outcome']}); its twin, the same run without the fault, did not."
        )


def catalogue_pages(root: Path, pages: Path) -> Iterator[tuple[str, str]]:
    """Each page by its place; pictures are drawn into the folder of pages."""
    scenarios = {each.id: each for each in read_scenarios(root / "data/scenarios")}
    telemetry = read_telemetry(root / "data/telemetry")
    runs = reference_runs(telemetry)
    recorded = {name: Recorded(scenarios[name], run) for name, run in runs.items()}
    draw(telemetry, runs, scenarios, root, pages / "figures/runs")
    shown = symptom_scenarios(telemetry)
    for cause in causes().values():
        of_cause = [recorded[name] for name, its in cause_of_scenario().items() if its == cause.id]
        yield f"causes/{cause.id}.md", cause_page(cause, of_cause, shown)
    yield "causes/index.md", causes_page()
    for symptom in symptoms():
        yield f"symptoms/{symptom.id}.md", symptom_page(symptom, shown, recorded)
    yield "symptoms/index.md", symptoms_page(shown)


def cause_page(cause: Cause, recorded: Sequence[Recorded], shown: pl.DataFrame) -> str:
    """How a cause is recognised and what to change."""
    advised = advice()[cause.id]
    names = [each.scenario.id for each in recorded]
    seen = shown.filter(pl.col("scenario").is_in(names))["symptom"].unique(maintain_order=True)
    titles = {each.id: each.title for each in symptoms() if each.id in set(seen)}
    parts = [
        head(f"{cause.title}: evidence and fix", advised.mechanism, cause.title),
        f"{advised.mechanism} Category: [{CATEGORY_WORDS[cause.category]}](../categories.md).\n",
    ]
    if titles:
        linked = ", ".join(f"[{title}](../symptoms/{name}.md)" for name, title in titles.items())
        parts.append(f"Seen as: {linked}.\n")
    parts += [*_signs(cause.id), *_errors(recorded), *_broken(cause.id)]
    if recorded:
        parts.append("## A failing run over its healthy twin\n")
        parts += [each.picture for each in recorded[:MOST_PICTURES]]
    parts += ["## What to change\n", *_numbered(map(remedy, advised.remedies))]
    parts.append("## How to distinguish it from other causes\n")
    parts += _listed(f"{each.measure} {each.tells}" for each in advised.settle)
    return "\n".join([*parts, TRY])


def _signs(cause: str) -> Iterator[str]:
    """What a log says: messages of libraries, and courses of what is logged."""
    found = [each for each in messages() if cause in each.causes[:2]]
    found.sort(
        key=lambda m: (m.causes[0] != cause, m.library not in COMMON, m.strength != "direct")
    )
    if found:
        yield "## What a log says\n"
        yield from _listed(message(each) for each in found[:MOST_SIGNS])
    declared: list[Check | Course] = [*checks().values(), *courses().values()]
    curves = [each for each in declared if cause in each.causes[:2]]
    curves.sort(key=lambda each: (each.strength != "direct", each.causes[0] != cause))
    if curves:
        yield "## What curves show\n"
        statements = dict.fromkeys(f"{each.statement.rstrip('.')}." for each in curves)
        yield from _listed(list(statements)[:MOST_SIGNS])


def message(given: Message) -> str:
    """What a message means, after the longest of its words that never change."""
    literals = required_literals(given.pattern.pattern)
    words = max((each.strip() for each in literals), key=len, default="").replace("`", "'")
    meaning = f"{given.meaning} ({given.library})"
    return f"`{words}`: {meaning}" if len(words) >= SHORTEST_WORDS else meaning


def _errors(recorded: Iterable[Recorded]) -> Iterator[str]:
    texts = {error_text(each.run) for each in recorded} - {None}
    if texts:
        yield "As recorded:\n"
        yield "```text"
        yield from sorted(text[:SHOWN_ERROR] for text in texts if text is not None)
        yield "```\n"


def _broken(cause: str) -> Iterator[str]:
    statements = {each.id: each.statement for each in INVARIANTS}
    broken = [each for each in supports("invariant").values() if cause in each.causes[:2]]
    broken.sort(key=lambda each: (each.strength != "direct", each.causes[0] != cause))
    if broken:
        yield "## What is no longer true\n"
        yield "The [monitor](../monitor.md) checks these in a live run:\n"
        yield from _listed(f"{statements[each.id]} (`{each.id}`)" for each in broken[:MOST_SIGNS])


def causes_page() -> str:
    """All root causes by category."""
    parts = [
        head(
            f"Root causes of failed transformer trainings: {len(causes())} explained",
            "Every root cause that failbench names, with evidence, remedies and recorded runs.",
            "Root causes",
        ),
        (
            f"The {len(causes())} root causes that `failbench diagnose` can name. Each page has "
            "the evidence, what to change, how to check that it helped, and recorded runs where "
            "the benchmark has the cause.\n"
        ),
    ]
    for category in CATEGORIES:
        parts.append(f"## {CATEGORY_WORDS[category].capitalize()}\n")
        of_category = (each for each in causes().values() if each.category == category)
        parts += _listed(f"[{each.title}]({each.id}.md)" for each in of_category)
    return "\n".join(parts)


def symptom_page(symptom: Symptom, shown: pl.DataFrame, recorded: Mapping[str, Recorded]) -> str:
    """The causes whose recorded runs show a symptom."""
    ranked = _by_cause(shown.filter(pl.col("symptom") == symptom.id))
    number = counted(len(ranked), "root cause")
    also = ", ".join(symptom.synonyms[:6])
    parts = [
        head(
            f"{symptom.title} in training: {number}, with recorded runs and fixes",
            f"{symptom.seen} {number.capitalize()}, what distinguishes them, and what to change.",
            symptom.title,
        ),
        f"{symptom.seen} Also called: {also}.\n",
        (
            f"{number.capitalize()} of the benchmark, in the order of how many recorded runs show "
            "this. That is not how common they are elsewhere.\n"
        ),
    ]
    for cause, counts in ranked.items():
        advised = advice()[cause]
        quick = next((each for each in advised.remedies if each.quick), advised.remedies[0])
        first = next(iter(counts))
        times = sum(times for times, _ in counts.values())
        runs = sum(runs for _, runs in counts.values())
        parts += [
            f"## {causes()[cause].title}\n",
            (
                f"{advised.mechanism} Shown by {times} of {counted(runs, 'recorded run')}. "
                f"[All about this cause](../causes/{cause}.md).\n"
            ),
            *_errors([recorded[first]]),
            recorded[first].picture,
            f"**To distinguish it:** {advised.settle[0].measure} {advised.settle[0].tells}\n",
            f"**To change:** {quick.change}\n",
        ]
    return "\n".join([*parts, TRY])


def symptoms_page(shown: pl.DataFrame) -> str:
    """All symptoms, with how many causes each has."""
    parts = [
        head(
            "My transformer training failed: find the cause by its symptom",
            "NaN, loss spike, plateau, out of memory, hang, slow steps: causes with recorded runs.",
            "By symptom",
        ),
        (
            "What do you see? Each page has the causes that show it in recorded runs, each over "
            "its healthy twin, what distinguishes them, and what to change.\n"
        ),
    ]
    for symptom in symptoms():
        number = len(_by_cause(shown.filter(pl.col("symptom") == symptom.id)))
        causes_of_it = counted(number, "cause")
        parts.append(f"- **[{symptom.title}]({symptom.id}.md)** ({causes_of_it}). {symptom.seen}")
    return "\n".join(parts) + "\n"


def _by_cause(shown: pl.DataFrame) -> dict[str, dict[str, tuple[int, int]]]:
    """Scenarios of each cause, with how many of how many runs show it, as they are ordered."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for row in shown.iter_rows(named=True):
        of_cause = found.setdefault(cause_of_scenario()[row["scenario"]], {})
        of_cause[row["scenario"]] = (row["shown"], row["runs"])
    return found


def remedy(given: Remedy) -> str:
    """A remedy as a paragraph."""
    return (
        f"{given.change} {given.why}\n    - *Expect:* {given.expected}\n"
        f"    - *Check:* {given.verify}\n    - *If not:* {given.otherwise}"
    )


def head(title: str, description: str, heading: str) -> str:
    """The head of a page: what a search engine shows, and the heading."""
    texts = {"title": title, "description": description}
    quoted = {name: text.replace('"', "'") for name, text in texts.items()}
    return HEAD.format(heading=heading, **quoted)


def _listed(texts: Iterable[str]) -> Iterator[str]:
    yield from (f"- {text}" for text in texts)
    yield ""


def _numbered(texts: Iterable[str]) -> Iterator[str]:
    yield from (f"{number}.  {text}" for number, text in enumerate(texts, start=1))
    yield ""
