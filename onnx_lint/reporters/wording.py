# SPDX-License-Identifier: Apache-2.0
"""Counts, byte ranges and facts in words, for the reporters for people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.report import (
    NAMED,
    OUT_OF_MEMORY,
    OWN_ERRORS,
    SUPPRESSORS,
    ContextLine,
    Counted,
    Diagnostic,
    FileFacts,
    FileReport,
    InternalError,
    RelatedPlace,
    Report,
    Shapes,
    Weakening,
)
from onnx_lint.reporters.escape import shortened, shown_path, visible
from onnx_lint.reporters.paint import columns
from onnx_lint.spec.clauses import Severity
from onnx_lint.spec.releases import newest_opset_version, normalized_domain
from onnx_lint.wording import counted, quote

MAX_IMPORTS_SHOWN = 8
MAX_PRODUCER_SHOWN = 100
MAX_SETTING_SHOWN = 200
MAX_SETTINGS_SHOWN = 20


def counts(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the number of diagnostics of each severity, errors first: `1 error, 2 warnings`."""
    return _levels(Counter(item.severity for item in diagnostics)) or "no findings"


def _levels(counts: Counter[Severity]) -> str:
    """Return the counts, errors first: `1 error, 2 warnings`; empty for none."""
    return ", ".join(counted(counts[level], level.label) for level in reversed(Severity) if counts[level])


def bytes_of(byte_range: tuple[int, int] | None) -> str:
    """Return `bytes 1186..1214` (end excluded), `byte 900` for an empty range, or nothing."""
    if byte_range is None:
        return ""
    start, end = byte_range
    return f"bytes {start}..{end}" if end > start else f"byte {start}"


def where_of(item: Diagnostic | RelatedPlace) -> str:
    """Return the position of a place: `line 12, column 3` in a text, otherwise its bytes, or nothing."""
    if item.position is None:
        return bytes_of(item.byte_range)
    line, column = item.position
    return f"line {line}, column {column}"


def allowed_of(item: Diagnostic) -> str | None:
    """Return what is allowed, for a reader of the message; None if the message says it in the same words."""
    allowed = item.allowed
    if not allowed or " " not in allowed:
        return allowed
    is_said = allowed in item.message and re.search(rf"(?<!\w){re.escape(allowed)}(?!\w)", item.message)
    return None if is_said else allowed


def by_target_of(item: Diagnostic) -> Iterator[str]:
    """Yield what each program of the target does with the finding: `onnxruntime 1.32.0: loads it`."""
    for program, said in item.by_target:
        yield visible(f"{program}: {said}")


def path_at(path: str, position: tuple[int, int] | None) -> str:
    """Return a path as reports show it, with line and column."""
    return f"{shown_path(path)}{after_path(position)}"


def after_path(position: tuple[int, int] | None) -> str:
    """Return line and column behind a path, as editors and terminals read them: `:12:3`, or nothing."""
    return "" if position is None else f":{position[0]}:{position[1]}"


def facts_of(facts: FileFacts) -> str:
    """Return the facts about a model: `IR version 8; ai.onnx 17; 412 nodes in 3 graphs; producer pytorch 2.1`."""
    shown = [f"{visible(domain) or 'ai.onnx'} {version}" for domain, version in facts.opset_imports]
    if len(shown) > MAX_IMPORTS_SHOWN:
        shown[MAX_IMPORTS_SHOWN:] = [counted(len(shown) - MAX_IMPORTS_SHOWN, "more operator set")]
    nodes = f"{counted(facts.nodes, 'node')} in {counted(facts.graphs, 'graph')}"
    if facts.functions:
        nodes += f" and {counted(facts.functions, 'function')}"
    producer = f"producer {visible(shortened(facts.producer, MAX_PRODUCER_SHOWN))}" if facts.producer else ""
    parts = (f"IR version {facts.ir_version}", ", ".join(shown) or "no operator set", nodes, producer)
    return "; ".join(part for part in parts if part)


