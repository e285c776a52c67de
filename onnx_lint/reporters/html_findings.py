# SPDX-License-Identifier: Apache-2.0
"""The findings on the HTML page: grouped by file, each with its code and what is allowed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from onnx_lint.common.record import Record
from onnx_lint.common.visible import visible
from onnx_lint.input.locations import is_remote
from onnx_lint.report.findings import ContextLine, Diagnostic, ProposedFix
from onnx_lint.report.totals import Report
from onnx_lint.reporters.escape import MAX_SHOWN_MESSAGE_CHARACTERS, shortened, shown_path
from onnx_lint.reporters.wording import (
    after_path,
    allowed_unless_said,
    answers_by_target,
    bytes_in_words,
    more_places_in_words,
    reworded_related,
)
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.file_report import FileReport
    from onnx_lint.report.pictures import Picture

MAX_OPTIONS: Final = 500

OPEN_FINDINGS: Final = 20
"""The number of findings that are open when the page is."""

OPEN_PICTURES: Final = 20
"""The number of pictures that are not folded."""

_QUOTED: Final = re.compile(r"""(?<!\w)(?:'((?:[^'\\]|\\.)+)'|"([^"]*'[^"]*)")(?!\w)""")
"""A name as `repr` quotes it, which takes double quotes for a name with an apostrophe; no apostrophe in a word."""


def escaped_text(text: str) -> str:
    """Return text for HTML: on one line, without markup."""
    return escape(shortened(visible(text), MAX_SHOWN_MESSAGE_CHARACTERS))


def escaped_prose(text: str) -> str:
    """Return a message for HTML, with the names in it in a code font."""
    text = shortened(visible(text), MAX_SHOWN_MESSAGE_CHARACTERS)
    pieces, at = [], 0
    for match in _QUOTED.finditer(text):
        pieces += [escape(text[at : match.start()]), f"<code>{escape(match[1] or match[2])}</code>"]
        at = match.end()
    return "".join([*pieces, escape(text[at:])])


def common_folder(paths: Sequence[str]) -> str:
    """Return the folder that all paths begin with, and its slash; empty for a single path."""
    if len(paths) < 2:
        return ""
    least, greatest = min(paths), max(paths)
    same = next((index for index, (a, b) in enumerate(zip(least, greatest, strict=False)) if a != b), len(least))
    return least[: least.rfind("/", 0, same) + 1]


def filter_link(name: str, value: str) -> str:
    """Return a value as a link that filters the page by it."""
    query = urlencode({name: shortened(visible(value), MAX_SHOWN_MESSAGE_CHARACTERS)})
    return f'<a href="#{escape(query)}">{escaped_text(value)}</a>'


def take_within(texts: Iterable[str], most: int) -> list[str]:
    """Return the first texts that together have at most `most` bytes."""
    found: list[str] = []
    for text in texts:
        most -= len(text.encode())
        if most < 0:
            break
        found.append(text)
    return found


class PageEntry(Record):
    """A finding on the page."""

    path: str
    item: Diagnostic
    picture: Picture | None = None

    @property
    def rules(self) -> tuple[str, ...]:
        """The rule of the finding, and those of the findings that are folded into it."""
        return (self.item.rule, *self.item.other_rules)

    @property
    def markup(self) -> tuple[str, str]:
        """The line that is shown while the entry is closed, and what is below it when it is open."""
        return f"<summary>{self._summary()}</summary>", f"<div>{self._body()}</div>"

    def _summary(self) -> str:
        item, level = self.item, self.item.severity.label
        where = bytes_in_words(item.byte_range) if item.position is None else ""
        line = f"line {after_path(item.position)[1:]}: " if item.position is not None else ""
        return (
            f'<b class="{level}">{level}</b> <span class="chip">{escaped_text(item.rule)}</span> '
            f"{escaped_prose(item.message)}"
            f'<span class="where">{line}<code>{escaped_text(item.place)}</code>{f" ({where})" if where else ""}</span>'
        )

    def _body(self) -> str:
        item = self.item
        facts: list[tuple[str, str]] = []
        if item.hint:
            facts.append(("help", escaped_prose(item.hint)))
        if allowed := allowed_unless_said(item):
            facts.append(("allowed", escaped_prose(allowed)))
        facts += [("target", escaped_text(said)) for said in answers_by_target(item)]
        fixable = item.first_with_fix
        if fixable.fix is not None:
            facts.append(("fix", _fix(self.path, fixable.rule, fixable.fix)))
        others = [
            ("see also", f"<code>{escaped_text(at.place)}</code>: {escaped_prose(at.message)}")
            for at in reworded_related(item)
        ]
        if more := more_places_in_words(item):
            others.append(("", more))
        clause = f"{item.clause} {item.keyword} ({item.anchor}): {item.clause_summary}"
        rule = escaped_text(item.rule)
        facts += [*others, ("clause", escaped_text(clause)), ("rule", f'<a href="#rule-{rule}">{rule}</a>')]
        return f"{_context(item)}{_list_of(facts)}"


WrittenEntries = Sequence[tuple[PageEntry, str]]
"""Findings with their markup."""


def rules_of(entries: WrittenEntries) -> list[str]:
    """Return the rules of findings, sorted."""
    return sorted({rule for entry, _ in entries for rule in entry.rules})


def entries_of(file: FileReport) -> Iterator[PageEntry]:
    """Yield the findings of a file for the page."""
    if not file.pictures:
        yield from [PageEntry(file.path, item) for item in file.diagnostics]
        return
    from onnx_lint.report.pictures import places_of

    pictures = {picture.about: picture for picture in file.pictures}
    for item in file.diagnostics:
        yield PageEntry(file.path, item, pictures.get(places_of(item)))


def render_entries(entries: Sequence[PageEntry], most: int) -> WrittenEntries:
    """Return the first findings that together have at most `most` bytes, each with its markup.

    The pictures take what the words leave.
    """
    words: list[tuple[str, str]] = []
    for entry in entries:
        line, body = entry.markup
        most -= len(line.encode()) + len(body.encode())
        if most < 0:
            break
        words.append((line, body))
    pairs = zip(entries, words, _pictures(entries, most), strict=False)
    return [(entry, f"{line}{picture}{body}") for entry, (line, body), picture in pairs]


def _pictures(entries: Iterable[PageEntry], left: int) -> Iterator[str]:
    """Yield the picture of each finding: the first few open, then folded, and none once they have no bytes left."""
    count = 0
    for entry in entries:
        if entry.picture is None or left <= 0:
            yield ""
            continue
        from onnx_lint.reporters.picture import svg_of

        picture = svg_of(entry.picture, entry.item.severity.label)
        count += 1
        if count > OPEN_PICTURES:
            picture = f'<details class="folded"><summary>Picture</summary>{picture}</details>'
        left -= len(picture.encode())
        yield picture


def findings_of(report: Report, entries: WrittenEntries, folder: str) -> Iterator[str]:
    """Yield the section with the findings. `folder`: left out of paths."""
    yield '<section id="findings"><h2>Findings</h2>'
    left = OPEN_FINDINGS
    for path, group in groupby(entries, key=lambda each: each[0].path):
        name = escaped_text(shown_path(path).removeprefix(folder))
        yield f'<section class="file" data-file="{name}"><h3><code>{name}</code></h3>'
        for entry, markup in group:
            level, rule = entry.item.severity.label, escaped_text(" ".join(entry.rules))
            is_open = " open" if left > 0 else ""
            left -= 1
            yield f'<details class="finding" data-severity="{level}" data-rule="{rule}"{is_open}>{markup}</details>'
        yield "</section>"
    if left_out := report.totals.findings.by_severity.total() - len(entries):
        yield f"<p>{counted(left_out, 'finding')} of no higher severity left out; the JSON report has all.</p>"
    yield "</section>"


def filter_form(report: Report, entries: WrittenEntries) -> str:
    """Return the form that filters findings and files; the script shows it. One finding in one file needs none."""
    if len(entries) + report.totals.files < 3:
        return ""
    return (
        '<form id="filter" hidden role="search" aria-label="Findings and files">'
        '<input type="search" name="text" placeholder="Search (/)" aria-label="Search" autocomplete="off">'
        + _select("severity", [level.label for level in reversed(Severity)])
        + _select("rule", rules_of(entries))
        + '<input name="file" placeholder="any file" aria-label="Part of the path" autocomplete="off">'
        + '<button type="reset">Reset</button><output id="shown" class="faint"></output></form>'
    )


def grouped_by_file(entries: Iterable[tuple[PageEntry, str]]) -> WrittenEntries:
    """Return findings, sorted by severity, in the order of the page: all findings of a file follow its worst one."""
    by_file: dict[str, list[tuple[PageEntry, str]]] = {}
    for each in entries:
        by_file.setdefault(each[0].path, []).append(each)
    return [each for found in by_file.values() for each in found]


def _select(name: str, values: Sequence[str]) -> str:
    options = "".join(
        f'<option value="{escaped_text(value)}">{escaped_text(value)}</option>' for value in values[:MAX_OPTIONS]
    )
    return f'<select name="{name}" aria-label="{name}"><option value="">any {name}</option>{options}</select>'


def _list_of(facts: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in facts)
    return f"<dl>{rows}</dl>" if rows else ""


def _fix(path: str, rule: str, fix: ProposedFix) -> str:
    """Return what a fix does, and the command that makes it if a shell can read the path."""
    said = f"{escaped_prose(fix.message)} ({'safe' if fix.is_safe else 'unsafe'})"
    path = f"./{path}" if path.startswith("-") and path != "-" else path
    command = f"onnx-lint fix{'' if fix.is_safe else ' --unsafe-fixes'} --select {rule} {shlex.quote(path)}"
    if fix.is_by_hand or path == "-" or is_remote(path) or escaped_text(command) != escape(command):
        return said
    return f"{said}<br><code>{escape(command)}</code>"


def _context(item: Diagnostic) -> str:
    """Return the lines around the finding in ONNX's textual syntax, with the subject marked."""
    if not item.context:
        return ""
    margin = max(len(line.label) for line in item.context)
    lines = []
    for line in item.context:
        text = _code(line)
        lines.append(f'<span class="faint">{escape(visible(line.label)):>{margin}} | </span><span>{text}\n</span>')
    return f'<pre class="code">{"".join(lines)}</pre>'


def _code(line: ContextLine) -> str:
    """Return a line with its subject marked."""
    if line.mark is None:
        return escape(visible(line.text))
    start, end = line.mark
    parts = (line.text[:start], line.text[start:end], line.text[end:])
    before, marked, after = (escape(visible(part)) for part in parts)
    return f"{before}<mark>{marked}</mark>{after}"
