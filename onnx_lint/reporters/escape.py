# SPDX-License-Identifier: Apache-2.0
"""Makes text from models and file names safe for reports; see also `onnx_lint.common.visible`."""

from __future__ import annotations

import re
from typing import Final

from onnx_lint.common.visible import STANDARD_INPUT as STANDARD_INPUT
from onnx_lint.common.visible import escaped
from onnx_lint.common.visible import shown_path as shown_path
from onnx_lint.common.visible import visible as visible  # for reporters, which find all of this here
from onnx_lint.common.visible import without_commands as without_commands
from onnx_lint.wording import shortened as shortened

MAX_SHOWN_MESSAGE_CHARACTERS: Final = 1000
"""The most characters of a message in the formats that pages and CI servers show."""

_LONE_SURROGATE: Final = "[\ud800-\udfff]"


def encodable(text: str) -> str:
    """Return the text with lone surrogates escaped, for formats that escape everything else themselves."""
    return text if text.isascii() else re.sub(_LONE_SURROGATE, escaped, text)
