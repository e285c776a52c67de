# SPDX-License-Identifier: Apache-2.0
"""The messages between a scan and its workers: a job for one model, and the answer."""

from __future__ import annotations

from typing import Any, Final

from onnx_lint.common.record import Record

SECONDS_FOR_A_MODEL: Final = 300.0
"""The default time limit for linting a model, in seconds."""

BYTES_FOR_A_MODEL: Final = 4_096_000_000
"""The default memory limit for linting a model, in bytes.

A model of half a GiB without payloads, the largest that is accepted, may need more (`docs/design.md`). It is then
listed as without a verdict.
"""


class Job(Record):
    """A model to lint."""

    path: str
    name: str
    """The name in reports: its path, or its address without credentials."""
    identity: dict[str, Any]
    """Identifies this version of the object; part of the record of the file."""
    settings: bytes
    """Its settings, pickled. A worker unpickles equal settings once."""
    usual: bytes
    """The settings of the scan. If those of the model differ, the record of the file says so."""
    level: int
    """The lowest severity of the findings to keep."""
    folder: str = ""
    """The working directory of the scan, for relative paths; empty for that of the worker."""
    cache: str = ""
    """The folder of the cache of verdicts; empty if none is used."""


class Outcome(Record):
    """The result of linting a model: the lines of its records."""

    path: str
    """The path of the job."""
    file: bytes
    """The record of the file, one line."""
    findings: bytes
    """The records of its findings, one line each."""
    errors: int
    warnings: int
    notes: int
    received: int
    """Bytes received from a store."""
    settled: bool
    """True if there is a verdict.
    A model that could not be read, or ended its process, is tried again by the next scan.
    """


class Failure(Record):
    """A model without a result: the process that linted it ended, or was killed because of a limit."""

    path: str
    words: str
    is_limit: bool
    """True if the model exceeded a limit."""
