# SPDX-License-Identifier: Apache-2.0
"""SARIF 2.1.0, for code scanning.

The report follows GitHub, the service that most people use, where it differs from the text of the standard:
- The standard requires a region of bytes in a binary file; GitHub shows a result only with a region of text. So each
  result has the empty region at 1:1, which claims no byte, and its bytes are in `address`. In a model in text form it
  has its line and column.
- For a region of text the upload reads the whole file, about ten megabytes a second. So results in large files have
  none.
- GitHub would compute the fingerprint from the first line of the file, and merge all results of one rule. So each
  result has its own.
- There are at most as many results as an upload may have.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import compress
from pathlib import Path
from typing import Any, Final, TextIO

from onnx_lint import __version__
from onnx_lint.common.record import replace
from onnx_lint.report import Diagnostic, FileReport, ProposedFix, RelatedPlace, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import shortened, visible
from onnx_lint.reporters.fingerprint import fingerprints
from onnx_lint.reporters.json_pieces import Elements, Properties, write_pieces
from onnx_lint.reporters.links import information_url
from onnx_lint.reporters.marks import rows_under
from onnx_lint.reporters.sarif_rules import NOTIFICATIONS, sarif_rules
from onnx_lint.reporters.uri import default_root, uri_of
from onnx_lint.reporters.wording import (
    description_of,
    internal_error_of,
    interrupted_of,
    not_verified_of,
    weakened_of,
    where_of,
)

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
MAX_RESULTS: Final = 25_000
MAX_RELATED: Final = 100
MAX_LINKED: Final = 10
MAX_MESSAGE: Final = 1000
MAX_NAME: Final = 300
INTERRUPTED: Final = 130
"""The exit code of an interrupted run."""
MAX_SIZE_WITH_LINE: Final = 256 * 1000 * 1000
"""The largest file whose results have a region by default."""

_REGION: Final = {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}
_VALUE_FIELDS: Final = frozenset({"input", "output", "value_info"})


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write one run with the results of all files."""
    root = options.root or default_root()
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": Elements([_run(report, root, options)])}
    write_pieces(Properties(log), stream)


def region_of(file: FileReport, wanted: str | None) -> str:
    """Return the region of the results of a file, one of SARIF_REGIONS."""
    return wanted or ("line" if file.size <= MAX_SIZE_WITH_LINE else "none")


def _run(report: Report, root: Path, options: Options) -> Properties:
    if options.show_suppressed:
        known = {id(item) for item in report.suppressed}
        files = (replace(file, diagnostics=(*file.diagnostics, *file.suppressed)) for file in report.files)
        report = replace(report, files=tuple(files))
    else:
        known = set()
    uris = [uri_of(file.path, root) for file in report.files]
    rules = sarif_rules(
        (*report.rules, *(item.rule for item in report.diagnostics)), report.edition, options.documentation
    )
    rule_indices = {rule["id"]: index for index, rule in enumerate(rules)}
    results = (
        result
        for index, (file, uri) in enumerate(zip(report.files, uris, strict=True))
        for result in _results(
            file, {"uri": uri, "index": index}, rule_indices, region_of(file, options.sarif_region), known
        )
    )
    notifications = list(_notifications(report, uris, rule_indices, options.internal_errors))
    left_out = len(report.diagnostics) - MAX_RESULTS
    if left_out > 0:
        notifications.append(_notification("too-many-results", "warning", f"{left_out:,} results were left out."))
    configured = [_notification("weakened-verdict", "note", f"{what}.") for what in weakened_of(report.weakened)]
    url = information_url(options.documentation)
    driver = {
        "name": "onnx-lint",
        "version": __version__,
        "semanticVersion": __version__,
        **({"informationUri": url} if url is not None else {}),
        "rules": rules,
        "notifications": NOTIFICATIONS,
    }
    crashed = any(file.internal_errors for file in report.files)
    successful = not report.not_linted and (not crashed or options.internal_errors == "warning")
    invocation = {"executionSuccessful": successful, "toolExecutionNotifications": notifications}
    if report.not_linted:
        invocation["exitCode"] = INTERRUPTED
        notifications.append(_notification("interrupted", "error", f"{interrupted_of(report)}."))
    if configured:
        invocation["toolConfigurationNotifications"] = configured
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": "onnx-lint/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "artifacts": [_artifact(file, uri) for file, uri in zip(report.files, uris, strict=True)],
        "results": Elements(compress(results, _are_worst(report.diagnostics))),
        "properties": {"edition": report.edition, "variant": report.variant},
    }
    return Properties(run)


