# SPDX-License-Identifier: Apache-2.0
"""The files of dense_files in the text format and in JSON, as short as these forms can be."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from google.protobuf import json_format, text_format

from onnx_lint import schema

FORMS = ("textproto", "json")
_LEAST = 400


def short_text(data: bytes, form: str) -> str:
    """The model in a form, without spaces."""
    model = schema.message("ModelProto").FromString(data)
    if form == "json":
        return json.dumps(json_format.MessageToDict(model), separators=(",", ":"))
    return re.sub(r" ?([{}:]) ?", r"\1", text_format.MessageToString(model, as_one_line=True))


def grown(make: Callable[[int], bytes], form: str) -> Callable[[int], str]:
    """What makes a text of about so many characters, of the rows by which the longer files of `make` are longer."""
    short, long = (short_text(make(size), form) for size in (_LEAST, 2 * _LEAST))
    same = next(
        (index for index, (one, other) in enumerate(zip(short, long, strict=False)) if one != other), len(short)
    )
    rows = long[same : same + len(long) - len(short)]
    assert short[:same] + rows + short[same:] == long
    return lambda size: short[:same] + rows * (size // len(rows) if rows else 0) + short[same:]
