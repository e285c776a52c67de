# SPDX-License-Identifier: Apache-2.0
"""`onnx.parser` reads lines of a model as the same model, where nothing is left out of them."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
import onnx
import onnx.numpy_helper
import onnx.parser
import onnx.printer
import onnx.shape_inference
import pytest
from support.project.fixture_files import fixture_paths, read_fixture

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Graph, Model
from onnx_lint.schema import Proto
from onnx_lint.surroundings.line_writer import LineWriter
from onnx_lint.surroundings.nodes import write_initializer, write_node
from onnx_lint.surroundings.types import write_value_info

NAME = (("name", None),)
"""The focus that makes the writer include the name of a node."""

BACKEND = Path(onnx.__file__).parent / "backend" / "test" / "data"


@functools.cache
def models() -> tuple[Model, ...]:
    """A quarter of the fixtures, and a twentieth of the models that come with onnx."""
    fixtures = (read_fixture(path).model() for path in sorted(fixture_paths())[::4])
    shipped = (load(BytesSource(path.read_bytes()), str(path)) for path in sorted(BACKEND.rglob("*.onnx"))[::20])
    return tuple(chain(fixtures, shipped))


def graphs() -> Iterator[Graph]:
    return (graph for model in models() for graph in model.graphs)


BEYOND_SYNTAX = re.compile(
    r"""\.\.\.|undefined|\((a scalar|of unknown rank)\)|[\[, ]-\d+[\], ]|\\|""|\."|opaque\{|= \{\w+: """
)
"""Parts of a line that are left out, or for which the syntax has no words, or no unambiguous ones."""


def written(proto: Proto, write: Callable[[LineWriter, Proto], None]) -> str:
    line = LineWriter(NAME)
    write(line, proto)
    return line.text


@pytest.mark.slow
def test_nodes_are_read_back():
    """Wherever onnx reads back what it prints itself, unless a part is left out."""
    wrong, read, cut = [], 0, 0
    for node in chain.from_iterable(graph.nodes for graph in graphs()):
        message = onnx.NodeProto.FromString(schema.serialized(node.proto))
        if message.name == "":
            message.ClearField("name")  # the printer of onnx would write it
        given = printed(message)
        text = written(node.proto, write_node)
        if BEYOND_SYNTAX.search(text) or given is None or read_back(given) != given:
            cut += 1
            continue
        read += 1
        if read_back(text) != given:
            wrong.append((text, given))
    assert wrong == []
    assert read > 500
    assert read > 5 * cut


def printed(node: onnx.NodeProto) -> str | None:
    try:
        return str(onnx.printer.to_text(node))
    except (UnicodeDecodeError, onnx.shape_inference.InferenceError):  # names in another encoding, negative sizes
        return None


def read_back(text: str) -> str | None:
    """The text that onnx prints for the node that it reads from a text; None if it cannot read it."""
    try:
        return printed(onnx.parser.parse_node(text))
    except (onnx.parser.ParseError, UnicodeDecodeError):
        return None


def test_declarations_are_read_back():
    wrong, read = [], 0
    for graph in graphs():
        for value in () if graph.is_function or graph.is_file else (*graph.proto.input, *graph.proto.output):
            text = written(value, write_value_info)
            given = onnx.ValueInfoProto.FromString(schema.serialized(value))
            if BEYOND_SYNTAX.search(text) or "denotation" in str(given):
                continue
            read += 1
            (again,) = onnx.parser.parse_graph(f"g ({text}) => () {{}}").input
            if (again.name, again.type) != (given.name, given.type):
                wrong.append((text, given))
    assert wrong == []
    assert read > 500


def test_initializers_are_read_back():
    wrong, read = [], 0
    for graph in graphs():
        for index, name in enumerate(graph.initializer_names):
            tensor = graph.message_at("initializer", index)
            text = written(tensor, write_initializer)
            if BEYOND_SYNTAX.search(text) or " = {" not in text or not name:
                continue
            given = onnx.TensorProto.FromString(schema.serialized(tensor))
            try:
                content = _content(given)
            except ValueError:  # some fixtures have more or fewer values than the shape
                continue
            read += 1
            (again,) = onnx.parser.parse_graph(f"g () => () <{text}> {{}}").initializer
            if _content(again) != content:
                wrong.append((text, given))
    assert wrong == []
    assert read > 100


def _content(tensor: onnx.TensorProto) -> tuple[object, ...]:
    content: object = None
    if 0 not in tensor.dims:
        values = onnx.numpy_helper.to_array(tensor)
        if tensor.data_type in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
            values = np.where(np.isnan(values), np.nan, values)  # the syntax writes every NaN alike
        content = values.tolist() if tensor.data_type == onnx.TensorProto.STRING else values.tobytes()
    return tensor.name, tensor.data_type, tuple(tensor.dims), content


def test_eight_values_of_a_tensor_are_shown():
    for count, shown in ((8, "int64[8] w = {0, 1, 2, 3, 4, 5, 6, 7}"), (9, "int64[9] w = {...}")):
        line = LineWriter(NAME)
        write_initializer(
            line, schema.message("TensorProto")(name="w", data_type=7, dims=[count], int64_data=range(count))
        )
        assert line.text == shown
