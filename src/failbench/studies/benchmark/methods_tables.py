"""Tables of the methods, of their transfer, of reproducibility and of the prompt."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from failbench.methods.catalogue import CATALOGUE, CatalogueEntry
from failbench.methods.llm.prompt import Prompt
from failbench.reporting.captions import DEVELOPMENT_NOTE
from failbench.reporting.cells import ABSENT, Estimate, one_decimal, with_interval
from failbench.reporting.labels import CATEGORY_LABELS, reads_label
from failbench.reporting.table import Column, Table
from failbench.studies.benchmark.declarations import (
    category_transfer,
    checklist,
    data_transfer,
    methods_facts,
    signal_transfer,
)

CONDITIONS: Final = "conditions_to_read"

LONGEST: Final = 72
"""Letters of a printed line without spaces."""

METHODS_NOTE: Final = (
    "Reads: what answers rest on in every feature set; keywords of the error text are features and "
    "part of the set 19 + keywords. Learnt from: where thresholds and weights come from; training "
    "folds are the labelled failing runs of other scenarios than those tested, and the original's "
    "text is the study that is reproduced. True category: the method is handed it, and is an "
    "assumption and no diagnosis. Conditions: what a reader must check to verify one answer, mean "
    "over runs with a {interval:g} % interval over {n} scenarios, on the 19 features where it "
    "reads them; language models have none, and none of their answers is committed."
)
CONCEPTUAL_NOTE: Final = (
    "The original argues this and measured none of it (its section 8.9 calls the analysis "
    "conceptual), and neither do we: no run of these architectures is recorded here."
)
MARKS_NOTE: Final = (
    "By the original's Table 9, whose three marks are complete transfer and whose two are high "
    "transfer with minor changes; convolutional networks by its Table 7 as well, which rates the "
    "same on another scale. Transformers themselves have three marks in every category. The "
    "original has no row for unknown causes."
)
CHECKLIST_NOTE: Final = (
    "Questions after the machine learning reproducibility checklist (Pineau et al., 2021, "
    "Improving reproducibility in machine learning research, JMLR 22), in our words; where: files "
    "and folders of the repository."
)
PROMPT_NOTE: Final = (
    "Printed from the code for the run {run_id}, with its last {shown} steps; models are shown "
    "the last {steps}. The mark is a hash of the record, so that no text in a record can end it. "
    "The original's prompt could not be had; this one is ours, without examples, and the same for "
    "every model. Rows of the table of steps are broken after commas here. Answers are decoded at "
    "temperature {temperature:g}."
)


@dataclass(frozen=True)
class PromptLine:
    """A line of a prompt, with the message that it belongs to."""

    message: str
    text: str


def methods_tables(conditions: Mapping[str, Estimate], confidence: float) -> tuple[Table, ...]:
    """What methods read, transfer, and the checklist."""
    return (_methods(conditions, confidence), *_transfer(), _checklist())


def _methods(conditions: Mapping[str, Estimate], confidence: float) -> Table:
    facts = methods_facts()

    def said(entry: CatalogueEntry, what: str) -> str:
        return str(getattr(facts[entry.name], what)) if entry.name in facts else ABSENT

    def needed(entry: CatalogueEntry) -> str:
        if entry.name not in conditions:
            return ABSENT
        each = conditions[entry.name]
        return with_interval(each["value"], each["ci_low"], each["ci_high"], one_decimal)

    sizes = {int(each["n"]) for each in conditions.values()}
    return Table.of(
        "methods_read",
        (
            Column("Method", align="left", width=0.12, cell=lambda entry: entry.label),
            Column("Family", align="left", width=0.11, cell=lambda entry: entry.family),
            Column("Reads", align="left", width=0.14, cell=_reads),
            Column(
                "Learnt from",
                align="left",
                width=0.2,
                cell=lambda entry: said(entry, "learnt_from"),
            ),
            Column(
                "Abstains",
                align="left",
                width=0.14,
                cell=lambda entry: said(entry, "abstains"),
            ),
            Column(
                "What can be read",
                align="left",
                width=0.16,
                cell=lambda entry: said(entry, "readable"),
            ),
            Column("Conditions", align="left", width=0.13, cell=needed),
        ),
        CATALOGUE,
        f"What each of the {len(CATALOGUE)} methods reads, learns from, and shows of an answer.",
        (
            METHODS_NOTE.format(n=" or ".join(map(str, sorted(sizes))), interval=100 * confidence),
            DEVELOPMENT_NOTE,
        ),
    )


def _reads(entry: CatalogueEntry) -> str:
    return reads_label(entry.name) + (" (made in view)" if entry.made_in_view else "")


def _transfer() -> tuple[Table, ...]:
    return (
        Table.of(
            "transfer",
            (
                Column(
                    "Category",
                    align="left",
                    width=0.16,
                    cell=lambda row: CATEGORY_LABELS[row.category],
                ),
                Column("State space", align="left", width=0.11, cell=lambda row: row.ssm),
                Column(
                    "Convolutional (Table 9)", align="left", width=0.13, cell=lambda row: row.cnn
                ),
                Column(
                    "Convolutional (Table 7)",
                    align="left",
                    width=0.13,
                    cell=lambda row: row.cnn_table_7,
                ),
                Column("Vision", align="left", width=0.11, cell=lambda row: row.vit),
                Column("Stability", align="left", width=0.11, cell=lambda row: row.stability),
                Column("Why", align="left", width=0.25, cell=lambda row: row.reason),
            ),
            category_transfer(),
            "Conceptual, not measured: how far the original expects categories of failure to "
            "transfer from transformers to other architectures.",
            (CONCEPTUAL_NOTE, MARKS_NOTE),
        ),
        Table.of(
            "transfer_data",
            (
                Column(
                    "Data of a transformer",
                    align="left",
                    width=0.4,
                    cell=lambda row: row.transformer,
                ),
                Column(
                    "Data of a convolutional network",
                    align="left",
                    width=0.6,
                    cell=lambda row: row.cnn,
                ),
            ),
            data_transfer(),
            "Conceptual, not measured: failures of data of convolutional networks that the "
            "original's Table 8 likens to those of transformers.",
            (CONCEPTUAL_NOTE,),
        ),
        Table.of(
            "transfer_signals",
            (
                Column("Signal", align="left", width=0.2, cell=lambda row: row.signal),
                Column("State space", align="left", width=0.4, cell=lambda row: row.ssm),
                Column("Convolutional", align="left", width=0.4, cell=lambda row: row.cnn),
            ),
            signal_transfer(),
            "Conceptual, not measured: what the original's section 8.9 expects signals to tell "
            "in other architectures.",
            (CONCEPTUAL_NOTE,),
        ),
    )


def _checklist() -> Table:
    return Table.of(
        "reproduction_checklist",
        (
            Column("Part", align="left", width=0.09, cell=lambda row: row.part),
            Column("Question", align="left", width=0.22, cell=lambda row: row.question),
            Column("Answer", align="left", width=0.29, cell=lambda row: row.answer),
            Column("Where", align="left", width=0.4, cell=lambda row: ", ".join(row.where)),
        ),
        checklist(),
        f"{len(checklist())} questions on reproducibility, and where they are answered.",
        (CHECKLIST_NOTE,),
    )


def _short_lines(text: str) -> list[str]:
    """The lines of a text; long rows of numbers, which have no spaces, are broken after commas."""
    lines: list[str] = []
    for line in text.splitlines():
        if " " in line or len(line) <= LONGEST:
            lines.append(line)
            continue
        part = ""
        for value in re.findall(r"[^,]*,?", line):
            if len(part) + len(value) > LONGEST:
                lines.append(part)
                part = ""
            part += value
        lines.append(part)
    return lines


def prompt_table(prompt: Prompt, run_id: str, shown: int, steps: int, temperature: float) -> Table:
    """The two messages that a language model gets, a row a line."""
    lines = [
        PromptLine(message if not place else "", line)
        for message, text in (("system", prompt.system), ("user", prompt.user))
        for place, line in enumerate(_short_lines(text))
    ]
    return Table.of(
        "prompt",
        (
            Column("Message", align="left", width=0.1, cell=lambda line: line.message),
            Column("Text", align="left", width=0.9, cell=lambda line: line.text),
        ),
        lines,
        "The prompt of the language models, line by line.",
        (PROMPT_NOTE.format(run_id=run_id, shown=shown, steps=steps, temperature=temperature),),
    )
