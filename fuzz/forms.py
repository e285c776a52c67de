# SPDX-License-Identifier: Apache-2.0
"""Properties of a report in each of its forms."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

from onnx_lint.report.totals import Report
from onnx_lint.reporters import REPORTERS, Options, write_report

FORMATS = tuple(REPORTERS)

_STEERING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]")
"""The characters that a report must not contain: all that control a terminal, except the end of a line."""


def problem_of_form(name: str, report: Report) -> str | None:
    """Return what is wrong with the report in the form `name`."""
    stream = io.StringIO()
    write_report(name, report, stream, Options(root=Path.cwd()))
    text = stream.getvalue()
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return f"reporter {name} wrote what cannot be encoded: {error}"
    try:
        _parse(name, text)
    except (ValueError, ElementTree.ParseError) as error:
        return f"reporter {name} wrote what cannot be parsed: {error}"
    found = _STEERING.search(text)
    return f"reporter {name} wrote {found[0]!r}" if found else None


def _parse(name: str, text: str) -> None:
    if name in {"json", "sarif", "gitlab"}:
        json.loads(text)
    elif name == "jsonl":
        for line in text.splitlines():
            json.loads(line)
    elif name == "junit":
        ElementTree.fromstring(text)
