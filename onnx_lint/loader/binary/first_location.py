# SPDX-License-Identifier: Apache-2.0
"""Finds a location of external data in the bytes of a model before it is parsed."""

from __future__ import annotations

import re
from typing import Final

from onnx_lint.ir.tensors.external import is_safe_location

_LOCATION_ENTRY: Final = rb"\n\x08location\x12([\x01-\x7f])"
"""Matches an entry with this key, up to the length of its value in one byte."""


def first_location(data: bytes) -> str | None:
    """Return the first location of external data in a serialized model, without parsing it; None if it is not safe.

    Only a short one as Protocol Buffers writes it is found. It may also belong to an entry of metadata.
    """
    found = re.search(_LOCATION_ENTRY, data)
    if found is None:
        return None
    try:
        location = data[found.end() : found.end() + found[1][0]].decode()
    except UnicodeDecodeError:
        return None
    return location if is_safe_location(location) else None