def _artifact(file: FileReport, uri: str) -> dict[str, Any]:
    artifact: dict[str, Any] = {"location": {"uri": uri}, "roles": ["analysisTarget"]}
    if file.unreadable is None:
        artifact["length"] = file.size
        artifact["properties"] = {"kind": file.kind, **_described(file)}
    return artifact


def _described(file: FileReport) -> dict[str, Any]:
    """Return the description of the file, if known, as a property."""
    what = description_of(file)
    return {"facts": shortened(what, MAX_MESSAGE)} if what else {}


def _are_worst(diagnostics: Sequence[Diagnostic]) -> list[bool]:
    """Return for each diagnostic whether it is among the MAX_RESULTS most severe."""
    ranked = sorted(range(len(diagnostics)), key=lambda index: -diagnostics[index].severity)
    worst = set(ranked[:MAX_RESULTS])
    return [index in worst for index in range(len(diagnostics))]


# --- results


def _results(
    file: FileReport, artifact: dict[str, Any], rule_indices: dict[str, int], region: str, known: Collection[int]
) -> Iterator[dict[str, Any]]:
    marks = fingerprints(file.diagnostics, artifact["uri"])
    for item, mark in zip(file.diagnostics, marks, strict=True):
        digest, _, number = mark.partition(":")
        related = item.related[:MAX_RELATED]
        result = {
            "ruleId": item.rule,
            "ruleIndex": rule_indices[item.rule],
            "kind": "fail",
            "level": item.severity.label,
            "message": {"text": _message(item)},
            "locations": [_location(item, artifact, region)],
            "partialFingerprints": {"primaryLocationLineHash": f"{digest[:16]}:{number}", "onnxLint/v1": mark},
            "properties": _properties(item),
        }
        if item.count > 1:
            result["occurrenceCount"] = item.count
        if id(item) in known:
            justification = item.suppressed_by or "The baseline lists the finding."
            result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": justification}]
        if item.fix is not None and item.fix.patches:
            result["fixes"] = [_fix(item.fix, artifact)]
        if related:
            result["relatedLocations"] = [
                _related(place, number, artifact, region) for number, place in enumerate(related, 1)
            ]
        yield result


def _fix(fix: ProposedFix, artifact: dict[str, Any]) -> dict[str, Any]:
    """Return the fix as bytes to replace. SARIF has no word for its safety, so that the description says it."""
    replacements = [
        {"deletedRegion": {"byteOffset": offset, "byteLength": length}, "insertedContent": {"binary": new}}
        for offset, length, new in fix.patches
    ]
    said = f"{_inert(fix.message)} ({'safe' if fix.is_safe else 'unsafe'})"
    return {
        "description": {"text": said},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": replacements}],
    }


def _message(item: Diagnostic) -> str:
    """Return the message with links to the related places. GitHub shows only places that the message links to."""
    links = [f"[place {number}]({number})" for number in range(1, min(len(item.related), MAX_LINKED) + 1)]
    see_also = f" See also {', '.join(links)}." if links else ""
    return f"{_inert(item.message)}.{see_also}"


def _inert(text: str) -> str:
    """Return text from a model with `](` escaped, so that it cannot form a link."""
    return shortened(visible(text), MAX_MESSAGE).replace("](", "\\](")


def _location(item: Diagnostic, artifact: dict[str, Any], region: str) -> dict[str, Any]:
    where = where_of(item)
    place = visible(item.place)
    return {
        "physicalLocation": _with_snippet(_physical_location(item, artifact, region), item),
        "logicalLocations": [
            {
                "fullyQualifiedName": visible(item.pointer) or "/",
                "name": _name(item),
                "kind": _kind(item.place),
            }
        ],
        "message": {"text": f"{where} ({place})" if where else place},
    }


