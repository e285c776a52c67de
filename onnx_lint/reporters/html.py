# SPDX-License-Identifier: Apache-2.0
"""One page for a browser: a summary of the run, and its findings with search and pictures.

The page needs no network, server or second file. Its Content-Security-Policy allows only its own two scripts and its
style, by their hashes; names from models are text, never markup. It is readable without scripts, which filter findings
and draw pictures with the layout of dagre, a file next to this module.
"""

from __future__ import annotations

import base64
import json
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any, Final, TextIO

from onnx_lint import __version__
from onnx_lint.common import package_data
from onnx_lint.common.visible import json_without_commands
from onnx_lint.engine.registry import registry
from onnx_lint.input.locations import is_remote
from onnx_lint.report import Diagnostic, FileReport, InternalError, Neighbourhood, ProposedFix, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.digest import sha256
from onnx_lint.reporters.documentation import clauses_markdown
from onnx_lint.reporters.escape import shortened, shown_path, visible
from onnx_lint.reporters.statistics import statistics
from onnx_lint.reporters.wording import (
    allowed_of,
    bytes_of,
    counted,
    counted_of,
    description_of,
    internal_error_of,
    is_unremarkable,
    not_verified_of,
    path_at,
    praise_of,
    state_of,
    total_of,
    weakened_of,
    worst_of,
)
from onnx_lint.spec.clauses import Severity

MAX_FINDINGS: Final = 2000
"""The most findings on the page. The others, the least severe, are only counted, so that browsers stay fast."""

