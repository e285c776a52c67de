# SPDX-License-Identifier: Apache-2.0
"""Finds faults of wording in the diagnostics of any rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from typing import Final

from onnx_lint.report.findings import Diagnostic
from onnx_lint.reporters.wording import allowed_unless_said

LEAST_WORDS: Final = 4
"""A repetition of fewer words is not reported."""

NEARLY_EQUAL: Final = 0.9

REPRESENTATIONS: Final = re.compile(
    r"\[['\"]|\(['\"]\w+['\"],|<class|(?<!\S)b['\"]|\b(None|True|False)\b|\w\(\)|Proto\(|\bdtype\("
)
"""Lists, tuples and bytes as Python writes them, its constants, classes and calls."""


BRACKETS: Final = re.compile(r"(?<![=:])(?<![=:] )\[\]")
"""Empty brackets that are no list: not `axes: ints = []` and not `dims: []`.

`float[]` is a scalar to some readers and of unknown rank to others.
"""


def wording_faults(diagnostics: Iterable[Diagnostic]) -> Iterator[str]:
    """Yield what is wrong: an allowed text that is missing or repeats the message, Python's notation, and `[]`."""
    for item in diagnostics:
        if not item.allowed:
            yield f"{item.rule}: nothing is said to be allowed"
        elif _repeats(item):
            yield f"{item.rule}: what is allowed repeats the message: {item.message}"
        for text in (item.message, item.allowed or "", item.hint or "", *(place.message for place in item.related)):
            if REPRESENTATIONS.search(text):
                yield f"{item.rule}: written as Python writes it: {text}"
            if BRACKETS.search(re.sub("'[^']*'", "", text)):
                yield f"{item.rule}: a shape without dimensions: {text}"


def _repeats(item: Diagnostic) -> bool:
    """Return whether the allowed text is in the message, nearly word by word."""
    texts = (
        re.sub(r"'[^']*'", "", text) for text in (allowed_unless_said(item) or "", item.message)
    )  # names are no sentence
    allowed, message = (re.findall(r"[\w.:@/-]+", text) for text in texts)
    count = len(allowed)
    if count < LEAST_WORDS:
        return False
    starts = range(max(1, len(message) - count + 1))
    return any(SequenceMatcher(None, allowed, message[at : at + count]).ratio() >= NEARLY_EQUAL for at in starts)
