# SPDX-License-Identifier: Apache-2.0
"""The records of a shard as Parquet, where pyarrow is installed: one table of files, one of findings."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator, Mapping
from typing import Any, Final

FILE_COLUMNS: Final = {
    "path": "string",
    "size": "int64",
    "version": "string",
    "kind": "string",
    "producer": "string",
    "ir_version": "int64",
    "opset": "int64",
    "nodes": "int64",
    "graphs": "int64",
    "functions": "int64",
    "judged_by": "int64",
    "errors": "int64",
    "warnings": "int64",
    "notes": "int64",
    "internal_errors": "int64",
    "unreadable": "string",
    "not_judged": "string",
}
"""The columns of the table of files. `opset` is the version of ai.onnx; `version` tells the object from other ones."""

FINDING_COLUMNS: Final = {
    "path": "string",
    "rule": "string",
    "severity": "string",
    "message": "string",
    "place": "string",
    "offset": "int64",
    "length": "int64",
    "line": "int64",
    "column": "int64",
    "graph": "string",
    "node": "string",
    "operator": "string",
    "subject": "string",
    "clause": "string",
    "keyword": "string",
    "allowed": "string",
    "count": "int64",
    "fingerprint": "string",
}
"""The columns of the table of findings; `offset` and `length` are the bytes of the place."""

_ROWS: Final = 10_000
"""Rows that are held in memory at a time."""


def can_write_tables() -> bool:
    """Whether pyarrow is installed."""
    return importlib.util.find_spec("pyarrow") is not None


def write_tables(folder: str, files: str, findings: str) -> None:
    """Write `files.parquet` and `findings.parquet` from the records in two files of lines; nothing without pyarrow."""
    if can_write_tables():
        _write(os.path.join(folder, "files.parquet"), files, FILE_COLUMNS)
        _write(os.path.join(folder, "findings.parquet"), findings, FINDING_COLUMNS)


def _write(target: str, lines: str, columns: dict[str, str]) -> None:
    import pyarrow
    import pyarrow.parquet

    row_of = file_row if columns is FILE_COLUMNS else finding_row
    schema = pyarrow.schema([(name, getattr(pyarrow, kind)()) for name, kind in columns.items()])
    with open(target, "wb") as stream:
        with pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
            for rows in _batches(lines):
                writer.write_table(pyarrow.Table.from_pylist([row_of(row) for row in rows], schema=schema))
        stream.flush()
        os.fsync(stream.fileno())


def _batches(lines: str) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    with open(lines, "rb") as stream:
        for line in stream:
            rows.append(json.loads(line))
            if len(rows) == _ROWS:
                yield rows
                rows = []
    if rows:
        yield rows


def file_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the record of a file. Raises KeyError, TypeError or AttributeError for what is no such record."""
    facts = record["facts"] or {}
    imports = {each["domain"]: each["version"] for each in facts.get("opset_imports", ())}
    return {
        **{name: record.get(name) for name in ("path", "size", "kind", "judged_by", "unreadable", "not_judged")},
        **{name: facts.get(name) for name in ("producer", "ir_version", "nodes", "graphs", "functions")},
        **{name: record["summary"][name] for name in ("errors", "warnings", "notes")},
        "version": record["object"]["version"],
        "opset": imports.get("", imports.get("ai.onnx")),
        "internal_errors": len(record["internal_errors"]),
    }


def finding_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the record of a finding. Raises the same errors for what is none."""
    where = record["bytes"] or {}
    return {
        **{name: record.get(name) for name in FINDING_COLUMNS},
        "offset": where.get("offset"),
        "length": where.get("length"),
        "count": record.get("count", 1),
    }
