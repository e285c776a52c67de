# SPDX-License-Identifier: Apache-2.0
"""A report as plain data, for the formats for programs; `docs/report.schema.json` describes it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.report.file_report import FileFacts, FileReport, InternalError, Repair, Shapes, Traffic
from onnx_lint.report.totals import Report, Totals
from onnx_lint.report.verdict import verdict_in_words
from onnx_lint.reporters.escape import encodable, shown_path
from onnx_lint.reporters.json_text import without_none
from onnx_lint.reporters.statistics import by_operator, by_producer, statistics
from onnx_lint.spec.clauses import Severity
from onnx_lint.version import __version__

if TYPE_CHECKING:
    from onnx_lint.report.findings import Diagnostic, ProposedFix, RelatedPlace

VERSION: Final = 1
"""The version of the JSON report. Within a version properties are only added."""


def tool_record(report: Report) -> dict[str, Any]:
    """Return the program that made the report, the edition, and the rules."""
    return {
        "name": "onnx-lint",
        "version": __version__,
        "specification": {"edition": report.edition, "variant": report.variant},
        "rules": list(report.rules),
    }


def settings_record(report: Report) -> dict[str, Any]:
    """Return the settings by which code of others ran: the plugins, if there are any."""
    return without_none(settings=without_none(plugins=list(report.plugins)))


def summary_record(report: Report) -> dict[str, Any]:
    """Return the counts over all files."""
    totals = report.totals
    return {
        "conforms": report.conforms,
        **without_none(conforms_why=report.conforms_why),
        "verdict": verdict_in_words(report),
        "files": totals.files,
        "files_with_findings": totals.files - totals.findings.files_by_worst[None],
        "unreadable": totals.verdicts.unreadable,
        "not_judged": totals.verdicts.not_judged,
        "internal_errors": totals.internal_errors,
        **_counts(totals.findings.by_severity),
        "suppressed": totals.findings.suppressed.total(),
        "stale": report.stale,
        "statistics": [
            {"rule": rule, "severity": severity.label, "count": count} for rule, severity, count in statistics(report)
        ],
        "producers": [
            {"producer": producer, "models": counts.models, **_counts(counts.findings)}
            for producer, counts in by_producer(report)
        ],
        "operators": [
            {"domain": domain, "version": version, "operator": name, "nodes": counts.nodes, "models": counts.models}
            for (domain, version, name), counts in by_operator(report)
        ],
        **without_none(
            weakened=[{"file": weakening.file, "settings": dict(weakening.settings)} for weakening in report.weakened],
            not_linted=len(report.not_linted) or None,
        ),
        **(_remarks(totals) if totals.remarks is not None else {}),
    }


def _remarks(totals: Totals) -> dict[str, Any]:
    """Return the answer of each program for all files, and what was not verified."""
    from onnx_lint.report.remarks import answer_in_words, not_verified_in_run

    targets = [
        {
            "program": program,
            "loads": target.answers[True],
            "refuses": target.answers[False],
            "unknown": target.answers[None],
            "message": answer_in_words(target, totals),
        }
        for program, target in (totals.remarks.targets if totals.remarks is not None else {}).items()
    ]
    return without_none(targets=targets, not_verified=[*not_verified_in_run(totals)])


def file_record(file: FileReport) -> dict[str, Any]:
    """Return the record of a file without its diagnostics."""
    conformity = file.conformity
    return {
        "path": path_of(file),
        "conforms": conformity.conforms,
        **without_none(conforms_why=conformity.reason),
        "size": None if file.unreadable is not None else file.size,
        "kind": file.kind,
        "facts": _facts(file.facts) if file.facts is not None else None,
        "judged_by": file.judged_by,
        "unreadable": file.unreadable,
        "not_judged": file.why_not_judged,
        "not_verified": _not_verified(file),
        "shapes": _shapes(file.shapes) if file.shapes is not None else None,
        "incomplete": list(file.incomplete),
        "pedantic": [{"rule": item.rule, "count": item.count, "message": item.describe()} for item in file.counted],
        "internal_errors": [_internal_error(error) for error in file.internal_errors],
        "summary": _counts(Counter(item.severity for item in file.diagnostics)) | {"suppressed": len(file.suppressed)},
        **without_none(
            targets=[{"program": each.program, "loads": each.loads, "message": each.text} for each in file.targets],
            data_files=list(file.data_files),
            repair=file.repair and _repair(file.repair),
        ),
        **_differences(file),
        **without_none(remote=file.traffic and _traffic(file.traffic)),
    }


def _not_verified(file: FileReport) -> list[dict[str, Any]]:
    """Return what was not verified, in the words of text: domains with their nodes first, then what has no domain."""
    if not file.has_unverified:
        return []
    from onnx_lint.report.not_verified import not_verified_in_words

    messages = not_verified_in_words(file)
    of_domains = [{"domain": domain, "nodes": nodes, "message": next(messages)} for domain, nodes in file.not_verified]
    return [*of_domains, *({"domain": None, "nodes": 0, "message": message} for message in messages)]


def _repair(repair: Repair) -> dict[str, Any]:
    """Return what `onnx-lint fix` did to the file."""
    return {
        "fixed": [{"rule": rule, "count": count} for rule, count in repair.fixed],
        "revealed": [{"rule": rule, "count": count} for rule, count in repair.revealed],
        "not_made": list(repair.not_made),
        "problem": repair.problem,
        **without_none(written=[path for path, _ in repair.written]),
    }


def _traffic(traffic: Traffic) -> dict[str, Any]:
    """Return the network traffic of a remote model."""
    return {"requests": traffic.requests, "bytes": traffic.received, "version": traffic.version}


def _differences(file: FileReport) -> dict[str, Any]:
    """Return edition, variant and rules of the file if they differ from those of the run."""
    if file.edition is None:
        return {}
    return {"specification": {"edition": file.edition, "variant": file.variant}, "rules": list(file.rules or ())}


def diagnostic_records(file: FileReport, *, show_suppressed: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the diagnostics of a file in order, then the suppressed ones if asked for."""
    suppressed = file.suppressed if show_suppressed else ()
    if not (file.diagnostics or suppressed):
        return
    from onnx_lint.reporters.fingerprint import fingerprints

    each_fingerprint = fingerprints((*file.diagnostics, *suppressed))
    for item in file.diagnostics:
        yield _diagnostic(item, next(each_fingerprint))
    for item in suppressed:
        suppression = without_none(suppressed=True, suppressed_by=item.suppressed_by)
        yield _diagnostic(item, next(each_fingerprint)) | suppression


