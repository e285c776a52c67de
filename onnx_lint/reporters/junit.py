# SPDX-License-Identifier: Apache-2.0
"""JUnit's XML, for the test reports of CI servers.

A file is a test suite. Each rule and clause with findings in it is a test case, which fails if a finding is severe
enough to fail the run. A file without findings has one test case, which passes. Each target is a test case as well: it
fails if it fails the run, and is skipped if it is not known whether the target loads the model. A file that could not
be checked, and a rule that crashed, are errors. The first suite is about the run: its one test case passes, and prints
the verdict on all files, since readers show no more of a document than its test cases. There are no times: the same
input gives the same bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TextIO
from xml.etree import ElementTree

from onnx_lint.report.file_report import FileReport, TargetVerdict
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
    limit_remarks,
    more_like_it,
    position_in_words,
    repair_remarks,
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

    def __init__(self, head: Report, stream: TextIO, options: Options, _count: int) -> None:
        self._stream = stream
        self._head = head
        self._options = options
        self._suites = PackedText()
        self._counts: Counter[str] = Counter()

    def file(self, file: FileReport) -> None:
        """Keep the suite of the file."""
        self._suites.write(self._written(_file_suite(file, self._head, self._options)))

    def _written(self, suite: _Suite) -> str:
        """Return a suite with its counts as text. The counts are added to those of the document."""
        for name, tag in _COUNTED:
            count = suite.count(tag)
            suite.element.set(name, str(count))
            self._counts[name] += count
        ElementTree.indent(suite.element, level=1)
        return f"\n  {ElementTree.tostring(suite.element, encoding='unicode')}"

    def end(self, report: Report) -> None:
        """Write the document."""
        for not_linted in report.not_linted:
            suite = _Suite(_text(shown_path(not_linted)))
            suite.add_skipped("linted", interruption_in_words(report))
            self._suites.write(self._written(suite))
        about_run = self._written(_run_suite(report))
        counts = "".join(f' {name}="{self._counts[name]}"' for name, _ in _COUNTED)
        self._stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
        self._stream.write(f'<testsuites name="{RUN}"{counts}>{about_run}')
        self._stream.writelines(self._suites.pieces())
        self._stream.write("\n</testsuites>\n")


class _Suite:
    """A test suite: properties, then test cases. Characters that XML 1.0 forbids are escaped in all texts."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.element = ElementTree.Element("testsuite", name=_escaped(name))

    def count(self, tag: str) -> int:
        """Return the number of elements with this tag."""
        return len(self.element.findall(f".//{tag}"))

    def add_properties(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Add the properties, each a name and a value. Both are shown on one line, and cut if they are very long."""
        properties = ElementTree.SubElement(self.element, "properties")
        for name, value in pairs:
            _add_element(properties, "property", name=_text(name), value=_text(value))

    def add_passed(self, name: str, output: str | None = None) -> None:
        """Add a case that passes. `output`: what it has printed."""
        case = self._add_case(name)
        if output is not None:
            _add_element(case, "system-out").text = _escaped(output)

    def add_skipped(self, name: str, message: str) -> None:
        """Add a case that was skipped."""
        _add_element(self._add_case(name), "skipped", message=message).text = ""

    def add_failure(self, name: str, message: str, text: str = "") -> None:
        """Add a case that fails."""
        _add_element(self._add_case(name), "failure", message=message, type="failure").text = _escaped(text)

    def add_error(self, name: str, message: str, text: str = "") -> None:
        """Add a case that could not be run to its end."""
        _add_element(self._add_case(name), "error", message=message, type="error").text = _escaped(text)

    def _add_case(self, name: str) -> ElementTree.Element:
        return _add_element(self.element, "testcase", classname=self._name, name=name)


def _add_element(parent: ElementTree.Element, tag: str, **attributes: str) -> ElementTree.Element:
    safe = {name: _escaped(value) for name, value in attributes.items()}
    return ElementTree.SubElement(parent, tag, safe)


def _run_suite(report: Report) -> _Suite:
    """Return the suite about the run: the verdict on all files and what follows it, as properties and as output."""
    suite = _Suite(RUN)
    said = [("verdict", verdict_in_words(report)), *remarks_on_run(report)]
    said += [("configuration", what) for what in weakenings_in_words(report.weakened)]
    suite.add_properties(said)
    lines = [_text(what if label == "verdict" else f"{label}: {what}") for label, what in said]
    suite.add_passed("verdict", "\n".join(lines))
    return suite


def _file_suite(file: FileReport, report: Report, options: Options) -> _Suite:
    """Return the suite of a file."""
    suite = _Suite(_text(shown_path(file.path)))
    failing = None if options.failing == "never" else Severity.of(options.failing)
    failed = [target for target in file.targets if target.fails_run and failing is not None]
    suite.add_properties(_properties(file, report))
    _add_errors(suite, file)
    for target in failed:
        suite.add_failure(_text(target.program), _text(target.text))
    for group in grouped_findings(by_rule(file.diagnostics)):
        _add_findings(suite, group, failing)
    if has_no_rules(file, report):
        suite.add_skipped("judged", "every rule is ignored")
    if not suite.count("testcase"):
        no_findings = "no new findings" if file.suppressed else "no findings"
        suite.add_passed("conforms" if file.conformity.conforms else no_findings)
    for target in file.targets:
        if target not in failed:
            _add_target(suite, target)
    return suite


def _add_errors(suite: _Suite, file: FileReport) -> None:
    """Add why the file could not be checked, and the crashes."""
    if file.failure is not None:
        suite.add_error("judged" if file.unreadable is None else "readable", _text(file.failure.reason))
    for error in file.internal_errors:
        suite.add_error(_text(error.rule), _text(crash_in_words(error)), _lines(error.traceback))


def _add_findings(suite: _Suite, group: Sequence[Diagnostic], failing: Severity | None) -> None:
    """Add the findings of one rule, clause and severity. From the severity `failing` on they fail."""
    first = group[0]
    name = _text(f"{first.rule} ({first.clause})")
    if failing is not None and first.severity >= failing:
        suite.add_failure(name, _headline(group), _list(group))
    else:
        suite.add_passed(name, _list(group))


def _add_target(suite: _Suite, target: TargetVerdict) -> None:
    """Add the answer of a program that does not fail the run."""
    if target.loads is None:
        suite.add_skipped(_text(target.program), _text(target.text))
    else:
        suite.add_passed(_text(target.program), _text(target.text))


def _properties(file: FileReport, report: Report) -> Iterator[tuple[str, str]]:
    """Yield the properties of a file. Crashes and targets are not among them, since they are test cases."""
    yield "edition", report.standard(file.edition, file.variant).removeprefix("ONNX ")
    if file.failure is None:
        yield "verdict", outcome_of(file, report).words
    conforms, reason = file.conformity.conforms, file.conformity.reason
    yield "conforms", "unknown" if conforms is None else str(conforms).lower()
    if reason:
        yield "conforms why", reason
    if file.suppressed:
        yield "suppressed", f"{len(file.suppressed):,}"
    facts = file_description(file)
    if facts:
        yield "facts", facts
    yield from repair_remarks(file)
    yield from limit_remarks(file)


def _headline(group: Sequence[Diagnostic]) -> str:
    """Return the message of the first finding, how many more there are, and what is right and what to do."""
    more = f" (and {len(group) - 1:,} more)" if len(group) > 1 else ""
    said = f"{_text(group[0].message)}{more}"
    guidance = [_text(each) for each in guidance_sentences(group[0])]
    return " ".join([sentence(said), *guidance]) if guidance else said


def _list(group: Sequence[Diagnostic]) -> str:
    """Return the findings of a group, one or more lines each. Guidance that the line before had is not repeated."""
    first = group[0]
    lines = [_text(f"{first.clause} {first.keyword} ({first.anchor}): {first.clause_summary}")]
    shown_before: Sequence[tuple[str, str]] = ()
    for item in group[:MAX_LISTED_FINDINGS]:
        where = position_in_words(item)
        bytes_shown = f" ({where})" if where else ""
        lines.append(f"{item.severity.label}: {_text(item.place)}{bytes_shown}: {_text(item.message)}")
        lines += [f"  {label}: {_text(what)}" for label, what in labelled_places(item)]
        guidance = tuple(labelled_guidance(item))
        lines += [f"  {_text(label)}: {_text(what)}" for label, what in guidance if (label, what) not in shown_before]
        shown_before = guidance
    if len(group) > MAX_LISTED_FINDINGS:
        lines.append(more_like_it(len(group) - MAX_LISTED_FINDINGS, "finding"))
    return "\n".join(lines)


def _text(text: str) -> str:
    """Return text on one line, cut in the middle if it is very long."""
    return shortened(visible(text), MAX_SHOWN_MESSAGE_CHARACTERS)


def _lines(text: str) -> str:
    """Return text with its line breaks."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _escaped(text: str) -> str:
    """Return text without the characters that XML 1.0 forbids and `visible` allows."""
    return _NO_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
