# SPDX-License-Identifier: Apache-2.0
"""The columns of the tables of models and findings, and the rows for the records of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from onnx_lint.reporters.records import internal_error
from onnx_lint.reporters.wording import internal_error_of

LEVELS: Final = ("error", "warning", "note")

MODEL_COLUMNS: Final = {
    "path": "TEXT",
    "size": "INTEGER",
    "version": "TEXT",
    "kind": "TEXT",
    "producer": "TEXT",
    "ir_version": "INTEGER",
    "opset": "INTEGER",
    "nodes": "INTEGER",
    "graphs": "INTEGER",
    "functions": "INTEGER",
    "judged_by": "INTEGER",
    "errors": "INTEGER",
    "warnings": "INTEGER",
    "notes": "INTEGER",
    "internal_errors": "INTEGER",
    "unreadable": "TEXT",
    "not_judged": "TEXT",
}
"""The columns of the table of models. `opset` is the version of ai.onnx; `version` identifies the object's content."""

FINDING_COLUMNS: Final = {
    "path": "TEXT",
    "rule": "TEXT",
    "severity": "TEXT",
    "message": "TEXT",
    "place": "TEXT",
    "offset": "INTEGER",
    "length": "INTEGER",
    "line": "INTEGER",
    "column": "INTEGER",
    "graph": "TEXT",
    "node": "TEXT",
    "operator": "TEXT",
    "subject": "TEXT",
    "clause": "TEXT",
    "keyword": "TEXT",
    "allowed": "TEXT",
    "count": "INTEGER",
    "fingerprint": "TEXT",
}
"""The columns of the table of findings; `offset` and `length` are the bytes of the place."""


def model_row(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row for the record of a file."""
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
    """Return the row for the record of a finding."""
    where = record["bytes"] or {}
    return {
        **{name: record.get(name) for name in FINDING_COLUMNS},
        "offset": where.get("offset"),
        "length": where.get("length"),
        "count": record.get("count", 1),
    }


def reason_of(record: Mapping[str, Any]) -> str | None:
    """Return why there is no verdict on a file, by its record; None if there is one."""
    unreadable: str | None = record["unreadable"]
    if unreadable is not None:
        return unreadable
    if record["internal_errors"]:
        return "; ".join(internal_error_of(internal_error(error)) for error in record["internal_errors"])
    not_judged: str | None = record["not_judged"]
    return None if any(record["summary"][f"{level}s"] for level in LEVELS) else not_judged


def edition_of(specification: Mapping[str, str]) -> str:
    """Return the name of an edition in totals."""
    variant = specification["variant"]
    return f"ONNX {specification['edition']}" + (f" ({variant})" if variant != "onnx-ml" else "")
