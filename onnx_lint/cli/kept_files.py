# SPDX-License-Identifier: Apache-2.0
"""Protects files that no report may overwrite: models, other binary data, and the files that the run uses.

A link in a checkout may lead from the name of a report to a model somewhere else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from onnx_lint.cli.errors import RequestError
from onnx_lint.input.locations import MODEL_SUFFIXES, is_remote
from onnx_lint.input.regular_file import read_beginning

_HEAD_BYTES: Final = 4096

_MODEL_TEXT: Final = (
    rb"(?is)(?:\s|#[^\n]*\n)*+(?:\{\s*\")?"
    rb"(?:ir_?version|opset_?import|producer_?(?:name|version)|domain|model_?version|doc_?string|graph"
    rb"|metadata_?props|training_?info|functions|configuration)\"?\s*[:{<]"
)
"""Matches the beginning of a model in text or JSON form: a field name of ModelProto."""


def check_reports(paths: Iterable[str | None], used: Iterable[str]) -> None:
    """Raise RequestError if a report would overwrite a model, or a file that the run uses.

    `paths`: where the reports go, None for standard output. `used`: the paths that the run reads.
    """
    written = {path: os.path.realpath(path) for path in paths if path is not None}
    if not written:
        return
    known = {os.path.realpath(path) for path in used if path != "-" and not is_remote(path)}
    for path, target in written.items():
        if target in known:
            raise RequestError(f"the report would overwrite {path!r}, which the run itself uses")
        reason = why_kept(path)
        if reason is not None:
            raise RequestError(f"the report would overwrite {path!r}, which {reason}")


def why_kept(path: str) -> str | None:
    """Return why a report must not overwrite the file at `path`, or the target of that link; None if it may."""
    target = os.path.realpath(path)
    if not os.path.isfile(target):
        return None
    if target.lower().endswith(MODEL_SUFFIXES):
        return "is a model by its name"
    try:
        head = read_beginning(target, _HEAD_BYTES)
    except (OSError, ValueError):
        return None  # the attempt to write reports what is wrong
    from onnx_lint.loader.identity.identify import is_text

    if not is_text(head):
        return "holds binary data"
    return "is a model in text form" if re.match(_MODEL_TEXT, head) else None