def description_of(file: FileReport) -> str:
    """Return the description of a file: facts about a model, or what else it is; empty if unknown."""
    if file.facts is not None:
        return facts_of(file.facts)
    is_known = file.kind != MODEL_KIND and file.unreadable is None and file.not_judged is None
    return KINDS[file.kind].noun.replace("-", " ") if is_known else ""


def not_verified_of(file: FileReport) -> Iterator[str]:
    """Yield what was not verified in a file: operators without known signatures, and what was not examined."""
    imported = dict(file.facts.opset_imports) if file.facts is not None else {}
    for domain, nodes in file.not_verified:
        version, newest = imported.get(domain, imported.get(normalized_domain(domain), 0)), newest_opset_version(domain)
        is_newer = newest is not None and version > newest
        why = f"whose version {version} is not known" if is_newer else "whose operators have no known signature"
        yield visible(f"{counted(nodes, 'node')} of domain {quote(domain)}, {why}")
    if file.shapes is not None:
        yield from map(visible, _unknown_shapes(file.shapes))
    for what in file.incomplete:
        yield visible(what)


def remarks_of(file: FileReport) -> Iterator[tuple[str, str]]:
    """Yield what reports for people say of a file behind its verdict: a label, and a text.

    Crashes, fixes, the verdict for each target, what was not verified, and what is only counted.
    """
    for error in file.internal_errors:
        yield "internal error", visible(internal_error_of(error))
    repair = file.repair
    if repair is not None:
        if repair.fixed:
            yield "fixed", _by_rule(repair.fixed)
        if repair.revealed:
            yield "revealed", f"{_by_rule(repair.revealed)}, hidden until now"
        for what in repair.not_made:
            yield "not fixed", visible(what)
        for path, size in repair.written:
            yield "written", f"{shown_path(path)} ({counted(size, 'byte')})"
    for target in file.targets:
        yield target.program, visible(target.said)
    for what in not_verified_of(file):
        yield "not verified", what
    if file.counted:
        yield "pedantic", counted_of(file.counted)


_ENDS: Final = ("operator-without-import", "operator-without-signature", "operator-without-rule", "budget")
"""The causes of unknown shapes that text reports mention. Inputs without shapes, and shapes that depend on values, are
usual."""


def _unknown_shapes(shapes: Shapes) -> Iterator[str]:
    """Yield a line about values with unknown shapes because of unknown operators; JSON reports have all causes."""
    causes = [(kind, name, values) for kind, name, values in shapes.causes if kind in _ENDS]
    if causes:
        unknown = sum(values for _, _, values in causes)
        whose = f"the shapes of {unknown:,} of {counted(shapes.values, 'value')}"
        kind, name, _ = causes[0]
        if len(causes) > 1:
            yield f"{whose}: the shapes that {quote(name)} and {len(causes) - 1:,} more produce are unknown"
        elif kind == "operator-without-import":
            yield f"{whose}: no operator set is imported for {quote(name)}"
        else:
            yield f"{whose}: the shapes that {quote(name)} produces are unknown"


def weakened_of(weakened: Iterable[Weakening], *, quiet: bool = False) -> Iterator[str]:
    """Yield what each configuration file turns off: `onnx-lint.toml weakens the verdict: ignore = ["name"]`.

    `quiet`: only files that were discovered, not files that the user named.
    """
    for weakening in weakened:
        if quiet and not weakening.is_found:
            continue
        import json

        settings = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in weakening.settings]
        # A suppression's key repeats the file.
        settings = [re.sub(r'^suppress\."[^"]*, (suppress\[\d+\])"', r"\1", setting) for setting in settings]
        shown = [shortened(setting, MAX_SETTING_SHOWN) for setting in settings[:MAX_SETTINGS_SHOWN]]
        if len(settings) > len(shown):
            shown.append(f"{len(settings) - len(shown):,} more")
        yield visible(f"{weakening.file} weakens the verdict: {', '.join(shown)}")


def counted_of(found: Iterable[Counted]) -> str:
    """Return what is only counted: `215 names are not C90 identifiers: --pedantic lists them`; empty if nothing is."""
    found = tuple(found)
    numbers = ", ".join(item.describe() for item in found)
    them = "it" if sum(item.count for item in found) == 1 else "them"
    return f"{numbers}: --pedantic lists {them}" if numbers else ""


