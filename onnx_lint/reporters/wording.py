# SPDX-License-Identifier: Apache-2.0
"""Counts, byte ranges and facts in words, for the reporters for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import replace
from onnx_lint.ir.documents.kinds import KINDS, MODEL_KIND
from onnx_lint.report.file_report import (
    OUT_OF_MEMORY,
    OWN_ERRORS,
    FileFacts,
    FileReport,
    InternalError,
)
from onnx_lint.report.finding_counts import counted_in_words
from onnx_lint.report.outcome import has_no_rules
from onnx_lint.report.totals import Report, Weakening
from onnx_lint.reporters.escape import shortened, shown_path, visible
from onnx_lint.reporters.paint import columns
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted, quote

if TYPE_CHECKING:
    from onnx_lint.report.findings import ContextLine, Diagnostic, ProposedFix, RelatedPlace

MAX_SHOWN_PER_RULE: Final = 3
"""The findings of one rule and clause in one file that reports for people show; the others are counted."""

MAX_IMPORTS_SHOWN = 8
MAX_PRODUCER_SHOWN = 100
MAX_SETTING_SHOWN = 200
MAX_SETTINGS_SHOWN = 20

_LIMITS_OF_FINDINGS: Final = frozenset({"external_bytes", "findings", "findings_per_rule"})
"""The limits beyond which a model is checked, but not everything is compared or reported."""

_MAX_RULES: Final = 10
"""The number of rules not run to name; the JSON report has all."""

SEE_ALSO: Final = "see also"
"""The label of the related places of a finding."""


def more_like_it(count: int, noun: str = "") -> str:
    """Return the number of findings that are not shown: `5 more like it`, `5 findings more like it`."""
    return f"{counted(count, noun) if noun else f'{count:,}'} more like it"


def bytes_in_words(byte_range: tuple[int, int] | None) -> str:
    """Return `bytes 1186..1214` (end excluded), `byte 900` for an empty range, or nothing."""
    if byte_range is None:
        return ""
    start, end = byte_range
    return f"bytes {start}..{end}" if end > start else f"byte {start}"


def position_in_words(item: Diagnostic | RelatedPlace) -> str:
    """Return the position of a place: `line 12, column 3` in a text, otherwise its bytes, or nothing."""
    if item.position is None:
        return bytes_in_words(item.byte_range)
    line, column = item.position
    return f"line {line}, column {column}"


def allowed_unless_said(item: Diagnostic) -> str | None:
    """Return what is allowed, for a reader of the message; None if the message says it in the same words."""
    allowed = item.allowed
    if not allowed or " " not in allowed:
        return allowed
    is_said = allowed in item.message and re.search(rf"(?<!\w){re.escape(allowed)}(?!\w)", item.message)
    return None if is_said else allowed


def answers_by_target(item: Diagnostic) -> Iterator[str]:
    """Yield what each program of the target does with a fault: `onnxruntime 1.32.0: loads with this fault`."""
    for program, said in item.by_target.answers:
        yield visible(f"{program}: {said}")


def labelled_guidance(item: Diagnostic) -> Iterator[tuple[str, str]]:
    """Yield what is right and what to do about a finding, each with a label: `allowed`, a program, `fix`, `help`."""
    if allowed := allowed_unless_said(item):
        yield "allowed", visible(allowed)
    for program, said in item.by_target.answers:
        yield visible(program), visible(said)
    if (fix := item.first_with_fix.fix) is not None:
        yield "fix", fix_in_words(fix)
    if item.hint:
        yield "help", visible(item.hint)


def guidance_sentences(item: Diagnostic) -> Iterator[str]:
    """Yield the same as `labelled_guidance` as sentences: `Allowed: one definition for each name.`"""
    return labels_as_sentences(labelled_guidance(item))


def labels_as_sentences(labelled: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield texts with a label as sentences: `Allowed: one definition for each name.`"""
    for label, what in labelled:
        yield sentence(f"{label_as_title(label)}: {what}")


def label_as_title(label: str) -> str:
    """Return a label as the first word of a sentence; the name of a program stays as it is."""
    return label.capitalize() if label in ("allowed", "fix", "help", SEE_ALSO) else label


