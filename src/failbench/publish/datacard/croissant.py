"""Croissant: the main tables described for programs, as JSON-LD.

Croissant 1.0 with its extension for responsible AI 1.0 (MLCommons; Akhtar et al., 2024, "Croissant:
A Metadata Format for ML-Ready Datasets"). Paths are relative to the folder of the document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from failbench.publish.datacard.citation import Citation
from failbench.publish.datacard.columns import Column, Kind
from failbench.publish.datacard.main_tables import DATA, DataFile, MainTable
from failbench.publish.datacard.statements import Statements

CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileObject": "cr:fileObject",
    "fileProperty": "cr:fileProperty",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""The context that the specification asks for."""

CONFORMS_TO = ("http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0")
DATA_TYPES: dict[Kind, str] = {"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}
"""By kind of value; keys with objects, or that a file may lack, are left to its readers."""


def croissant(citation: Citation, statements: Statements, tables: Sequence[MainTable]) -> str:
    """The description of the main tables, as the text of a JSON-LD document.

    Equal input gives equal bytes: no time, place or version of a tool is in it.
    """
    document = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": "failbench",
        "description": f"{citation.title}. {citation.abstract}",
        "conformsTo": list(CONFORMS_TO),
        "citeAs": citation.bibtex,
        "creator": [
            {"@type": "sc:Organization", "name": author.name} for author in citation.authors
        ],
        "datePublished": citation.date_released.isoformat(),
        "inLanguage": "en",
        "isLiveDataset": False,
        "keywords": list(citation.keywords),
        "license": statements.licence_url,
        "version": citation.version,
        **_responsible(statements),
        "distribution": list(_distribution(tables)),
        "recordSet": [_record_set(table) for table in tables],
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _responsible(said: Statements) -> dict[str, Any]:
    return {
        "rai:annotationsPerItem": said.labels_per_item,
        "rai:annotatorDemographics": list(said.annotators),
        "rai:dataAnnotationProtocol": said.annotation,
        "rai:dataBiases": list(said.biases),
        "rai:dataCollection": said.collection,
        "rai:dataCollectionMissingData": said.missing_data,
        "rai:dataLimitations": list(said.limitations),
        "rai:dataPreprocessingProtocol": list(said.preprocessing),
        "rai:dataReleaseMaintenancePlan": said.maintenance,
        "rai:dataSocialImpact": said.social_impact,
        "rai:dataUseCases": [
            *said.intended_uses,
            *(f"Not intended: {use}" for use in said.unintended_uses),
        ],
        "rai:machineAnnotationTools": list(said.machine_annotation),
        "rai:personalSensitiveInformation": [said.personal],
    }


def _distribution(tables: Iterable[MainTable]) -> Iterable[dict[str, Any]]:
    """Every file with its hash and size; and where a table has several, the set of them."""
    for table in tables:
        yield from map(_file_object, table.files)
        if len(table.files) > 1:
            yield {
                "@type": "cr:FileSet",
                "@id": f"files-of-{table.name}",
                "name": f"files-of-{table.name}",
                "description": table.content,
                "encodingFormat": table.files[0].media_type,
                "includes": [file.path for file in table.files],
            }


def _file_object(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": file.media_type,
        "sha256": file.sha256,
    }


def _record_set(table: MainTable) -> dict[str, Any]:
    several = len(table.files) > 1
    source = (
        {"fileSet": {"@id": f"files-of-{table.name}"}}
        if several
        else {"fileObject": {"@id": table.files[0].path}}
    )
    in_json = table.files[0].media_type == "application/json"
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"{table.content} (rows: {table.rows}; {DATA}{table.pattern})",
        "key": [{"@id": f"{table.name}/{name}"} for name in table.key],
        "field": [
            _field(table.name, column, source, in_json=in_json)
            for column in table.columns
            if column.kind in DATA_TYPES
        ],
    }


def _field(table: str, column: Column, source: dict[str, Any], *, in_json: bool) -> dict[str, Any]:
    unit = f" [{column.unit}]" if column.unit else ""
    extract = {"jsonPath": f"$.{column.name}"} if in_json else {"column": column.name}
    return {
        "@type": "cr:Field",
        "@id": f"{table}/{column.name}",
        "name": f"{table}/{column.name}",
        "description": f"{column.description}{unit}",
        "dataType": DATA_TYPES[column.kind],
        "source": {**source, "extract": extract},
    }
