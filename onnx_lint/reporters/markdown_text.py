# SPDX-License-Identifier: Apache-2.0
"""Text of models and of onnx-lint in Markdown."""

from __future__ import annotations

import re
from typing import Final

from onnx_lint.reporters.escape import shortened, visible

MAX_CELL_CHARACTERS: Final = 500
"""The most characters of a text in a cell of a table, or in a line."""

_ACTIVE: Final = re.compile(r"[\\`*_{}\[\]#!|~$]|(?<=\])\(")
_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;"}
_LINKS: Final = re.compile(r"://|www\.", re.IGNORECASE)


def inert(text: str, most: int = MAX_CELL_CHARACTERS) -> str:
    """Return text that Markdown shows unchanged: no markup, no HTML, no link, no mention."""
    shown = _ACTIVE.sub(r"\\\g<0>", shortened(visible(text), most))
    shown = re.sub("[&<>@]", lambda match: _NAMED[match[0]], shown)
    return _LINKS.sub(lambda match: match[0].replace(":", "&#58;").replace(".", "&#46;"), shown)