def fix_in_words(fix: ProposedFix, command: str = "onnx-lint fix") -> str:
    """Return what a fix does, and the command that makes it if there is one."""
    if fix.is_by_hand:
        return f"{visible(fix.message)} (by hand: onnx-lint fix changes binary files only)"
    return f"{visible(fix.message)} ({command}{'' if fix.is_safe else ' --unsafe-fixes'})"


def sentence(text: str) -> str:
    """Return a message as a sentence: with a full stop, unless it ends as a sentence does."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def path_at(path: str, position: tuple[int, int] | None) -> str:
    """Return a path as reports show it, with line and column."""
    return f"{shown_path(path)}{after_path(position)}"


def after_path(position: tuple[int, int] | None) -> str:
    """Return line and column to append to a path, as editors and terminals read them: `:12:3`, or nothing."""
    return "" if position is None else f":{position[0]}:{position[1]}"


def facts_in_words(facts: FileFacts) -> str:
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


def file_description(file: FileReport) -> str:
    """Return the description of a file: facts about a model, or what else it is; empty if unknown."""
    if file.facts is not None:
        return facts_in_words(file.facts)
    is_known = file.kind != MODEL_KIND and file.unreadable is None and file.not_judged is None
    return KINDS[file.kind].noun.replace("-", " ") if is_known else ""


def labelled_remarks(file: FileReport) -> Iterator[tuple[str, str]]:
    """Yield the remarks that follow the verdict on a file in reports for people: a label, and a text.

    Crashes, fixes, the verdict for each target, what was not verified, and what is only counted.
    """
    for error in file.internal_errors:
        yield "internal error", visible(crash_in_words(error))
    yield from repair_remarks(file)
    for target in file.targets:
        yield target.program, visible(target.text)
    yield from limit_remarks(file)


def repair_remarks(file: FileReport) -> Iterator[tuple[str, str]]:
    """Yield the remarks on the fixes of a file: a label, and a text."""
    repair = file.repair
    if repair is None:
        return
    if repair.fixed:
        yield "fixed", _by_rule(repair.fixed)
    if repair.revealed:
        yield "revealed", f"{_by_rule(repair.revealed)}, hidden until now"
    for what in repair.not_made:
        yield "not fixed", visible(what)
    for path, size in repair.written:
        yield "written", f"{shown_path(path)} ({counted(size, 'byte')})"


def limit_remarks(file: FileReport) -> Iterator[tuple[str, str]]:
    """Yield the remarks on what was not verified in a file, and what is only counted: a label, and a text."""
    if file.has_unverified:
        from onnx_lint.report.not_verified import not_verified_in_words

        for what in not_verified_in_words(file):
            yield "not verified", what
    if file.counted:
        yield "pedantic", counted_in_words(file.counted)


def weakenings_in_words(weakened: Iterable[Weakening], *, quiet: bool = False) -> Iterator[str]:
    """Yield what each configuration file turns off: `onnx-lint.toml weakens the verdict: ignore = ["name"]`.

    A setting by which a verdict may also become stricter "changes" it.
    `quiet`: only files that were discovered, not files that the user named.
    """
    for weakening in weakened:
        if quiet and not weakening.is_found:
            continue
        settings = dict(weakening.settings)
        changing = {key: settings.pop(key) for key in list(settings) if _may_be_stricter(key, settings[key])}
        if settings:
            yield visible(f"{weakening.file} weakens the verdict: {_settings_in_words(settings)}")
        if changing:
            yield visible(f"{weakening.file} changes the verdict: {_settings_in_words(changing)}")


def _may_be_stricter(key: str, value: Any) -> bool:
    """Return whether a verdict may become weaker or stricter by a setting, such as a limit that lets more be checked.

    With a lower one of `_LIMITS_OF_FINDINGS`, it can only become weaker.
    """
    name, _, limit = key.partition(".")
    if name != "limits":
        return name == "edition"
    if limit not in _LIMITS_OF_FINDINGS:
        return True
    from onnx_lint.input.limits import DEFAULT_LIMITS

    return bool(getattr(DEFAULT_LIMITS.with_values({limit: value}), limit) > getattr(DEFAULT_LIMITS, limit))


def _settings_in_words(given: Mapping[str, Any]) -> str:
    """Return the first settings as `key = value`, with values as in JSON, and the number of the others."""
    import json

    settings = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in given.items()]
    # A suppression's key repeats the file.
    settings = [re.sub(r'^suppress\."[^"]*: (suppress\[\d+\])"', r"\1", setting) for setting in settings]
    shown = [shortened(setting, MAX_SETTING_SHOWN) for setting in settings[:MAX_SETTINGS_SHOWN]]
    if len(settings) > len(shown):
        shown.append(f"{len(settings) - len(shown):,} more")
    return ", ".join(shown)


def _by_rule(counts: Sequence[tuple[str, int]]) -> str:
    """Return numbers of findings by rule: `3 findings: 2 of unordered-nodes, 1 of duplicate-value-info`."""
    total = sum(count for _, count in counts)
    return f"{counted(total, 'finding')}: " + ", ".join(f"{count:,} of {rule}" for rule, count in counts)


def worst_first(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the diagnostics with errors before warnings before notes, otherwise in their order."""
    return sorted(diagnostics, key=lambda item: -item.severity)