def _with_snippet(location: dict[str, Any], item: Diagnostic) -> dict[str, Any]:
    """Return the location with the lines around the finding as the snippet of its region, if it has one.

    For a model in text form these lines are not those of the file but another view of the model.
    """
    if not item.context or "region" not in location:
        return location
    rows: list[str] = []
    for line in item.context:
        rows.append(f"{line.label:>4} |  {line.text}")
        rows += ("     |  " + "".join(text for text, _ in row) for row in rows_under(line))
    lines = {"text": "\n".join(rows)}
    return location | {"region": location["region"] | {"snippet": {"rendered": lines} if item.position else lines}}


def _physical_location(item: Diagnostic | RelatedPlace, artifact: dict[str, Any], region: str) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": artifact}
    if item.position is not None:
        line, column = item.position
        return location | ({} if region == "none" else {"region": {"startLine": line, "startColumn": column}})
    if region == "line":
        location["region"] = _REGION
    if item.byte_range is None:
        return location
    start, end = item.byte_range
    if region == "bytes":
        return location | {"region": {"byteOffset": start, "byteLength": end - start}}
    return location | {"address": {"absoluteAddress": start, "length": end - start, "kind": "data"}}


def _name(item: Diagnostic) -> str:
    return shortened(visible(item.subject or item.node or item.place.rpartition(".")[2]), MAX_NAME)


def _kind(place: str) -> str:
    """Return the kind of the place: `value`, or the name of the field in the schema."""
    field = place.rpartition(".")[2].partition("[")[0]
    return "value" if field in _VALUE_FIELDS else field


def _related(place: RelatedPlace, number: int, artifact: dict[str, Any], region: str) -> dict[str, Any]:
    return {
        "id": number,
        "physicalLocation": _physical_location(place, artifact, region),
        "logicalLocations": [{"fullyQualifiedName": visible(place.pointer) or "/", "kind": _kind(place.place)}],
        "message": {"text": f"{_inert(place.message)} ({visible(place.place)})"},
    }


def _properties(item: Diagnostic) -> dict[str, Any]:
    properties: dict[str, Any] = {
        "place": visible(item.place),
        "pointer": visible(item.pointer),
        "clause": item.clause,
        "keyword": item.keyword,
        "anchor": item.anchor,
        "clauseSummary": item.clause_summary,
    }
    if item.allowed:
        properties["allowed"] = visible(item.allowed)
    if item.hint:
        properties["hint"] = visible(item.hint)
    if item.refused_by:
        properties["refusedBy"] = dict(item.refused_by)
    if item.byte_range is not None:
        start, end = item.byte_range
        properties |= {"byteOffset": start, "byteLength": end - start}
    return properties


# --- what could not be checked


def _notifications(
    report: Report, uris: list[str], rule_indices: dict[str, int], level: str
) -> Iterator[dict[str, Any]]:
    """Yield a notification for everything that could not be checked. `level`: the level of crashes."""
    for index, (file, uri) in enumerate(zip(report.files, uris, strict=True)):
        location = {"physicalLocation": {"artifactLocation": {"uri": uri, "index": index}}}
        if file.unreadable is not None:
            text = f"{visible(file.unreadable)}."
            yield _notification("unreadable-file", "error", text) | {"locations": [location]}
        if file.not_judged is not None:
            yield _notification("not-judged", "error", f"{visible(file.not_judged)}.") | {"locations": [location]}
        for what in not_verified_of(file):
            yield _notification("not-verified", "note", f"Not verified: {what}.") | {"locations": [location]}
        for error in file.internal_errors:
            text = visible(internal_error_of(error))
            crash = _notification("internal-error", level, f"{text[:1].upper()}{text[1:]}.") | {"locations": [location]}
            if error.rule in rule_indices:
                crash["associatedRule"] = {"id": error.rule, "index": rule_indices[error.rule]}
            yield crash


def _notification(name: str, level: str, text: str) -> dict[str, Any]:
    index = next(index for index, descriptor in enumerate(NOTIFICATIONS) if descriptor["id"] == name)
    return {
        "descriptor": {"id": name, "index": index},
        "level": level,
        "message": {"text": shortened(text, MAX_MESSAGE)},
    }