def path_of(file: FileReport) -> str:
    """Return the path as given or found; `<stdin>` for standard input."""
    return shown_path(file.path) if file.path == "-" else file.path


def json_safe(value: Any) -> Any:
    """Return the value with lone surrogates escaped, which no encoding can represent."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {key: json_safe(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_safe(item) for item in value]
    return value


def _counts(levels: Mapping[Any, int]) -> dict[str, int]:
    return {f"{level.label}s": levels[level] for level in reversed(Severity)}


def _shapes(shapes: Shapes) -> dict[str, Any]:
    causes = [{"kind": each.kind, "name": each.name, "values": each.values} for each in shapes.causes]
    return {
        "values": shapes.values,
        "known": shapes.values - shapes.unknown,
        "unknown": shapes.unknown,
        "causes": causes,
    }


def _facts(facts: FileFacts) -> dict[str, Any]:
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
        **without_none(
            refused_by=dict(item.by_target.refused_by),
            accepted_by={name: list(releases) for name, releases in item.by_target.accepted_by},
            hint=item.hint,
            no_fix=item.advice.no_fix,
            count=item.count if item.count > 1 else None,
            places=[_position(member) for member in item.folding.members],
            members=[_member(each) for each in item.folding.members if _has_more(each, item)],
            plugin=item.cited.declared_by,
            fix=item.fix and _fix(item.fix),
        ),
        **_line_and_column(item),
    }


def _has_more(member: Diagnostic, item: Diagnostic) -> bool:
    """Return whether a member of a finding says more than its place: another rule or clause, or a fix."""
    is_other = (member.rule, member.clause) != (item.rule, item.clause)
    return is_other or (member.fix is not None and item.fix is None)


def _member(member: Diagnostic) -> dict[str, Any]:
    """Return a finding that is folded into another one."""
    return {
        "rule": member.rule,
        "severity": member.severity.label,
        "clause": member.clause,
        "message": member.message,
        **_position(member),
        **without_none(hint=member.hint, fix=member.fix and _fix(member.fix)),
    }


def _fix(fix: ProposedFix) -> dict[str, Any]:
    edits = [
        {"edit": edit.kind, "place": edit.place, "pointer": edit.pointer, **without_none(before=edit.before)}
        for edit in fix.edits
    ]
    patches = [{"offset": offset, "length": length, "replacement": new} for offset, length, new in fix.patches]
    return {"message": fix.message, "safe": fix.is_safe, **without_none(edits=edits, bytes=patches)}


def _related(place: RelatedPlace) -> dict[str, Any]:
    return {**_position(place), "message": place.message}


def _position(item: Diagnostic | RelatedPlace) -> dict[str, Any]:
    """Return a place and where it is in the file."""
    return {
        "place": item.place,
        "pointer": item.pointer,
        "bytes": _bytes(item.byte_range),
        **_line_and_column(item),
    }


def _line_and_column(item: Diagnostic | RelatedPlace) -> dict[str, int]:
    """Return line and column of a place in a text; nothing for a binary file."""
    return {"line": item.position[0], "column": item.position[1]} if item.position is not None else {}


def _bytes(byte_range: tuple[int, int] | None) -> dict[str, int] | None:
    return {"offset": byte_range[0], "length": byte_range[1] - byte_range[0]} if byte_range is not None else None


def _internal_error(error: InternalError) -> dict[str, Any]:
    return {
        "rule": error.rule,
        "exception": error.exception,
        "traceback": error.traceback,
        **without_none(
            work=error.work,
            operator=error.operator,
            node=error.node,
            place=error.place,
            nodes=error.nodes or None,
            not_run=list(error.not_run),
        ),
    }
