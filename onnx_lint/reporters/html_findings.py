# SPDX-License-Identifier: Apache-2.0
"""The findings on the HTML page: grouped by file, each with its code, what is allowed, and a picture."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Final

from onnx_lint.common.visible import visible
from onnx_lint.input.locations import is_remote
from onnx_lint.report import ContextLine, Diagnostic, FileReport, InternalError, ProposedFix, Report
from onnx_lint.reporters.escape import shortened, shown_path
from onnx_lint.reporters.wording import (
    after_path,
    allowed_of,
    bytes_of,
    counted,
    internal_error_of,
)
from onnx_lint.spec.clauses import Severity

MAX_MESSAGE: Final = 1000
MAX_OPTIONS: Final = 500
INTERNAL_ERROR: Final = "internal error"

Found = tuple[FileReport, Diagnostic]
Crashed = tuple[FileReport, InternalError]


def text_of(text: str) -> str:
    """Return text for HTML: on one line, without markup."""
    return escape(shortened(visible(text), MAX_MESSAGE))


def prose_of(text: str) -> str:
    """Return a message for HTML, with the names in it in a code font."""
    pieces = _QUOTED.split(shortened(visible(text), MAX_MESSAGE))
    return "".join(f"<code>{escape(each)}</code>" if index % 2 else escape(each) for index, each in enumerate(pieces))


_QUOTED: Final = re.compile(r"'([^']+)'")


def common_folder(paths: Sequence[str]) -> str:
    """Return the folder that all paths begin with, and its slash; empty for a single path."""
    if len(paths) < 2:
        return ""
    least, greatest = min(paths), max(paths)
    same = next((index for index, (a, b) in enumerate(zip(least, greatest, strict=False)) if a != b), len(least))
    return least[: least.rfind("/", 0, same) + 1]


def rule_link(rule: str) -> str:
    """Return the name of a rule as a link to its documentation on the page."""
    return f'<a href="#rule-{text_of(rule)}">{text_of(rule)}</a>'


def findings_of(report: Report, found: Sequence[Found], crashes: Sequence[Crashed], folder: str) -> Iterator[str]:
    """Yield the section with the filter, and the findings and crashes of each file. `folder`: left out of paths."""
    yield "<section><h2>Findings</h2>"
    yield '<form id="filter" hidden role="search">'
    yield '<input type="search" name="text" placeholder="Search (/)" aria-label="Search" autocomplete="off">'
    levels = [level.label for level in reversed(Severity)]
    yield _select("severity", [INTERNAL_ERROR, *levels] if crashes else levels)
    yield _select("rule", sorted({item.rule for _, item in found} | {error.rule for _, error in crashes}))
    groups: dict[str, tuple[FileReport, list[InternalError], list[Diagnostic]]] = {}
    for file, error in crashes:
        groups.setdefault(file.path, (file, [], []))[1].append(error)
    for file, item in found:
        groups.setdefault(file.path, (file, [], []))[2].append(item)
    if len(report.files) > 1:
        yield _select("file", [shown_path(path).removeprefix(folder) for path in groups])
    else:
        yield '<input type="hidden" name="file" value="">'
    yield '<button type="reset">Reset</button><output id="shown" class="faint"></output></form>'
    traces: set[str] = set()
    picture = 0
    for file, errors, items in groups.values():
        name = text_of(shown_path(file.path).removeprefix(folder))
        yield f'<section class="file" data-file="{name}"><h3><code>{name}</code>'
        yield f'<span class="faint">{_counts(errors, items)}</span></h3>'
        for error in errors:
            yield _crash(error, with_trace=error.traceback not in traces)
            traces.add(error.traceback)
        for item in items:
            yield finding_of(file, item, picture if item.neighbourhood is not None else None)
            picture += item.neighbourhood is not None
        yield "</section>"
    left_out = len(report.diagnostics) - len(found)
    if left_out:
        yield f"<p>{counted(left_out, 'more finding')}, no worse than these, left out; the JSON report has all.</p>"
    yield "</section>"


def in_order_of_pages(found: Iterable[Found]) -> list[Found]:
    """Return findings as the page has them: files by their worst finding, and in each file errors first."""
    worst: dict[str, Severity] = {}
    listed = sorted(found, key=lambda each: -each[1].severity)
    for file, item in listed:
        worst.setdefault(file.path, item.severity)
    order = {path: number for number, path in enumerate(sorted(worst, key=lambda path: -worst[path]))}
    return sorted(listed, key=lambda each: order[each[0].path])


def _counts(errors: Sequence[InternalError], items: Sequence[Diagnostic]) -> str:
    said = [counted(len(errors), INTERNAL_ERROR)] if errors else []
    for level in reversed(Severity):
        if count := sum(item.severity is level for item in items):
            said.append(counted(count, level.label))
    return ", ".join(said)


def _crash(error: InternalError, *, with_trace: bool) -> str:
    """Return a crash as an entry that can be filtered like a finding. Equal traces are shown once."""
    lines = [escape(visible(line)) for line in error.traceback.splitlines()]
    trace = f"<pre>{chr(10).join(lines)}</pre>" if with_trace else "<p>The trace is that of an entry above.</p>"
    place = f"<code>{text_of(error.place)}</code>" if error.place is not None else ""
    return (
        f'<details class="finding" data-severity="{INTERNAL_ERROR}" data-rule="{text_of(error.rule)}">'
        f'<summary><b class="error">{INTERNAL_ERROR}</b> {text_of(internal_error_of(error))}'
        f'<span class="where">{place}</span></summary><div>{trace if lines else ""}</div></details>'
    )


def _select(name: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{text_of(value)}">{text_of(value)}</option>' for value in values[:MAX_OPTIONS])
    return f'<select name="{name}" aria-label="{name}"><option value="">any {name}</option>{options}</select>'


def finding_of(file: FileReport, item: Diagnostic, picture: int | None) -> str:
    """Return a finding as an entry that opens. `picture`: the number of its picture on the page, if it has one."""
    where = bytes_of(item.byte_range) if item.position is None else ""
    line = f"line {after_path(item.position)[1:]}: " if item.position is not None else ""
    clause = f"{item.clause} {item.keyword} ({item.anchor}): {item.clause_summary}"
    facts = [("clause", text_of(clause))]
    if allowed := allowed_of(item):
        facts.append(("allowed", prose_of(allowed)))
    if item.hint:
        facts.append(("help", prose_of(item.hint)))
    if item.fix is not None:
        facts.append(("fix", _fix(file, item.rule, item.fix)))
    facts += (("see also", f"<code>{text_of(place.place)}</code>: {prose_of(place.message)}") for place in item.related)
    facts.append(("rule", rule_link(item.rule)))
    rows = "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in facts)
    drawn = f'<div class="picture" data-picture="{picture}"></div>' if picture is not None else ""
    level, rule = item.severity.label, text_of(item.rule)
    open_first = " open" if picture == 0 else ""
    return (
        f'<details class="finding" data-severity="{level}" data-rule="{rule}"{open_first}><summary>'
        f'<b class="{level}">{level}</b> <span class="chip">{rule}</span> {prose_of(item.message)}'
        f'<span class="where">{line}<code>{text_of(item.place)}</code>{f" ({where})" if where else ""}</span></summary>'
        f"<div>{_context(item)}<dl>{rows}</dl>{drawn}</div></details>"
    )


def _fix(file: FileReport, rule: str, fix: ProposedFix) -> str:
    """Return what a fix does, and the command that makes it, with a button if a shell can read the path."""
    said = f"{text_of(fix.message)} ({'safe' if fix.is_safe else 'unsafe'})"
    path = f"./{file.path}" if file.path.startswith("-") else file.path
    command = f"onnx-lint fix{'' if fix.is_safe else ' --unsafe-fixes'} --select {rule} {shlex.quote(path)}"
    if file.path == "-" or is_remote(path) or text_of(command) != escape(command):
        return said
    return f'{said}<br><code>{escape(command)}</code> <button type="button" class="copy" hidden>Copy</button>'


def _context(item: Diagnostic) -> str:
    """Return the lines around the finding in ONNX's textual syntax, with the subject marked."""
    if not item.context:
        return ""
    margin = max(len(line.label) for line in item.context)
    lines = []
    for line in item.context:
        text = _code(line)
        lines.append(f'<span class="faint">{escape(visible(line.label)):>{margin}} | </span>{text}\n')
    return f"<pre>{''.join(lines)}</pre>"


def _code(line: ContextLine) -> str:
    """Return a line with its subject marked, and with the types of values before them as the syntax has them."""
    types = {(start, end): note for start, end, note in line.notes}
    pieces: list[str] = []
    at = 0
    for part in sorted({*types, *([line.mark] if line.mark is not None else [])}):
        start, end = part
        text = escape(visible(line.text[start:end]))
        pieces.append(escape(visible(line.text[at:start])))
        if part in types:
            pieces.append(f'<span class="faint">{escape(visible(types[part]))}</span> ')
        pieces.append(f"<mark>{text}</mark>" if part == line.mark else text)
        at = end
    return "".join([*pieces, escape(visible(line.text[at:]))])
