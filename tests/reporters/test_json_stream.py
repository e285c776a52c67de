# SPDX-License-Identifier: Apache-2.0
"""A JSON document that is written piece by piece is the same as one that is written at once."""

from __future__ import annotations

import io

import pytest

from onnx_lint.reporters.json_stream import JsonStream
from onnx_lint.reporters.json_text import compact


@pytest.mark.parametrize("elements", [[], [1], [1, {"a": ["\x1b"]}]])
def test_a_document_in_pieces(elements: list[object]):
    stream = io.StringIO()
    document = JsonStream(stream)
    with document.object():
        document.members({"first": 1, "second": []})
        with document.list("runs"), document.object():
            with document.list("results"):
                document.elements(map(compact, elements))
            document.members({"last": None})
    expected = {"first": 1, "second": [], "runs": [{"results": elements, "last": None}]}
    assert stream.getvalue() == compact(expected)
