"""Citation: what CITATION.cff says of the project, which the data card repeats."""

from __future__ import annotations

from datetime import date
from typing import Literal

from pydantic import Field

from failbench.base.records import Record


class Author(Record):
    """Who is cited."""

    name: str = Field(min_length=1)


class Citation(Record):
    """The content of CITATION.cff, of the Citation File Format 1.2."""

    cff_version: Literal["1.2.0"] = Field(alias="cff-version")
    message: str = Field(min_length=1)
    title: str = Field(min_length=1)
    type: Literal["software"]
    version: str = Field(pattern=r"^\d+\.\d+\.\d+$")
    date_released: date = Field(alias="date-released")
    license: Literal["MIT"]
    authors: tuple[Author, ...] = Field(min_length=1)
    abstract: str = Field(min_length=1)
    keywords: tuple[str, ...] = Field(min_length=1)

    @property
    def bibtex(self) -> str:
        """The reference as an entry of BibTeX."""
        authors = " and ".join(f"{{{author.name}}}" for author in self.authors)
        return (
            f"@misc{{failbench, title={{{self.title}}}, author={{{authors}}}, "
            f"version={{{self.version}}}, year={{{self.date_released.year}}}}}"
        )