def grouped_findings(diagnostics: Iterable[Diagnostic]) -> list[list[Diagnostic]]:
    """Return the diagnostics grouped by rule, clause and severity, in the order of the first of each group."""
    groups: dict[tuple[str, str, Severity], list[Diagnostic]] = {}
    for item in diagnostics:
        groups.setdefault((item.rule, item.clause, item.severity), []).append(item)
    return list(groups.values())


def worst_finding(file: FileReport) -> Severity | None:
    """Return the highest severity of the findings of a file; None if there are none."""
    return max((item.severity for item in file.diagnostics), default=None)


def is_unremarkable(file: FileReport, report: Report) -> bool:
    """Return whether a file conforms, or has no new findings, loads in each target, and nothing went wrong."""
    has_problem = bool(file.diagnostics or file.internal_errors) or file.failure is not None
    repair = file.repair
    has_repair = repair is not None and bool(repair.fixed or repair.not_made or repair.written)
    fails_target = any(target.loads is not True for target in file.targets)
    return not (has_problem or has_repair or fails_target or has_no_rules(file, report))


def crash_in_words(error: InternalError) -> str:
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
        rules = ", ".join(error.not_run[:_MAX_RULES]) + (", ..." if len(error.not_run) > _MAX_RULES else "")
        what += f"; {counted(len(error.not_run), 'rule')} not run to the end: {rules}"
    return what


def mark_under(line: ContextLine) -> str:
    """Return the row under a line of a model: carets below the subject of the finding; empty if it has no mark."""
    if line.mark is None:
        return ""
    start, end = (columns(line.text[:position]) for position in line.mark)
    return " " * start + "^" * max(end - start, 1)


def reworded_related(item: Diagnostic) -> Iterator[RelatedPlace]:
    """Yield the related places. The message of one with the same fault has only the names that differ."""
    from onnx_lint.report.findings import MAX_PLACES

    members = item.folding.members[1:MAX_PLACES]
    same = {(each.at, each.message): each for each in members if each.rule == item.rule}
    for place in item.related:
        member = same.get((place.at, place.message))
        if member is not None and member.node and member.operator:
            subject = f"{quote(member.subject)} at " if member.subject and member.subject != member.node else ""
            said = f"the same fault: {subject}node {quote(member.node)} ({member.operator})"
            yield replace(place, message=said)
        else:
            yield place


def more_places_in_words(item: Diagnostic) -> str:
    """Return how many places with the same fault are not related places; empty if there are none."""
    from onnx_lint.report.findings import MAX_PLACES

    more = len(item.folding.members) - MAX_PLACES
    return f"and {more:,} more; the JSON report lists all places" if more > 0 else ""


def labelled_places(item: Diagnostic) -> Iterator[tuple[str, str]]:
    """Yield the related places of a finding, each with the label `see also`, and how many more there are."""
    for place in reworded_related(item):
        where = position_in_words(place)
        at = visible(place.place) + (f" ({where})" if where else "")
        yield SEE_ALSO, f"{at}: {visible(place.message)}"
    if more := more_places_in_words(item):
        yield SEE_ALSO, more.removeprefix("and ")
