"""Croissant: the main tables described for programs, as JSON-LD.

Croissant 1.0 with its extension for responsible AI 1.0 (MLCommons; Akhtar et al., 2024, "Croissant:
A Metadata Format for ML-Ready Datasets"). Paths are relative to the folder of the document;
``data/context.json`` of the package is the context that the specification asks for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from failbench.publish.datacard.main_tables import DATA, Kind, MainTable
from failbench.publish.datacard.statements import Citation, Statements, declared

CONFORMS_TO = ("http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0")
DATA_TYPES: dict[Kind, str] = {"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}
"""By kind of value; keys with objects, or that a file may lack, are left to its readers."""


def croissant(citation: Citation, statements: Statements, tables: Sequence[MainTable]) -> str:
    """The description of the main tables, as the text of a JSON-LD document.

    Equal input gives equal bytes: no time, place or version of a tool is in it.
    """
    said = statements.model_dump(mode="json", by_alias=True)
    unintended = [f"Not intended: {use}" for use in statements.unintended_uses]
    said |= {
        "rai:dataUseCases": [*statements.intended_uses, *unintended],
        "rai:personalSensitiveInformation": [statements.personal],
    }
    document = {
        "@context": json.loads(declared("context.json")),
        "@type": "sc:Dataset",
        "name": "failbench",
        "description": f"{citation.title}. {citation.abstract}",
        "conformsTo": CONFORMS_TO,
        "citeAs": citation.bibtex,
        "creator": [
            {"@type": "sc:Organization", "name": author.name} for author in citation.authors
        ],
        "datePublished": citation.date_released.isoformat(),
        "inLanguage": "en",
        "isLiveDataset": False,
        "keywords": citation.keywords,
        "license": statements.licence_url,
        "version": citation.version,
        **{name: said[name] for name in sorted(said) if name.startswith("rai:")},
        "distribution": [part for table in tables for part in _distribution(table)],
        "recordSet": [_record_set(table) for table in tables],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _named(kind: str, name: str) -> dict[str, Any]:
    return {"@type": f"cr:{kind}", "@id": name, "name": name}


def _distribution(table: MainTable) -> Iterator[dict[str, Any]]:
    """Every file with its hash and size; and where the table has several, the set of them."""
    for file in table.files:
        yield {
            **_named("FileObject", file.path),
            "contentUrl": file.path,
            "contentSize": f"{file.size} B",
            "encodingFormat": file.media_type,
            "sha256": file.sha256,
        }
    if len(table.files) > 1:
        yield {
            **_named("FileSet", f"files-of-{table.name}"),
            "description": table.content,
            "encodingFormat": table.files[0].media_type,
            "includes": [file.path for file in table.files],
        }


def _record_set(table: MainTable) -> dict[str, Any]:
    first = table.files[0]
    source = {"fileObject": {"@id": first.path}}
    if len(table.files) > 1:
        source = {"fileSet": {"@id": f"files-of-{table.name}"}}
    fields = []
    for column in table.columns:
        if column.kind in DATA_TYPES:
            in_json = first.media_type == "application/json"
            extract = {"jsonPath": f"$.{column.name}"} if in_json else {"column": column.name}
            unit = f" [{column.unit}]" if column.unit else ""
            fields.append(
                {
                    **_named("Field", f"{table.name}/{column.name}"),
                    "description": f"{column.description}{unit}",
                    "dataType": DATA_TYPES[column.kind],
                    "source": {**source, "extract": extract},
                }
            )
    return {
        **_named("RecordSet", table.name),
        "description": f"{table.content} (rows: {table.rows}; {DATA}{table.pattern})",
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": fields,
    }
