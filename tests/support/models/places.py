# SPDX-License-Identifier: Apache-2.0
"""Places as tests write them."""

from __future__ import annotations

import re

from onnx_lint.ir.places.place import Place, place_of


def place_at(path: str) -> Place:
    """Return the place of a protobuf field path, such as `graph.node[3].input[0]`; `model` is the whole."""
    steps = re.findall(r"(\w+)(?:\[(\d+)\])?", path)
    return place_of(tuple((name, int(index) if index else None) for name, index in steps if path != "model"))
