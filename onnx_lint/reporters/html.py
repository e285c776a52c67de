# SPDX-License-Identifier: Apache-2.0
"""One page for a browser: a summary of the run, and its findings with search and pictures.

The page needs no network, server or second file. Its Content-Security-Policy allows only its own two scripts and its
style, by their hashes; names from models are text, never markup. Its first findings and files are readable without
scripts. All others are in compressed JSON, which the scripts unpack when they are shown. Pictures are drawn with the
layout of dagre, a file next to this module.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import accumulate, islice
from typing import Any, Final, TextIO
from urllib.parse import urlencode

from onnx_lint import __version__
from onnx_lint.common import package_data
from onnx_lint.common.digest import sha256
from onnx_lint.common.record import Record
from onnx_lint.engine.registry import registry
from onnx_lint.report import FileReport, Neighbourhood, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.documentation import clauses_markdown, headed
from onnx_lint.reporters.escape import shortened, shown_path, visible
from onnx_lint.reporters.html_findings import (
    MAX_MESSAGE,
    PageEntry,
    common_folder,
    filter_of,
    findings_of,
    in_order_of_pages,
    text_of,
)
from onnx_lint.reporters.statistics import statistics
from onnx_lint.reporters.wording import (
    counted,
    description_of,
    is_unremarkable,
    outcome_of,
    remarks_of,
    total_of,
    weakened_of,
    worst_of,
)
from onnx_lint.spec.clauses import Severity

MAX_FINDINGS: Final = 10_000
"""The most findings on the page. The others, the least severe, are only counted, so that browsers stay fast."""

MAX_PACKED: Final = 3_000_000
"""The most bytes of findings on the page, compressed. The page stays below 5 MB."""

MAX_FILES: Final = 1_200_000
"""The most bytes of files on the page, compressed. Files without findings are left out beyond it."""

SHOWN_FINDINGS: Final = 200
"""The most findings that are markup. Scripts make the others when they are shown."""

MAX_SHOWN: Final = 500_000
"""The most characters of findings that are markup."""

PER_PART: Final = 100
"""The number of findings whose bodies and pictures are unpacked together."""

MAX_ROWS: Final = 500
"""The most rows of a chart."""

MAX_BARS: Final = 8
SHOWN_FILES: Final = 200
"""The most entries in the list of files without scripts, which show all of them a few hundred at a time."""

_HEAD: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="onnx-lint {version}">
<title>onnx-lint: {title}</title>
<style>{style}</style>
</head>
<body>
"""
_TAIL: Final = """<script>{layout}</script>
<script>{script}</script>
</body>
</html>
"""


_FileRow = tuple[str, str, Sequence[int]]
"""A file on the page: its path, its worst severity, and the numbers of the texts about it."""


class _PageFile(Record):
    """What the page says of a file."""

    path: str
    rank: tuple[int, bool]
    """The key that sorts files by what there is to say of them: findings, then failures, then nothing."""
    worst: str
    """The label of the worst finding; empty if there are none."""
    lines: tuple[int, ...]
    """The numbers of the texts about it."""


