# SPDX-License-Identifier: Apache-2.0
"""The code quality report of GitLab: an array of issues, in the part of Code Climate's format that GitLab reads.

GitLab merges issues with equal fingerprints, and requires a line, which a binary file does not have.

What was not verified in a file is an issue as well, and so is each target that may not load it. Their fingerprints
consist of the path, and of the program for a target, so that another wording is no new issue in a merge request. Those
of failures, crashes and an interruption contain the description as well. Settings that weaken the verdict are about no
file, and are printed on standard error.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, TextIO

from onnx_lint.common.digest import sha256
from onnx_lint.common.visible import json_without_commands
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.folding import by_rule
from onnx_lint.report.remarks import NOT_VERIFIED
from onnx_lint.report.totals import Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import MAX_SHOWN_MESSAGE_CHARACTERS, shortened, visible
from onnx_lint.reporters.fingerprint import fingerprints
from onnx_lint.reporters.packed_text import WorstLines
from onnx_lint.reporters.uri import default_root, path_below
from onnx_lint.reporters.wording import (
    crash_in_words,
    guidance_sentences,
    labelled_places,
    labels_as_sentences,
)
from onnx_lint.spec.clauses import Severity

MAX_ISSUES: Final = 10_000
"""The most issues in a report; the least severe are left out. GitLab parses it for each view of a merge request."""

_BLOCKER: Final = "blocker"
_SEVERITIES: Final = {Severity.ERROR: "major", Severity.WARNING: "minor", Severity.NOTE: "info"}
_RANKS: Final = ("info", "minor", "major", _BLOCKER)


class Writer:
    """Keeps the most severe issues of all files, and writes one JSON array."""

    def __init__(self, _head: Report, stream: TextIO, options: Options, _count: int) -> None:
        self._stream = stream
        self._root = options.root or default_root()
        self._issues = WorstLines(MAX_ISSUES)

    def file(self, file: FileReport) -> None:
        """Keep the issues of the file."""
        self._keep(_issues(file, path_below(file.path, self._root)))

    def _keep(self, issues: Iterable[dict[str, Any]]) -> None:
        for issue in issues:
            self._issues.add(_RANKS.index(issue["severity"]), json.dumps(issue))

    def end(self, report: Report) -> None:
        """Write the issues; if there are too many, the most severe and one that counts those left out."""
        if report.not_linted:
            from onnx_lint.report.verdict import interruption_in_words

            path = path_below(report.not_linted[0], self._root)
            self._keep([_issue("interrupted", _BLOCKER, interruption_in_words(report), path)])
        has_more = self._issues.count > MAX_ISSUES
        limit = MAX_ISSUES - 1 if has_more else MAX_ISSUES
        issues = [*map(json.loads, self._issues.lines(limit))]
        if has_more:
            # GitLab requires a path, and the notice is about none.
            left_out = f"{self._issues.count - len(issues):,} issues were left out; the JSON report has them all"
            issues.append(_issue("too-many-issues", "info", left_out, issues[-1]["location"]["path"]))
        self._stream.write(json_without_commands(json.dumps(issues, indent=2)) + "\n")


def _issues(file: FileReport, path: str) -> Iterator[dict[str, Any]]:
    if file.failure is not None:
        name = "unreadable-file" if file.unreadable is not None else "not-judged"
        yield _issue(name, _BLOCKER, visible(file.failure.reason), path)
    for error in file.internal_errors:
        yield _issue("internal-error", _BLOCKER, visible(crash_in_words(error)), path)
    for target in file.targets:
        if target.loads is None:
            level = _SEVERITIES[Severity.ERROR if target.fails_run else Severity.NOTE]
            said = f"{target.program}: {visible(target.text)}"
            yield _issue("target", level, said, path, _identity("target", path, target.program))
    if file.has_unverified:
        from onnx_lint.report.not_verified import not_verified_in_words

        said = f"{NOT_VERIFIED}: {'; '.join(not_verified_in_words(file))}"
        yield _issue("not-verified", _SEVERITIES[Severity.NOTE], said, path, _identity("not-verified", path))
    found = [*by_rule(file.diagnostics)]
    for item, identity in zip(found, fingerprints(found, path), strict=True):
        description = f"{visible(item.message)} ({visible(item.place)})"
        if more := [*guidance_sentences(item), *labels_as_sentences(labelled_places(item))]:
            description = " ".join([f"{description}.", *more])
        line = item.position[0] if item.position is not None else 1
        yield _issue(item.rule, _SEVERITIES[item.severity], description, path, identity, line)


def _identity(*parts: str) -> str:
    return "\x1f".join(parts)


def _issue(
    name: str, severity: str, description: str, path: str, identity: str | None = None, line: int = 1
) -> dict[str, Any]:
    """Return an issue. `identity`: what its fingerprint is made of; None for the name, the path and the description."""
    if identity is None:
        identity = _identity(name, path, description)
    return {
        "description": shortened(description, MAX_SHOWN_MESSAGE_CHARACTERS),
        "check_name": visible(name),
        "fingerprint": sha256(identity.encode()).hexdigest(),
        "severity": severity,
        "location": {"path": path, "lines": {"begin": line}},
    }
