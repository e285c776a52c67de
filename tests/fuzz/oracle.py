# SPDX-License-Identifier: Apache-2.0
"""What must hold for every input: a report comes out, in every form, and nothing else happens."""

from __future__ import annotations

import io
import json
import re
import traceback
from pathlib import Path
from xml.etree import ElementTree

from onnx_lint.engine import lint_source
from onnx_lint.limits import DEFAULT_LIMITS
from onnx_lint.record import replace
from onnx_lint.report import Report
from onnx_lint.reporters import REPORTERS, Options, reporter
from onnx_lint.settings import Settings
from onnx_lint.source import BytesSource
from onnx_lint.spec.standard import EDITIONS, VARIANTS, Standard

from .corpus import Seed

SETTINGS = tuple(Settings(Standard(edition, variant), select=("ALL",)) for edition in EDITIONS for variant in VARIANTS)

_LIMITS = {"graph_entries": 4, "nodes": 20, "graphs": 3, "fields": 200}
"""Limits of each seventh input, so low that most models reach one."""

_FORMATS = tuple(REPORTERS)
_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""What no report may hold: all that steers a terminal but the end of a line."""


def problem_of(given: Seed, number: int) -> str | None:
    """What is wrong with how onnx-lint takes the input; None when a report came out and all of it is in order.

    `number` picks the edition and the reporter.
    """
    limits = DEFAULT_LIMITS.with_values(_LIMITS) if number % 7 == 0 else DEFAULT_LIMITS
    settings = replace(SETTINGS[number % len(SETTINGS)], proto=given.proto, limits=limits)
    try:
        file = lint_source(BytesSource(given.data), "model.textproto" if given.is_text else "model.onnx", settings)
        report = Report((file,), settings.standard.edition, settings.standard.variant)
        name = _FORMATS[number % len(_FORMATS)]
        stream = io.StringIO()
        reporter(name)(report, stream, Options(root=Path.cwd()))
    except Exception:
        return traceback.format_exc()
    if file.internal_errors:
        return "\n".join(error.traceback for error in file.internal_errors)
    if not file.diagnostics and file.not_judged is not None:
        return "nothing was judged, and no finding says so"
    return _problem_of_text(name, stream.getvalue())


def _problem_of_text(name: str, text: str) -> str | None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"reporter {name} wrote what cannot be encoded: {error}"
    if name in {"json", "sarif", "gitlab"}:
        json.loads(text)
    elif name == "jsonl":
        for line in text.splitlines():
            json.loads(line)
    elif name == "junit":
        ElementTree.fromstring(text)
    found = _STEERING.search(text)
    return f"reporter {name} wrote {found[0]!r}" if found else None