def standard_of(file: FileReport, report: Report) -> str:
    """Return the standard that a file was checked against: `ONNX 1.23 (onnx)`."""
    edition = report.edition if file.edition is None else file.edition
    variant = report.variant if file.variant is None else file.variant
    return f"ONNX {edition}" if variant == "onnx-ml" else f"ONNX {edition} ({variant})"


def outcome_of(file: FileReport, report: Report) -> str:
    """Return the last line about a file that was read, without its facts: `conforms to ONNX 1.23; 98 rules checked`.

    Rules without anything to look at do not count.
    """
    if is_ignored(file, report) and not file.suppressed:
        return "not judged: every rule is ignored"
    if file.conformity[0] and not file.diagnostics:
        return f"conforms to {standard_of(file, report)}; {counted(file.judged_by, 'rule')} checked"
    return state_of(file)


def is_ignored(file: FileReport, report: Report) -> bool:
    """Return whether the selection leaves no rule for this file, so that there is no verdict."""
    rules = report.rules if file.rules is None else file.rules
    return not (rules or file.diagnostics or file.unreadable)


def state_of(file: FileReport) -> str:
    """Return the numbers of findings of a file, first of ONNX's clauses, then of each plugin's, and of suppressed ones.

    `2 errors; house_rules.py: 1 warning; 3 suppressed by the baseline`
    """
    by_origin: dict[str | None, list[Diagnostic]] = {}
    for item in file.diagnostics:
        by_origin.setdefault(item.declared_by, []).append(item)
    own = by_origin.pop(None, [])
    conforms, _ = file.conformity
    if conforms and not own and file.diagnostics:
        parts = ["conforms to ONNX"]
    elif own or not by_origin or not conforms:
        parts = ["no new findings" if file.suppressed and not own else counts(own)]
    parts += [f"{visible(str(plugin))}: {counts(found)}" for plugin, found in by_origin.items()]
    parts += suppressed_of(Counter(item.suppressor for item in file.suppressed))
    parts += file.gaps
    return "; ".join(parts)


def suppressed_of(counts: Counter[str]) -> list[str]:
    """Return the numbers of suppressed findings, such as `3 suppressed by the baseline`."""
    return [f"{counts[source]:,} suppressed by the {source}" for source in SUPPRESSORS if counts[source]]


def fixable_of(counts: Counter[bool]) -> str:
    """Return the number of fixable findings: `2 fixable with --fix, 1 with --unsafe-fixes`; empty for none."""
    found = [(counts[True], "--fix"), (counts[False], "--fix --unsafe-fixes")]
    return ", ".join(f"{count:,} fixable with {option}" for count, option in found if count)


def _by_rule(counts: Sequence[tuple[str, int]]) -> str:
    """Return numbers of findings by rule: `3 findings: 2 of unordered-nodes, 1 of duplicate-value-info`."""
    total = sum(count for _, count in counts)
    return f"{counted(total, 'finding')}: " + ", ".join(f"{count:,} of {rule}" for rule, count in counts)


