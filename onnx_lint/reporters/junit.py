# SPDX-License-Identifier: Apache-2.0
"""JUnit's XML, for the test reports of CI servers.

A file is a test suite. In it each rule and clause with findings is a test case, which fails if a finding is severe
enough to fail the run; a file without findings is one test case that passes. Each target is a test case as well: it
fails if it fails the run, and is skipped if it is not known whether the target loads the model. A file that could not
be checked, and a rule that crashed, are errors. The first suite is about the run: its one test case passes, and prints
the verdict on all files, since readers show no more of a document than its test cases. There are no times: the same
input gives the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, TextIO
from xml.etree import ElementTree

from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import by_rule
from onnx_lint.report.outcome import has_no_rules, outcome_of
from onnx_lint.report.remarks import remarks_on_run
from onnx_lint.report.totals import Report
from onnx_lint.report.verdict import interruption_in_words, verdict_in_words
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import MAX_SHOWN_MESSAGE_CHARACTERS, shortened, shown_path, visible
from onnx_lint.reporters.packed_text import PackedText
from onnx_lint.reporters.wording import (
    crash_in_words,
    file_description,
    grouped_findings,
    guidance_sentences,
    labelled_guidance,
    labelled_places,
    labelled_remarks,
    more_like_it,
    position_in_words,
    sentence,
    weakenings_in_words,
)
from onnx_lint.spec.clauses import Severity

MAX_LISTED_FINDINGS: Final = 100
"""The findings of one rule and clause in one file to show. CI servers reject reports of many megabytes."""

_COUNTED: Final = (("tests", "testcase"), ("failures", "failure"), ("errors", "error"))
"""Attributes of a suite, and the elements that each counts."""

RUN: Final = "onnx-lint"
"""The name of the suite about the run."""

_NO_XML: Final = re.compile("[\ufffe\uffff]")
"""The characters that XML 1.0 does not allow and `visible` does not escape."""


class Writer:
    """Keeps the test suite of each file as text, and writes one document."""

    def __init__(self, head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._head = head
        self._options = options
        self._suites = PackedText()
        self._counts: Counter[str] = Counter()

    def file(self, file: FileReport) -> None:
        """Keep the suite of the file."""
        suite = ElementTree.Element("testsuite", name=_text(shown_path(file.path)))
        _fill(suite, file, self._head, self._options)
        self._suites.write(self._written(suite))

    def _written(self, suite: ElementTree.Element) -> str:
        """Return a suite with its counts as text. The counts are added to those of the document."""
        for name, tag in _COUNTED:
            count = len(suite.findall(f".//{tag}"))
            suite.set(name, str(count))
            self._counts[name] += count
        ElementTree.indent(suite, level=1)
        return f"\n  {ElementTree.tostring(suite, encoding='unicode')}"

    def end(self, report: Report) -> None:
        """Write the document."""
        for not_linted in report.not_linted:
            path = _text(shown_path(not_linted))
            suite = ElementTree.Element("testsuite", name=path)
            _case(suite, path, "linted", "skipped", interruption_in_words(report), "")
            self._suites.write(self._written(suite))
        about_run = self._written(_run_suite(report))
        counts = "".join(f' {name}="{self._counts[name]}"' for name, _ in _COUNTED)
        self._stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        self._stream.write(f'<testsuites name="{RUN}"{counts}>{about_run}')
        self._stream.writelines(self._suites.pieces())
        self._stream.write("\n</testsuites>\n")


def _run_suite(report: Report) -> ElementTree.Element:
    """Return the suite about the run: the verdict on all files and what follows it, as properties and as output."""
    suite = ElementTree.Element("testsuite", name=RUN)
    said = [("verdict", verdict_in_words(report)), *remarks_on_run(report)]
    said += [("configuration", what) for what in weakenings_in_words(report.weakened)]
    _add_properties(suite, said)
    lines = [_text(what if label == "verdict" else f"{label}: {what}") for label, what in said]
    _case(suite, RUN, "verdict", "system-out", "", "\n".join(lines))
    return suite


def _fill(suite: ElementTree.Element, file: FileReport, report: Report, options: Options) -> None:
    """Fill the suite of a file with its properties and test cases."""
    failing = None if options.failing == "never" else Severity.of(options.failing)
    path = _text(shown_path(file.path))
    _properties(suite, file, report)
    if file.failure is not None:
        _case(suite, path, "judged" if file.unreadable is None else "readable", "error", _text(file.failure.reason), "")
    for error in file.internal_errors:
        message, trace = _text(crash_in_words(error)), _text(error.traceback, lines=True)
        _case(suite, path, _text(error.rule), "error", message, trace)
    failed = [target for target in file.targets if target.fails_run and failing is not None]
    for target in failed:
        _case(suite, path, _text(target.program), "failure", _text(target.text), "")
    for group in grouped_findings(by_rule(file.diagnostics)):
        first = group[0]
        outcome = "failure" if failing is not None and first.severity >= failing else "system-out"
        _case(suite, path, _text(f"{first.rule} ({first.clause})"), outcome, _headline(group), _list(group))
    if has_no_rules(file, report):
        _case(suite, path, "judged", "skipped", "every rule is ignored", "")
    if suite.find("testcase") is None:
        no_findings = "no new findings" if file.suppressed else "no findings"
        name = "conforms" if file.conformity.conforms else no_findings
        ElementTree.SubElement(suite, "testcase", classname=path, name=name)
    for target in file.targets:
        if target in failed:
            continue
        program, said = _text(target.program), _text(target.text)
        if target.loads is None:
            _case(suite, path, program, "skipped", said, "")
        else:
            _case(suite, path, program, "system-out", said, said)


def _properties(suite: ElementTree.Element, file: FileReport, report: Report) -> None:
    pairs = [("edition", report.standard(file.edition, file.variant).removeprefix("ONNX "))]
    if file.failure is None:
        pairs.append(("verdict", outcome_of(file, report).words))
    conforms, reason = file.conformity.conforms, file.conformity.reason
    pairs.append(("conforms", "unknown" if conforms is None else str(conforms).lower()))
    if reason:
        pairs.append(("conforms why", visible(reason)))
    if file.suppressed:
        pairs.append(("suppressed", f"{len(file.suppressed):,}"))
    what = file_description(file)
    if what:
        pairs.append(("facts", what))
    are_cases = {"internal error", *(target.program for target in file.targets)}
    pairs += [(label, what) for label, what in labelled_remarks(file) if label not in are_cases]
    _add_properties(suite, pairs)


def _add_properties(suite: ElementTree.Element, pairs: Iterable[tuple[str, str]]) -> None:
    properties = ElementTree.SubElement(suite, "properties")
    for name, value in pairs:
        ElementTree.SubElement(properties, "property", name=_text(name), value=_text(value))


def _case(suite: ElementTree.Element, path: str, name: str, outcome: str, message: str, body: str) -> None:
    case = ElementTree.SubElement(suite, "testcase", classname=path, name=name)
    result = ElementTree.SubElement(case, outcome)
    if outcome == "system-out":
        result.text = body
        return
    result.set("message", message)
    if outcome != "skipped":
        result.set("type", outcome)
    result.text = body


def _headline(group: Sequence[Diagnostic]) -> str:
    """Return the message of the first finding, how many more there are, and what is right and what to do."""
    more = f" (and {len(group) - 1:,} more)" if len(group) > 1 else ""
    said = f"{_text(group[0].message)}{more}"
    guidance = [_text(each) for each in guidance_sentences(group[0])]
    return " ".join([sentence(said), *guidance]) if guidance else said


def _list(group: Sequence[Diagnostic]) -> str:
    first = group[0]
    lines = [_text(f"{first.clause} {first.keyword} ({first.anchor}): {first.clause_summary}")]
    said: list[tuple[str, str]] = []
    for item in group[:MAX_LISTED_FINDINGS]:
        where = position_in_words(item)
        bytes_shown = f" ({where})" if where else ""
        lines.append(f"{item.severity.label}: {_text(item.place)}{bytes_shown}: {_text(item.message)}")
        lines += [f"  {label}: {_text(what)}" for label, what in labelled_places(item)]
        before, said = said, [*labelled_guidance(item)]
        lines += [f"  {_text(label)}: {_text(what)}" for label, what in said if (label, what) not in before]
    if len(group) > MAX_LISTED_FINDINGS:
        lines.append(more_like_it(len(group) - MAX_LISTED_FINDINGS, "finding"))
    return "\n".join(lines)


def _text(text: str, *, lines: bool = False) -> str:
    """Return text without characters that XML 1.0 forbids. `lines`: whether to keep line breaks."""
    shown = (
        "\n".join(visible(line) for line in text.split("\n"))
        if lines
        else shortened(visible(text), MAX_SHOWN_MESSAGE_CHARACTERS)
    )
    return _NO_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", shown)