class Writer:
    """Keeps the worst findings and a few lines about each file, and writes the page."""

    def __init__(self, head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._head = head
        self._found: list[PageEntry] = []
        self._files: list[_PageFile] = []
        self._texts: dict[str, int] = {}
        """Each text once: of a folder of thousands nearly all states are the same."""
        self._counts: dict[str, Counter[Severity]] = {}
        """The findings of files that have some."""
        self._clean = 0
        self._unchecked = 0

    def file(self, file: FileReport) -> None:
        """Keep what the page says of the file."""
        lines = [_state(file, self._head), *(f"{label}: {what}" for label, what in remarks_of(file))]
        worst = worst_of(file)
        is_unchecked = file.failure is not None
        rank = -(worst or 0), not (file.internal_errors or is_unchecked)
        self._files.append(_PageFile(file.path, rank, worst.label if worst else "", tuple(map(self._number_of, lines))))
        self._clean += is_unremarkable(file, self._head)
        self._unchecked += is_unchecked
        if file.diagnostics:
            self._counts[file.path] = Counter(item.severity for item in file.diagnostics)
            self._found += [PageEntry(file.path, item) for item in file.diagnostics]
            if len(self._found) > 2 * MAX_FINDINGS:
                self._found = self._worst()

    def end(self, report: Report) -> None:
        """Write the page."""
        style, layout, script = _data("picture.css", "page.css"), _data("dagre.min.js"), _data("picture.js", "page.js")
        hashes = " ".join(f"'sha256-{_hash(text)}'" for text in (layout, script))
        style_hash = f"'sha256-{_hash(style)}'"
        policy = f"default-src 'none'; style-src {style_hash}; script-src {hashes}; base-uri 'none'; form-action 'none'"
        self._stream.write(
            _HEAD.format(policy=policy, version=__version__, title=text_of(total_of(report)), style=style)
        )
        self._stream.writelines(f"{part}\n" for part in self._body(report))
        self._stream.write(_TAIL.format(layout=layout, script=script))

    def _findings(self) -> list[PageEntry]:
        """Return the worst findings of all files, in the order of the page."""
        worst = self._worst()
        rows = ((entry.path, entry.summary, _part_of(entry)) for entry in worst)
        return in_order_of_pages(worst[: _number_that_fits(rows, MAX_PACKED)])

    def _worst(self) -> list[PageEntry]:
        return sorted(self._found, key=lambda entry: -entry.item.severity)[:MAX_FINDINGS]

    def _number_of(self, line: str) -> int:
        return self._texts.setdefault(shortened(visible(line), MAX_MESSAGE), len(self._texts))

    def _body(self, report: Report) -> Iterator[str]:
        entries = self._findings()
        yield f"<header><h1>onnx-lint</h1><p>{text_of(total_of(report))}</p>"
        standard = f"ONNX {report.edition}" + (f" ({report.variant})" if report.variant != "onnx-ml" else "")
        yield f'<p class="faint">Checked against {text_of(standard)} by onnx-lint {__version__}.'
        folder = common_folder([shown_path(file.path) for file in self._files])
        if folder:
            yield f" All paths are below <code>{text_of(folder)}</code>."
        yield "</p>"
        for what in weakened_of(report.weakened):
            yield f'<p class="warning">{text_of(what)}</p>'
        yield "</header><main>"
        yield self._tiles(report)
        is_single = len(self._files) == 1
        rules = {entry.item.rule for entry in entries}
        if len(rules) > is_single:  # of one rule and file, the finding itself says all
            yield '<section class="charts" aria-label="Charts">'
            yield _rule_chart(report)
            if not is_single:
                yield self._file_chart(folder)
            yield "</section>"
        sizes = accumulate(len(entry.details()) for entry in entries[:SHOWN_FINDINGS])
        shown = sum(size <= MAX_SHOWN for size in sizes)
        if entries:
            yield from findings_of(report, entries, shown, folder)
        else:
            yield filter_of(report, ())
        files = self._listed_files(report)
        numbers = {path: number for number, (path, *_) in reversed([*enumerate(files)])}  # the first of a path
        needed = max((numbers[entry.path] + 1 for entry in entries), default=0)
        rows = [(_shown_name(path, folder), worst, lines) for path, worst, lines in files]
        rows = rows[: max(needed, _number_that_fits(rows, MAX_FILES))]
        yield from _file_section(rows, list(self._texts), len(files), is_open=len(files) == 1 or not entries)
        yield from _data_elements(rows, list(self._texts), entries, shown, numbers)
        yield from documentation_of(sorted(rules))
        yield "</main>"

    def _tiles(self, report: Report) -> str:
        counts = report.totals.levels
        levels = [(level.label, counts[level]) for level in reversed(Severity)]
        crashes = report.totals.internal_errors
        unchecked = self._unchecked + len(report.not_linted)
        files = len(self._files) + len(report.not_linted)
        # Of a single file, the line above says how many there are and whether it is right.
        is_single = files == 1
        return tiles_of(
            [
                *([] if is_single else [(counted(files, "file"), "", "#")]),
                *([(counted(crashes, "internal error"), "error", _filter(files="internal error"))] if crashes else []),
                *((counted(count, name), name, _filter(severity=name)) for name, count in levels),
                *([(f"{unchecked:,} not checked", "warning", _filter(files=_NOT_CHECKED))] if unchecked else []),
                *([] if is_single else [(f"{self._clean:,} without findings", "good", _filter(files="conforms"))]),
            ],
        )

    def _file_chart(self, folder: str) -> str:
        """Return the chart of files, or of their folders if there are many files."""
        counts: dict[str, Counter[Severity]] = {}
        by_folder = len(self._counts) > MAX_ROWS
        for path, found in self._counts.items():
            name = shown_path(path).removeprefix(folder)
            name = f"{name.rpartition('/')[0]}/" if by_folder and "/" in name else name
            counts.setdefault(name, Counter()).update(found)
        order = sorted(counts.items(), key=lambda each: [-each[1][level] for level in reversed(Severity)])
        title = "Folder" if by_folder else "File"
        return chart(f"{title}s", title, [(_filter_link("file", name), found) for name, found in order])

    def _listed_files(self, report: Report) -> list[_FileRow]:
        """Return path, worst severity and texts of each file: files with findings first, unlinted ones last."""
        files = [(file.path, file.worst, file.lines) for file in sorted(self._files, key=lambda file: file.rank)]
        interrupted = (self._number_of(f"{_NOT_CHECKED}: the run was interrupted"),) if report.not_linted else ()
        return [*files, *((path, "", interrupted) for path in report.not_linted)]


def _file_section(rows: Sequence[_FileRow], texts: Sequence[str], count: int, *, is_open: bool) -> Iterator[str]:
    """Yield the section with the state of each file. `count`: the number of files, of which `rows` are on the page."""
    yield f'<section><details id="files"{" open" if is_open else ""}>'
    yield f"<summary><h2>Files ({count:,})</h2></summary>"
    yield '<p class="faint" id="listed"></p><ul id="list">'
    for path, _, lines in rows[:SHOWN_FILES]:
        yield f"<li><code>{escape(path)}</code> {'<br>'.join(escape(texts[number]) for number in lines)}</li>"
    yield "</ul>"
    if len(rows) > SHOWN_FILES:
        yield f'<p id="others" class="faint">and {len(rows) - SHOWN_FILES:,} more</p>'
    if left_out := count - len(rows):
        yield f"<p>{counted(left_out, 'more file')}, no worse than these, left out; the JSON report has all.</p>"
    yield "</details></section>"


def _data_elements(
    rows: Sequence[_FileRow],
    texts: Sequence[str],
    entries: Sequence[PageEntry],
    shown: int,
    numbers: Mapping[str, int],
) -> Iterator[str]:
    """Yield the data for the scripts: the files, and all findings but those that are markup, `shown` in number.

    `numbers`: the row of each file.
    """
    others = entries[shown:]
    rules = {rule: number for number, rule in enumerate(sorted({entry.item.rule for entry in others}))}
    data = {
        "perPart": PER_PART,
        "rules": [shortened(visible(rule), MAX_MESSAGE) for rule in rules],
        "texts": texts,
        "files": rows,
        "findings": [(numbers[each.path], each.severity, rules[each.item.rule], each.summary) for each in others],
    }
    yield _packed(data, 'id="data"')
    for start in range(0, len(entries), PER_PART):
        part = [
            ("" if number < shown else body, picture)
            for number, (body, picture) in enumerate(map(_part_of, entries[start : start + PER_PART]), start)
        ]
        yield _packed(part, 'class="part"')


def _data(*names: str) -> str:
    return "".join(package_data.read("onnx_lint.reporters", f"page/{name}").decode() for name in names)


def _hash(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def _packed(value: Any, attribute: str) -> str:
    """Return an element with compressed JSON, which the script unpacks."""
    text = json.dumps(value, separators=(",", ":"))
    data = base64.b64encode(zlib.compress(text.encode())).decode()
    return f'<script type="text/plain" {attribute}>{data}</script>'


def picture_data(drawn: Neighbourhood) -> Mapping[str, Any]:
    """Return what `drawPicture` in `page/picture.js` draws."""
    return {
        "nodes": [
            {"kind": visible(each.kind), "name": visible(each.name), "index": each.index, "fault": each.is_fault}
            for each in drawn.nodes
        ],
        "edges": [
            {
                "source": each.source,
                "target": each.target,
                "name": visible(each.name),
                "known": visible(each.known),
                "fault": each.is_fault,
            }
            for each in drawn.edges
        ],
        "cut": drawn.is_cut,
    }


def _number_that_fits(rows: Iterable[Any], most: int) -> int:
    """Return how many rows fit in `most` bytes of the page; names with little in common hardly compress."""
    size = number = 0
    left = iter(rows)
    while part := list(islice(left, PER_PART)):
        size += len(_packed(part, ""))
        if size > most:
            break
        number += len(part)
    return number


def _part_of(entry: PageEntry) -> tuple[str, Mapping[str, Any] | None]:
    """Return the body and the picture of an entry, which scripts unpack."""
    drawn = entry.item.neighbourhood
    return entry.body, picture_data(drawn) if drawn is not None else None


_NOT_CHECKED: Final = "not checked"


def _filter(**wanted: str) -> str:
    """Return the address of the page with a filter, which the script applies."""
    return f"#{urlencode(wanted)}"


def tiles_of(said: Iterable[tuple[str, str, str]]) -> str:
    """Return tiles with large numbers: a text that begins with its number, a CSS class, and an address on the page."""
    tiles = [(*text.partition(" ")[::2], name, target) for text, name, target in said]
    items = "".join(
        f"<li{' class=none' if number == '0' else ''}>"
        + (f'<a href="{escape(target)}">' if target else "")
        + f'<b class="{name}">{number}</b> {what}{"</a>" if target else ""}</li>'
        for number, what, name, target in tiles
    )
    return f'<ul class="tiles">{items}</ul>'


def _rule_chart(report: Report) -> str:
    rows = [(_filter_link("rule", rule), {level: count}) for rule, level, count in statistics(report)]
    return chart("Rules", "Rule", rows)


def _filter_link(name: str, value: str) -> str:
    """Return a value as a link that filters the page by it."""
    return f'<a href="{escape(_filter(**{name: shortened(visible(value), MAX_MESSAGE)}))}">{text_of(value)}</a>'


def chart(title: str, of: str, rows: Sequence[tuple[str, Mapping[Severity, int]]]) -> str:
    """Return bars on a common scale, divided by severity, with the numbers beside them.

    `rows`: the name, which is markup, and the number for each severity.
    """
    most = max(sum(found.values()) for _, found in rows)
    lines = []
    for name, found in rows[:MAX_ROWS]:
        start, bars = 0.0, ""
        for level in reversed(Severity):
            if found.get(level):
                width = 100 * found[level] / most
                bars += f'<rect class="{level.label}" x="{start:.2f}" y="0" width="{width:.2f}" height="10"/>'
                start += width
        said = ", ".join(counted(found[level], level.label) for level in reversed(Severity) if found.get(level))
        lines.append(
            f'<tr><th scope="row">{name}</th><td class="count">{said}</td>'
            f'<td><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{bars}</svg></td></tr>'
        )
    head = f'<thead hidden><tr><th scope="col">{of}</th><th scope="col">Findings</th><td></td></tr></thead>'
    tables = [f"<table>{head}<tbody>{''.join(part)}</tbody></table>" for part in (lines[:MAX_BARS], lines[MAX_BARS:])]
    more = f"<details><summary>{len(rows) - MAX_BARS:,} more</summary>{tables[1]}" if len(rows) > MAX_BARS else ""
    if len(rows) > MAX_ROWS:
        more += f'<p class="faint">and {len(rows) - MAX_ROWS:,} more</p>'
    return f"<div><h2>{title}</h2>{tables[0]}{more}{'</details>' if more else ''}</div>"


def _shown_name(path: str, folder: str) -> str:
    """Return a path as the page shows it: without control characters and the common folder."""
    return shortened(visible(shown_path(path).removeprefix(folder)), MAX_MESSAGE)


def _state(file: FileReport, report: Report) -> str:
    if file.failure is not None:
        return f"{_NOT_CHECKED}: {file.failure[1]}"
    return "; ".join(part for part in (outcome_of(file, report), description_of(file)) if part)


# --- the rules


def documentation_of(names: Sequence[str]) -> Iterator[str]:
    """Yield the documentation of rules."""
    if not names:
        return
    yield "<section><h2>What the rules require</h2>"
    for name in names:
        shown = text_of(name)
        yield f'<article class="rule" id="rule-{shown}"><h3>{shown}</h3>{_documentation(name)}</article>'
    yield "</section>"


def _documentation(name: str) -> str:
    entry = registry().get(name)
    if entry is None:
        return ""
    from markdown_it import MarkdownIt  # a dependency of rich

    text = f"\n{headed(entry.documentation)}\n\n### Clauses\n\n{clauses_markdown(entry)}".replace("\n### ", "\n#### ")
    # No HTML in the documentation stays HTML, and no bare address becomes a link.
    return str(MarkdownIt("commonmark", {"html": False}).render(text))
