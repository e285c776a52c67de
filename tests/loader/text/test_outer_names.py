# SPDX-License-Identifier: Apache-2.0
"""A text resembles a message if most of its outermost names are fields of one message."""

from __future__ import annotations

import onnx
import pytest
from google.protobuf import json_format, text_format

from onnx_lint.loader.text.outer_names import names_in_text, resembles_message

TENSOR = onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(onnx.helper.make_tensor("t", 1, [2], [1, 2])), "t")
GRAPH = onnx.helper.make_graph(
    [onnx.helper.make_node("Abs", ["x"], ["y"], doc_string="}{ a: b")], "g", [], [], [TENSOR]
)
WRITTEN = [
    write(message)
    for message in (TENSOR, GRAPH, onnx.helper.make_model(GRAPH), GRAPH.node[0])
    for write in (text_format.MessageToString, json_format.MessageToJson)
]


@pytest.mark.parametrize("text", WRITTEN, ids=lambda text: text[:20])
def test_a_message_is_recognized_wherever_its_text_is_cut(text: str) -> None:
    first = next(length for length in range(len(text)) if resembles_message(text[:length]))
    assert first <= 16
    assert all(resembles_message(text[:length]) for length in range(first, len(text) + 1))


def test_names_in_strings_comments_and_messages_are_not_outermost() -> None:
    assert names_in_text('# a: 1\nb: "c: 2" d { e: 3 } f: \'') == {"b", "d", "f"}


@pytest.mark.parametrize(
    "text", ["", "{", '{"a', "name", "dims 1", '{"version": 1, "tool": {"name": "x", "input": []}}']
)
def test_other_texts_resemble_none(text: str) -> None:
    assert not resembles_message(text)


def test_a_report_of_one_line_for_each_finding_is_no_message() -> None:
    """A later run replaces it."""
    lines = ("graph.node[1].name: error[a-rule] node", "opset_import[1].domain: note", "domain: error[a-rule] text")
    assert names_in_text("".join(f"m.onnx: {line}\n" for line in lines)) == set()


def test_a_value_behind_a_colon_is_no_name() -> None:
    assert names_in_text("data_type: FLOAT domain: name graph { } ir_version: 8") == {
        "data_type",
        "domain",
        "graph",
        "ir_version",
    }
