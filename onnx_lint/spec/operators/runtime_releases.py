# SPDX-License-Identifier: Apache-2.0
"""The signatures of ONNX Runtime's operators in the releases that `--target` knows, if releases changed them.

`python -m tools.compile_targets` writes the file, from what each release says of its own operators.
"""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.spec.operators.schema import OperatorSchema
from onnx_lint.spec.operators.store import ONNXRUNTIME, DataFile

CHANGED: Final = DataFile("onnxruntime_releases.jsonl", ONNXRUNTIME.domains)
"""The operators with more than one signature. In place of versions it has the indices of releases."""


def comes_later(release: str, operator: str, what: str) -> bool:
    """Return whether only later releases compare an input of an operator, or have a value (`bits=8`) of an attribute.

    False for a release that is not known.
    """
    from onnx_lint.spec.operators.records import record_of

    record = record_of(operator)
    since = record.since.get(what) if record is not None else None
    releases = CHANGED.header["releases"] if since is not None else ()
    return release in releases and releases.index(release) < releases.index(since)


def signature_in(release: str, domain: str, op_type: str) -> OperatorSchema | None:
    """Return the signature that an operator has in a release; None if no known release has another one."""
    releases = CHANGED.header["releases"]
    if release not in releases:
        return None
    index = releases.index(release)
    since = max((each for each in CHANGED.versions(domain, op_type) if each <= index), default=None)
    found = None if since is None else CHANGED.schema(domain, op_type, since)
    # Each release calls its own operators version 1.
    return None if found is None else replace(found, since_version=1)