MAX_MESSAGE: Final = 1000
MAX_BARS: Final = 12
MAX_OPTIONS: Final = 500

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
_TAIL: Final = """<script type="application/json" id="pictures">{pictures}</script>
<script>{layout}</script>
<script>{script}</script>
</body>
</html>
"""


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write the page."""
    findings = _findings(report)
    pictures = [item.neighbourhood for _, item in findings if item.neighbourhood is not None]
    write_page(stream, total_of(report), _body(report, findings, options), pictures)


def write_page(stream: TextIO, title: str, body: Iterable[str], pictures: Iterable[Neighbourhood] = ()) -> None:
    """Write a page around `body`, which is markup; the title is text."""
    style, layout, script = (_data(name) for name in ("page.css", "dagre.min.js", "page.js"))
    hashes = " ".join(f"'sha256-{_hash(text)}'" for text in (layout, script))
    style_hash = f"'sha256-{_hash(style)}'"
    policy = f"default-src 'none'; style-src {style_hash}; script-src {hashes}; base-uri 'none'; form-action 'none'"
    stream.write(_HEAD.format(policy=policy, version=__version__, title=text_of(title), style=style))
    stream.writelines(f"{part}\n" for part in body)
    stream.write(_TAIL.format(layout=layout, script=script, pictures=_inert_json(list(map(_picture, pictures)))))


def _data(name: str) -> str:
    return package_data.read("onnx_lint.reporters", f"page/{name}").decode()


def _hash(text: str) -> str:
    return base64.b64encode(sha256(text.encode()).digest()).decode()


def _inert_json(value: Any) -> str:
    """Return JSON that cannot end the element around it."""
    return json_without_commands(json.dumps(value, separators=(",", ":"))).replace("<", "\\u003c")


def _picture(drawn: Neighbourhood) -> Mapping[str, Any]:
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


def text_of(text: str) -> str:
    """Return text for HTML: on one line, without markup."""
    return escape(shortened(visible(text), MAX_MESSAGE))


_Found = tuple[FileReport, Diagnostic]
_Crashed = tuple[FileReport, InternalError]


def _findings(report: Report) -> list[_Found]:
    """Return the findings of all files, errors before warnings before notes."""
    found = [(file, item) for file in report.files for item in file.diagnostics]
    return sorted(found, key=lambda each: -each[1].severity)[:MAX_FINDINGS]


# --- the page


def _body(report: Report, findings: Sequence[_Found], options: Options) -> Iterator[str]:
    yield f"<header><h1>onnx-lint: {text_of(total_of(report))}</h1>"
    standard = f"ONNX {report.edition}" + (f" ({report.variant})" if report.variant != "onnx-ml" else "")
    yield f'<p class="faint">Checked against {text_of(standard)} by onnx-lint {__version__}.</p></header>'
    for what in weakened_of(report.weakened):
        yield f'<p class="warning">{text_of(what)}</p>'
    yield "<main>"
    yield _tiles(report)
    if report.diagnostics:
        yield '<section class="charts" aria-label="Charts">'
        yield _rule_chart(report)
        if len(report.files) > 1:
            yield _file_chart(report)
        yield "</section>"
    crashes = [(file, error) for file in report.files for error in file.internal_errors]
    if report.diagnostics or crashes:
        yield from _table(report, findings, crashes[:MAX_FINDINGS])
    yield from _files(report)
    yield from documentation_of(sorted({item.rule for _, item in findings}))
    yield "</main>"


def _tiles(report: Report) -> str:
    levels = [(counted(report.count(level), level.label), level.label) for level in reversed(Severity)]
    clean = sum(is_unremarkable(file, report) for file in report.files)
    crashes = sum(len(file.internal_errors) for file in report.files)
    return tiles_of(
        [
            (counted(len(report.files), "file"), ""),
            *([(counted(crashes, _INTERNAL_ERROR), "error")] if crashes else []),
            *levels,
            (f"{clean:,} without findings", "good"),
        ],
    )


def tiles_of(said: Iterable[tuple[str, str]]) -> str:
    """Return tiles with large numbers, from pairs of a text that begins with its number and a CSS class."""
    tiles = [(*text.partition(" ")[::2], name) for text, name in said]
    items = "".join(f'<li><b class="{name}">{number}</b>{what}</li>' for number, what, name in tiles)
    return f'<ul class="tiles">{items}</ul>'


def _rule_chart(report: Report) -> str:
    return chart("Rules", "Rule", [(rule_link(rule), {level: count}) for rule, level, count in statistics(report)])


def rule_link(rule: str) -> str:
    """Return the name of a rule as a link to its documentation on the page."""
    return f'<a href="#rule-{text_of(rule)}">{text_of(rule)}</a>'


def _file_chart(report: Report) -> str:
    counts = [(file, Counter(item.severity for item in file.diagnostics)) for file in report.files if file.diagnostics]
    counts.sort(key=lambda each: [-each[1][level] for level in reversed(Severity)])
    return chart("Files", "File", [(text_of(shown_path(file.path)), found) for file, found in counts])


def chart(title: str, of: str, rows: Sequence[tuple[str, Mapping[Severity, int]]]) -> str:
    """Return bars on a common scale, divided by severity, with the numbers beside them.

    `rows`: the name, which is markup, and the number for each severity.
    """
    most = max(sum(found.values()) for _, found in rows)
    lines = []
    for name, found in rows[:MAX_BARS]:
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
    more = f'<p class="faint">{len(rows) - MAX_BARS:,} more</p>' if len(rows) > MAX_BARS else ""
    head = f'<thead hidden><tr><th scope="col">{of}</th><th scope="col">Findings</th><td></td></tr></thead>'
    return f"<div><h2>{title}</h2><table>{head}<tbody>{''.join(lines)}</tbody></table>{more}</div>"


def _table(report: Report, findings: Sequence[_Found], crashes: Sequence[_Crashed]) -> Iterator[str]:
    yield "<section><h2>Findings</h2>"
    yield '<form id="filter" hidden role="search">'
    yield '<input type="search" name="text" placeholder="Search (/)" aria-label="Search" autocomplete="off">'
    levels = [level.label for level in reversed(Severity)]
    yield _select("severity", [_INTERNAL_ERROR, *levels] if crashes else levels)
    yield _select("rule", sorted({item.rule for _, item in findings} | {error.rule for _, error in crashes}))
    if len(report.files) > 1:
        files = [file for file, _ in crashes] + [file for file, _ in findings]
        yield _select("file", list(dict.fromkeys(shown_path(file.path) for file in files)))
    else:
        yield '<input type="hidden" name="file" value="">'
    yield '<button type="reset">Reset</button><output id="shown" class="faint"></output></form>'
    traces: set[str] = set()
    for file, error in crashes:
        yield _crash(file, error, with_trace=error.traceback not in traces)
        traces.add(error.traceback)
    picture = 0
    for index, (file, item) in enumerate(findings):
        yield _finding(file, item, picture if item.neighbourhood is not None else None, is_open=index == 0)
        picture += item.neighbourhood is not None
    left_out = len(report.diagnostics) - len(findings)
    if left_out:
        yield f"<p>{counted(left_out, 'more finding')}, no worse than these, left out; the JSON report has all.</p>"
    yield "</section>"


_INTERNAL_ERROR: Final = "internal error"


def _crash(file: FileReport, error: InternalError, *, with_trace: bool) -> str:
    """Return a crash as an entry that can be filtered like a finding. Equal traces are shown once."""
    path = text_of(shown_path(file.path))
    lines = [escape(visible(line)) for line in error.traceback.splitlines()]
    trace = f"<pre>{chr(10).join(lines)}</pre>" if with_trace else "<p>The trace is that of an entry above.</p>"
    place = f": <code>{text_of(error.place)}</code>" if error.place is not None else ""
    return (
        f'<details class="finding" data-severity="{_INTERNAL_ERROR}" data-rule="{text_of(error.rule)}"'
        f' data-file="{path}"><summary><b class="error">{_INTERNAL_ERROR}</b> {text_of(internal_error_of(error))}'
        f'<span class="where">{path}{place}</span></summary><div>{trace if lines else ""}</div></details>'
    )


def _select(name: str, values: Sequence[str]) -> str:
    options = "".join(f'<option value="{text_of(value)}">{text_of(value)}</option>' for value in values[:MAX_OPTIONS])
    return f'<select name="{name}" aria-label="{name}"><option value="">any {name}</option>{options}</select>'


def _finding(file: FileReport, item: Diagnostic, picture: int | None, *, is_open: bool) -> str:
    path = text_of(shown_path(file.path))
    at = text_of(path_at(file.path, item.position))
    where = bytes_of(item.byte_range) if item.position is None else ""
    clause = f"{item.clause} {item.keyword} ({item.anchor}): {item.clause_summary}"
    facts = [("clause", text_of(clause))]
    if allowed := allowed_of(item):
        facts.append(("allowed", text_of(allowed)))
    if item.hint:
        facts.append(("help", text_of(item.hint)))
    if item.fix is not None:
        facts.append(("fix", _fix(file, item.rule, item.fix)))
    facts += (("see also", f"<code>{text_of(place.place)}</code>: {text_of(place.message)}") for place in item.related)
    facts.append(("rule", rule_link(item.rule)))
    rows = "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in facts)
    drawn = f'<div class="picture" data-picture="{picture}"></div>' if picture is not None else ""
    level = item.severity.label
    return (
        f'<details class="finding" data-severity="{level}" data-rule="{text_of(item.rule)}" data-file="{path}"'
        f"{' open' if is_open else ''}><summary>"
        f'<b class="{level}">{level}</b> {text_of(item.message)}'
        f'<span class="where">{at}: <code>{text_of(item.place)}</code>{f" ({where})" if where else ""}</span></summary>'
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
        text = escape(visible(line.text))
        if line.mark is not None:
            start, end = line.mark
            before, marked, after = line.text[:start], line.text[start:end], line.text[end:]
            text = f"{escape(visible(before))}<mark>{escape(visible(marked))}</mark>{escape(visible(after))}"
        lines.append(f'<span class="faint">{escape(visible(line.label)):>{margin}} | </span>{text}\n')
    return f"<pre>{''.join(lines)}</pre>"


def _files(report: Report) -> Iterator[str]:
    """Yield the section with the state of each file, files with findings first."""
    yield "<section><h2>Files</h2>"
    for file in sorted(report.files, key=lambda each: -(worst_of(each) or 0))[:MAX_FINDINGS]:
        yield f"<h3>{text_of(shown_path(file.path))}</h3><p>{text_of(_state(file, report))}</p>"
        lines = [f"internal error: {internal_error_of(error)}" for error in file.internal_errors]
        lines += [f"not verified: {what}" for what in not_verified_of(file)]
        if file.counted:
            lines.append(f"counted: {counted_of(file.counted)}")
        if lines:
            yield "<ul>" + "".join(f"<li>{text_of(line)}</li>" for line in lines) + "</ul>"
    for path in report.not_linted[:MAX_FINDINGS]:
        yield f"<h3>{text_of(shown_path(path))}</h3><p>not linted: the run was interrupted</p>"
    yield "</section>"


def _state(file: FileReport, report: Report) -> str:
    if file.unreadable is not None:
        return f"not checked: {file.unreadable}"
    if file.not_judged is not None and not file.diagnostics:
        return f"not judged: {file.not_judged}"
    state = f"conforms {praise_of(file, report)}" if is_unremarkable(file, report) else state_of(file)
    return "; ".join(part for part in (state, description_of(file)) if part)


# --- the rules


def documentation_of(names: Sequence[str]) -> Iterator[str]:
    """Yield the documentation of rules."""
    if not names:
        return
    yield "<section><h2>Rules</h2>"
    for name in names:
        shown = text_of(name)
        yield f'<article class="rule" id="rule-{shown}"><h3>{shown}</h3>{_documentation(name)}</article>'
    yield "</section>"


def _documentation(name: str) -> str:
    entry = registry().get(name)
    if entry is None:
        return ""
    from markdown_it import MarkdownIt  # which rich brings

    text = f"{entry.rule.documentation}\n\n### Clauses\n\n{clauses_markdown(entry.rule)}".replace("\n### ", "\n#### ")
    # No HTML in the documentation stays HTML, and no bare address becomes a link.
    return str(MarkdownIt("commonmark", {"html": False}).render(text))
