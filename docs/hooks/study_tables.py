"""One page of every table and figure that a stage wrote: what the paper has no room for."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

PAGE = "tables.md"
LEAD = (
    "# All tables and figures\n\nAs stages wrote them; [studies](studies.md) has their questions.\n"
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page, and the figures that it shows."""
    root = Path(config.config_file_path).parent
    shared = set(config.extra["shared"])
    parts = [LEAD]
    for study in sorted(path for path in (root / "paper/tables").iterdir() if path.is_dir()):
        parts.append(f"\n## {study.name.replace('_', ' ')}\n")
        for figure in sorted((root / "figures").glob(f"{study.name}.svg")):
            place = f"figures/{figure.name}"
            parts.append(f"![What the study {study.name} found]({place})\n")
            if place not in shared:
                files.append(File.generated(config, place, abs_src_path=str(figure)))
        parts += [table.read_text(encoding="utf-8") for table in sorted(study.glob("*.md"))]
    files.append(File.generated(config, PAGE, content="\n".join(parts)))
    return files
