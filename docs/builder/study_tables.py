"""One page of every table and figure that a stage wrote: for whoever looks one up."""

from __future__ import annotations

from pathlib import Path

# Where a study's figure has another name than the study.
FIGURES = {"tradeoff": "reported_measured"}
LEAD = (
    "# All tables and figures\n\nAs stages wrote them; [studies](studies.md) has their questions.\n"
)


def tables(root: Path) -> str:
    """The page."""
    parts = [LEAD]
    for study in sorted(path for path in (root / "paper/tables").iterdir() if path.is_dir()):
        parts.append(f"\n## {study.name.replace('_', ' ')}\n")
        figure = f"figures/{FIGURES.get(study.name, study.name)}.svg"
        if (root / figure).is_file():
            parts.append(f"![What the study {study.name} found]({figure})\n")
        parts += [table.read_text(encoding="utf-8") for table in sorted(study.glob("*.md"))]
    return "\n".join(parts)
