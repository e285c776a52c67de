# SPDX-License-Identifier: Apache-2.0
"""What is asked of a worker about one model, and what it answers."""

from __future__ import annotations

from typing import Any, Final

from onnx_lint.common.record import Record

SECONDS_FOR_A_MODEL: Final = 300.0
"""After so many seconds the lint of a model ends, unless the user says otherwise."""

MEGABYTES_FOR_A_MODEL: Final = 4096
"""Of so much memory the lint of a model may make use, unless the user says otherwise; in units of 1,000,000 bytes.

A model of half a GiB without payloads, the most that is taken on, may need more (`docs/design.md`); it has a name then.
"""


class Job(Record):
    """A model to lint."""

    path: str
    name: str
    """What reports call it: its path, or its address without credentials."""
    identity: dict[str, Any]
    """What tells this version of the object from others; it goes into the record of the file."""
    settings: bytes
    """Its settings, pickled: a worker makes them once for all models that have the same."""
    usual: bytes
    """Those of the scan; where they are not the same, the record says against what the file was held."""
    level: int
    """The least severity of the findings that are kept."""
    folder: str = ""
    """The working directory of the scan, in which a relative path begins; empty for that of the worker."""


class Outcome(Record):
    """What is known of a model after its lint: the lines of its records."""

    path: str
    """That of the job."""
    file: bytes
    """The record of the file, a line."""
    findings: bytes
    """The records of its findings, a line each."""
    errors: int
    warnings: int
    notes: int
    received: int
    """Bytes that came from a store."""
    settled: bool
    """Whether there is a verdict. What could not be read, or ended its process, is tried again by the next scan."""


class Failure(Record):
    """That the process ended in which a model was linted, or was ended for what it took."""

    path: str
    words: str
    is_limit: bool
    """Whether it went beyond a limit, and did not end by itself or by somebody else."""
