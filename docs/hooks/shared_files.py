"""Puts files from elsewhere in the repository into the site, where mkdocs.yml says."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add each file of ``extra.shared``."""
    root = Path(config.config_file_path).parent
    for place, source in config.extra["shared"].items():
        path = root / source
        if not path.is_file():
            raise PluginError(
                f"mkdocs.yml: extra.shared.{place}: {source} is no file of the repository. "
                "Name one, or take the line out."
            )
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files
