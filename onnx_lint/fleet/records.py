# SPDX-License-Identifier: Apache-2.0
"""The records of a model in a scan: those of the format jsonl, with the identity of the object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.report import OWN_ERRORS, FileReport, InternalError
from onnx_lint.reporters.jsonl import file_lines
from onnx_lint.spec.clauses import Severity


def outcome_of(path: str, file: FileReport, identity: dict[str, Any], used: Sequence[str] = ()) -> Outcome:
    """Return the outcome of linting the object at `path`. `used`: the suppressions that suppress a finding of it.

    If its version was unknown before, it is the one that the store returned with the content.
    """
    if not identity["version"] and file.traffic is not None and file.traffic.version is not None:
        identity = identity | {"size": file.size, "version": file.traffic.version}
    extra: dict[str, Any] = {"object": identity}
    if used:
        extra["used_suppressions"] = used
    if file.suppression_problems:
        extra["suppression_problems"] = file.suppression_problems
    *findings, last = (line.encode() for line in file_lines(file, extra=extra))
    levels = [item.severity for item in file.diagnostics]
    return Outcome(
        path,
        last,
        b"".join(findings),
        levels.count(Severity.ERROR),
        levels.count(Severity.WARNING),
        levels.count(Severity.NOTE),
        received=file.traffic.received if file.traffic is not None else 0,
        settled=file.unreadable is None and not any(error.has_ended_lint for error in file.internal_errors),
    )


def failed(job: Job, words: str) -> Outcome:
    """Return the outcome of a model whose lint ended its process, or was killed."""
    error = InternalError(OWN_ERRORS, words, "")
    file = FileReport(job.name, job.identity["size"] or 0, internal_errors=(error,))
    return outcome_of(job.path, file, job.identity)


def unreadable(job: Job, words: str) -> Outcome:
    """Return the outcome of a path without a model."""
    return outcome_of(job.path, FileReport(job.name, 0, unreadable=words), job.identity)
