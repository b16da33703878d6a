"""Stage negative_results: what was tried and did not help, as a page and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from failbench import study as st
from failbench.base.files import write_atomically
from shared.negative_results import NegativeResults

DECLARED = Path("data/reported/negative_results.yaml")
METRICS = Path("data/metrics")
RETIRED = Path("data/reported/retired.json")
DOCUMENT = Path("docs/negative_results.md")

RECORDED = "benchmark"
"""Metrics of the stage that counts what was recorded."""

NO_LONGER = "No longer borne out by the metrics:"
"""How a conclusion begins that new results contradict; a test refuses to have it committed."""

SHOWN = itemgetter("tried", "expected", "measured", "n", "concluded", "source")
"""Of an entry, in the columns of the table."""


def filled(declared: NegativeResults, metrics: Mapping[str, Any]) -> list[dict[str, str]]:
    """The entries with their numbers; a conclusion that these contradict gives way to what does."""
    texts = {entry.name: entry.model_dump() for entry in declared.entries}
    said, rows = st.Captions(DECLARED, texts, metrics), []
    for entry in declared.entries:
        found = said.estimates_in(entry.measured)
        n = sorted({round(n) for each in found if (n := each.get("n", each.get("pairs")))})
        keys = ("tried", "expected", "measured", "concluded")
        row = entry.model_dump(include={"title", "source"})
        row["n"] = ", ".join(map(str, n)) or st.ABSENT
        row |= {key: said.text(entry.name, key) for key in keys}
        unmet = "; ".join(said.unmet(entry.holds, f"{entry.name}.holds"))
        rows.append(row | ({"concluded": f"{NO_LONGER} {unmet}."} if unmet else {}))
    return rows


def document(rows: list[dict[str, str]], shown: st.Table) -> str:
    """The page, in markdown: a section for each entry."""
    head = f"""# What did not help

{shown.caption} The stage `negative_results` writes this page and the table of this paper's
appendix from `{DECLARED}`; no number in it is typed by hand.
"""
    sections = (
        f"## {row['title']}\n\n"
        f"- **Tried.** {row['tried']}\n"
        f"- **Why it should help.** {row['expected']}\n"
        f"- **Measured.** {row['measured']} (n = {row['n']}; {row['source']})\n"
        f"- **Concluded.** {row['concluded']}\n"
        for row in rows
    )
    return "\n".join((head, *sections, "## How to read it\n", "\n\n".join(shown.notes))) + "\n"


def read_metrics(name: str, keys: Iterable[str]) -> Mapping[str, Any]:
    """The metrics of a file, which has the keys that the entries name."""
    path = RETIRED if name == RETIRED.stem else METRICS / f"{name}.json"
    metrics = st.read_earlier(path)
    for key in sorted(keys):
        if st.at_path(metrics, key.removesuffix(".value")) is None:
            raise st.BadInputError(path, key, f"is missing, and {DECLARED} names it.", st.REMEDY)
    return metrics


def main() -> None:
    declared = st.read_facts(DECLARED, NegativeResults)
    named = {RECORDED: {"runs.all"}} | declared.keys_by_file()
    metrics = {name: read_metrics(name, keys) for name, keys in named.items()}
    rows, recorded = filled(declared, metrics), metrics[RECORDED]
    scale = st.scale_note(recorded["runs"]["all"], recorded)
    notes = {"development": st.DEVELOPMENT_NOTE, "scale": scale}
    said = st.Captions.read("negative_results", st.read_statistics(st.BootstrapSettings), notes)
    shown = st.sheet("negative_results", map(SHOWN, rows), said)
    concluded = [(row["title"], row["concluded"].startswith(NO_LONGER)) for row in rows]
    summary = pl.DataFrame(concluded, schema=["entry", "no longer so"], orient="row")
    st.publish("negative_results", tables=[shown], summary=summary)
    page = document(rows, shown)
    write_atomically(DOCUMENT, page.encode(), "Free some disk, and run the stage again.")


if __name__ == "__main__":
    st.run(main)