def worst_first(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics with errors before warnings before notes, otherwise in their order."""
    return sorted(diagnostics, key=lambda item: -item.severity)


def groups_of(diagnostics: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """Return the diagnostics grouped by rule, clause and severity, in the order of the first of each group."""
    groups: dict[tuple[str, str, Severity], list[Diagnostic]] = {}
    for item in diagnostics:
        groups.setdefault((item.rule, item.clause, item.severity), []).append(item)
    return list(groups.values())


def worst_of(file: FileReport) -> Severity | None:
    """Return the highest severity of the findings of a file; None if there are none."""
    return max((item.severity for item in file.diagnostics), default=None)


def is_unremarkable(file: FileReport, report: Report) -> bool:
    """Return whether a file conforms, or has no new findings, loads in each target, and nothing went wrong."""
    odd = file.diagnostics or file.internal_errors or file.unreadable is not None or file.not_judged is not None
    odd = odd or (file.repair is not None and bool(file.repair.fixed or file.repair.not_made or file.repair.written))
    odd = odd or any(target.loads is not True for target in file.targets)
    return not odd and not is_ignored(file, report)


def internal_error_of(error: InternalError) -> str:
    """Return a description of a crash: what crashed, where, and which work was skipped because of it."""
    if error.exception == OUT_OF_MEMORY:
        return OUT_OF_MEMORY
    if error.rule == OWN_ERRORS and not error.traceback:
        return f"{OWN_ERRORS}: {error.exception}"  # a process that ended, perhaps at a limit; there is no traceback
    what = f"the rule {error.rule} crashed" if error.rule != OWN_ERRORS else "onnx-lint crashed"
    if error.work is not None:
        what += f" while {error.work}"
    where = ", ".join(filter(None, (error.node, error.place)))
    if where:
        what += f" at {where}"
    if error.nodes > 1:
        what += f", and at {counted(error.nodes - 1, 'more node')} of that operator"
    what += f": {error.exception}"
    if error.not_run:
        rules = ", ".join(error.not_run[:_MOST_RULES]) + (", ..." if len(error.not_run) > _MOST_RULES else "")
        what += f"; {counted(len(error.not_run), 'rule')} not run to the end: {rules}"
    return what


_MOST_RULES: Final = 10
"""The number of rules not run to name; the JSON report has all."""


def interrupted_of(report: Report) -> str:
    """Return the state of an interrupted run: `interrupted: 12 of 1,196 files were linted`."""
    done = report.totals.files
    were = "was" if done == 1 else "were"
    return f"interrupted: {done:,} of {counted(done + len(report.not_linted), 'file')} {were} linted"


def total_of(report: Report) -> str:
    """Return one line about all files:

    `1,196 models: 83 with errors, 210 with warnings; 1,019 errors, 430 warnings`.
    """
    totals = report.totals
    if report.not_linted and not totals.files:
        return interrupted_of(report)
    worst = totals.worst
    is_any_read = totals.unreadable < totals.files
    noun = "model" if is_any_read and totals.models == totals.files else "file"
    levels = [f"{worst[level]:,} with {level.label}s" for level in reversed(Severity) if worst[level]]
    new = "new " if totals.suppressed else ""
    state = (", ".join(levels) or f"no {new}findings") if is_any_read else "none checked"
    parts = [f"{counted(totals.files, noun)}: {state}"]
    if found := _levels(totals.levels):
        parts.append(found)
    if totals.fixed:
        parts.append(f"{counted(totals.fixed, 'finding')} fixed")
    if totals.unreadable and is_any_read:
        parts.append(f"{totals.unreadable:,} not checked")
    if totals.unexplained:
        parts.append(f"{totals.unexplained:,} not judged")
    if totals.internal_errors:
        parts.append(counted(totals.internal_errors, "internal error"))
    parts += suppressed_of(totals.suppressed)
    if report.stale:
        entries = f"{report.stale:,} {'entry' if report.stale == 1 else 'entries'}"
        parts.append(f"{entries} of the baseline no longer found")
    if report.not_linted:
        parts.append(interrupted_of(report))
    return "; ".join(parts)


def mark_under(line: ContextLine) -> str:
    """Return the row under a line of a model: carets below the subject of the finding; empty if it has no mark."""
    if line.mark is None:
        return ""
    start, end = (columns(line.text[:position]) for position in line.mark)
    return " " * start + "^" * max(end - start, 1)


def related_of(item: Diagnostic) -> Iterator[RelatedPlace]:
    """Yield the related places. The message of one with the same fault has only the names that differ."""
    same = {(each.place, each.message): each for each in item.members[1:]}
    for place in item.related:
        member = same.get((place.place, place.message))
        if member is not None and member.node and member.operator:
            subject = f"{quote(member.subject)} at " if member.subject and member.subject != member.node else ""
            said = f"the same fault: {subject}node {quote(member.node)} ({member.operator})"
            yield replace(place, message=said)
        else:
            yield place


def unnamed_of(item: Diagnostic) -> str:
    """Return how many places with the same fault are not related places; empty if there are none."""
    more = len(item.members) - NAMED
    return f"and {more:,} more" if more > 0 else ""
