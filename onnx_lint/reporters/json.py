# SPDX-License-Identifier: Apache-2.0
"""The report for programs, version 1; `docs/report.schema.json` is its JSON Schema.

Within a version only properties are added. There is no time stamp: the same input gives the same bytes. The text is
ASCII; names stand as they are, except that a lone surrogate, which no encoding can write, is replaced by its escape.
"""

from __future__ import annotations

import json
from typing import Any, Final, TextIO

from onnx_lint import __version__
from onnx_lint.report import Diagnostic, Facts, FileReport, InternalError, RelatedPlace, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import encodable, shown_path
from onnx_lint.reporters.fingerprint import fingerprints
from onnx_lint.spec.clauses import Severity

VERSION: Final = 1


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write the whole report as one JSON document."""
    json.dump(_encodable(_document(report)), stream, indent=2)
    stream.write("\n")


def _document(report: Report) -> dict[str, Any]:
    unreadable = sum(file.unreadable is not None for file in report.files)
    return {
        "version": VERSION,
        "tool": {
            "name": "onnx-lint",
            "version": __version__,
            "specification": {"edition": report.edition, "variant": report.variant},
            "rules": list(report.rules),
        },
        "files": [_file(file) for file in report.files],
        "summary": {
            "conforms": report.conforms,
            "files": len(report.files),
            "files_with_findings": sum(bool(file.diagnostics) for file in report.files),
            "unreadable": unreadable,
            "internal_errors": sum(len(file.internal_errors) for file in report.files),
            **_counts(report.diagnostics),
        },
    }


def _counts(diagnostics: tuple[Diagnostic, ...]) -> dict[str, int]:
    return {f"{level.label}s": sum(item.severity is level for item in diagnostics) for level in reversed(Severity)}


def _file(file: FileReport) -> dict[str, Any]:
    found = fingerprints(file.diagnostics)
    return {
        "path": shown_path(file.path) if file.path == "-" else file.path,
        "size": None if file.unreadable is not None else file.size,
        "facts": _facts(file.facts) if file.facts is not None else None,
        "diagnostics": [
            _diagnostic(item, fingerprint) for item, fingerprint in zip(file.diagnostics, found, strict=True)
        ],
        "unreadable": file.unreadable,
        "internal_errors": [_internal_error(error) for error in file.internal_errors],
        "summary": _counts(file.diagnostics),
    }


def _facts(facts: Facts) -> dict[str, Any]:
    return {
        "ir_version": facts.ir_version,
        "opset_imports": [{"domain": domain, "version": version} for domain, version in facts.opset_imports],
        "producer": facts.producer,
        "nodes": facts.nodes,
        "graphs": facts.graphs,
        "functions": facts.functions,
    }


def _diagnostic(item: Diagnostic, fingerprint: str) -> dict[str, Any]:
    return {
        "rule": item.rule,
        "severity": item.severity.label,
        "message": item.message,
        "place": item.place,
        "pointer": item.pointer,
        "bytes": _bytes(item.byte_range),
        "graph": item.graph,
        "node": item.node,
        "operator": item.operator,
        "subject": item.subject,
        "clause": item.clause,
        "keyword": item.keyword,
        "anchor": item.anchor,
        "clause_summary": item.clause_summary,
        "allowed": item.allowed,
        "related": [_related(place) for place in item.related],
        "fingerprint": fingerprint,
    }


def _related(place: RelatedPlace) -> dict[str, Any]:
    return {
        "place": place.place,
        "pointer": place.pointer,
        "bytes": _bytes(place.byte_range),
        "message": place.message,
    }


def _bytes(byte_range: tuple[int, int] | None) -> dict[str, int] | None:
    return {"offset": byte_range[0], "length": byte_range[1] - byte_range[0]} if byte_range is not None else None


def _internal_error(error: InternalError) -> dict[str, Any]:
    return {"rule": error.rule, "exception": error.exception, "traceback": error.traceback}


def _encodable(value: Any) -> Any:
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {key: _encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return value
