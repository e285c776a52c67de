# SPDX-License-Identifier: Apache-2.0
"""A fault of a tensor is found in every place for tensors, and a right tensor has no finding in any of them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from hashlib import sha1
from pathlib import Path
from typing import Any

import pytest

from onnx_lint import schema
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings

FLOAT, UINT8, INT8, STRING, BOOL, FLOAT16, UINT32, COMPLEX64, COMPLEX128 = 1, 2, 3, 8, 9, 10, 12, 14, 15
INT64, FLOAT8E4M3FN, UINT4, INT4, UINT2, FLOAT6E2M3 = 7, 17, 21, 22, 25, 27
EXTERNAL = 1

CHAPTERS = ("tensor", "sparse-tensor", "external-data")


def message(kind: str, /, **values: Any) -> Any:
    return schema.message(kind)(**values)


def tensor(data_type: int, dims: list[int], **values: Any) -> Any:
    return message("TensorProto", name="w", data_type=data_type, dims=dims, **values)


def external(*entries: tuple[str, str], data_type: int = FLOAT, dims: tuple[int, ...] = (1,), **values: Any) -> Any:
    made = tensor(data_type, list(dims), data_location=EXTERNAL, **values)
    for key, value in entries:
        made.external_data.add(key=key, value=value)
    return made


OK = ("location", "ok.bin")


def _without_mark() -> Any:
    made = external(OK, raw_data=bytes(4))
    made.ClearField("data_location")
    return made


def _segment(begin: int, end: int, **values: Any) -> Any:
    return tensor(FLOAT, [4], segment={"begin": begin, "end": end}, **values)


FAULTS: dict[str, tuple[str, Any]] = {
    "undefined type": ("unknown-tensor-element-type", tensor(0, [1], raw_data=bytes(4))),
    "type of the future in raw_data": ("unknown-tensor-element-type", tensor(99, [1], raw_data=bytes(4))),
    "negative dimension": ("invalid-tensor-shape", tensor(FLOAT, [-1], raw_data=bytes(4))),
    "product beyond 64 bits": ("invalid-tensor-shape", tensor(FLOAT, [2**40, 2**40], raw_data=bytes(4))),
    "7 bytes of int64": ("tensor-size-mismatch", tensor(INT64, [1], raw_data=bytes(7))),
    "5 bytes of float": ("tensor-size-mismatch", tensor(FLOAT, [1], raw_data=bytes(5))),
    "two values of a scalar": ("tensor-size-mismatch", tensor(FLOAT, [], float_data=[1, 2])),
    "a byte too few of int4": ("tensor-size-mismatch", tensor(INT4, [5], raw_data=bytes(2))),
    "a byte too many of int4": ("tensor-size-mismatch", tensor(INT4, [4], raw_data=bytes(3))),
    "a byte too few of uint2": ("tensor-size-mismatch", tensor(UINT2, [9], raw_data=bytes(2))),
    "a byte too few of 6 bits": ("tensor-size-mismatch", tensor(FLOAT6E2M3, [5], raw_data=bytes(3))),
    "half a complex number": ("tensor-size-mismatch", tensor(COMPLEX64, [2], float_data=[1, 2, 3])),
    "half a long complex number": ("tensor-size-mismatch", tensor(COMPLEX128, [2], double_data=[1] * 5)),
    "a string is missing": ("tensor-size-mismatch", tensor(STRING, [2], string_data=[b"a"])),
    "a segment of another size": ("invalid-segment", _segment(0, 2, float_data=[1] * 5)),
    "no values": ("ambiguous-tensor-data", tensor(FLOAT, [2])),
    "values in two fields": ("ambiguous-tensor-data", tensor(FLOAT, [1], raw_data=bytes(4), float_data=[1])),
    "values of no elements": ("data-in-empty-tensor", tensor(FLOAT, [0, 3], raw_data=bytes(4))),
    "floats in int32_data": ("misplaced-tensor-data", tensor(FLOAT, [1], int32_data=[1])),
    "strings in raw_data": ("string-in-raw-data", tensor(STRING, [1], raw_data=b"a")),
    "no UTF-8": ("non-utf8-tensor-string", tensor(STRING, [1], string_data=[b"\xff"])),
    "byte order mark": ("decorated-tensor-string", tensor(STRING, [1], string_data=[b"\xef\xbb\xbfa"])),
    "NUL at the end": ("decorated-tensor-string", tensor(STRING, [1], string_data=[b"a\0"])),
    "Boolean of 2": ("non-boolean-byte", tensor(BOOL, [2], raw_data=b"\1\2")),
    "Boolean of 2 in int32_data": ("out-of-range-element", tensor(BOOL, [2], int32_data=[1, 2])),
    "int8 of 300": ("out-of-range-element", tensor(INT8, [1], int32_data=[300])),
    "uint8 of -1": ("out-of-range-element", tensor(UINT8, [1], int32_data=[-1])),
    "uint32 of 2**40": ("out-of-range-element", tensor(UINT32, [1], uint64_data=[2**40])),
    "17 bits of float16": ("out-of-range-element", tensor(FLOAT16, [1], int32_data=[0x1_0000])),
    "9 bits of float8": ("out-of-range-element", tensor(FLOAT8E4M3FN, [1], int32_data=[0x100])),
    "7 bits of float6": ("out-of-range-element", tensor(FLOAT6E2M3, [1], int32_data=[0x40])),
    "one int4 an entry": ("mispacked-sub-byte-data", tensor(INT4, [8], int32_data=[1] * 8)),
    "bits behind int4": ("nonzero-padding", tensor(INT4, [3], raw_data=b"\x11\xf1")),
    "bits behind int4 in int32_data": ("nonzero-padding", tensor(UINT4, [3], int32_data=[0x11, 0xF1])),
    "bits behind uint2": ("nonzero-padding", tensor(UINT2, [3], raw_data=b"\xff")),
    "bits behind float6": ("nonzero-padding", tensor(FLOAT6E2M3, [1], raw_data=b"\xff")),
    "a segment that ends before it begins": ("invalid-segment", _segment(3, 2, float_data=[1])),
    "no location": ("missing-external-location", external(("offset", "0"))),
    "empty location": ("missing-external-location", external(("location", ""))),
    "absolute": ("non-relative-location", external(("location", "/x"))),
    "drive": ("non-relative-location", external(("location", "C:x"))),
    "backslash": ("non-relative-location", external(("location", "a\\x"))),
    "NUL": ("non-relative-location", external(("location", "a\0x"))),
    "in memory": ("non-relative-location", external(("location", "#x"))),
    "parent": ("parent-directory-location", external(("location", "a/../../x"))),
    "no file": ("missing-external-file", external(("location", "nothing.bin"))),
    "directory": ("missing-external-file", external(("location", "folder"))),
    "pipe": ("missing-external-file", external(("location", "pipe"))),
    "symbolic link": ("linked-external-file", external(("location", "link.bin"))),
    "checksum": ("checksum-mismatch", external(OK, ("checksum", "0" * 40))),
    "linked folder": ("linked-external-file", external(("location", "linked/ok.bin"))),
    "hard link": ("linked-external-file", external(("location", "hard.bin"))),
    "values inside as well": ("data-beside-external-data", external(OK, raw_data=bytes(4))),
    "negative offset": ("malformed-external-range", external(OK, ("offset", "-1"))),
    "length in hexadecimal": ("malformed-external-range", external(OK, ("length", "0x4"))),
    "length beyond 64 bits": ("malformed-external-range", external(OK, ("length", "9" * 25))),
    "offset in other digits": ("malformed-external-range", external(OK, ("offset", "\u0664"))),
    "offset beyond the file": ("external-range-beyond-file", external(OK, ("offset", "8192"))),
    "length beyond the file": ("external-range-beyond-file", external(OK, ("length", str(2**53)))),
    "shape beyond the file": ("external-range-beyond-file", external(OK, dims=(100_000,))),
    "another length": ("external-length-mismatch", external(OK, ("length", "5"))),
    "not aligned": ("unaligned-external-offset", external(OK, ("offset", "3"), ("length", "4"))),
    "unknown key": ("unknown-external-key", external(OK, ("__class__", "x"))),
    "key twice": ("duplicate-external-key", external(OK, OK)),
    "unknown place": ("unknown-data-location", tensor(FLOAT, [1], raw_data=bytes(4), data_location=7)),
    "strings outside": ("external-string-tensor", external(OK, data_type=STRING)),
    "no mark": ("unmarked-external-data", _without_mark()),
}
"""For each fault of a tensor the rule that finds it."""

RIGHT: dict[str, Any] = {
    "scalar": tensor(FLOAT, [], float_data=[1]),
    "no elements": tensor(FLOAT, [0, 2**40, 2**40]),
    "int4 of odd count": tensor(INT4, [3], raw_data=b"\x11\x01"),
    "int4 with its sign": tensor(INT4, [4], int32_data=[-15, 0x21]),
    "uint2": tensor(UINT2, [5], int32_data=[0xFF, 3]),
    "float6": tensor(FLOAT6E2M3, [5], raw_data=bytes((1, 2, 3, 63))),
    "float6, one an entry": tensor(FLOAT6E2M3, [2], int32_data=[1, 63]),
    "complex": tensor(COMPLEX128, [2], double_data=[1] * 4),
    "strings": tensor(STRING, [3], string_data=[b"", b"\0a", "é\ufeff".encode()]),
    "segment": _segment(1, 3, float_data=[1, 2]),
    "float16": tensor(FLOAT16, [2], int32_data=[0xFFFF, 0]),
    "outside": external(OK, ("offset", "4096"), ("length", "4"), ("checksum", sha1(bytes(8192)).hexdigest())),
    "outside, without range": external(OK, dims=(2048,)),
}


# --- where tensors stand


def _attribute(**value: Any) -> Any:
    return message("AttributeProto", name="value", **value)


def _node(attribute: Any) -> Any:
    return message("NodeProto", op_type="C", domain="com.example", output=["c"], attribute=[attribute])


def _graph(**values: Any) -> Any:
    return message("GraphProto", name="g", **values)


def _function(**values: Any) -> Any:
    return message("FunctionProto", name="F", domain="com.example", output=["c"], **values)


def _model(**values: Any) -> Any:
    return message("ModelProto", ir_version=14, opset_import=[{"version": 28}], **values)


def _sequence(held: Any) -> Any:
    return message("SequenceProto", elem_type=1, tensor_values=[held])


T, TENSORS, G = 4, 9, 5
"""AttributeProto.AttributeType of a tensor, of tensors and of a graph."""

DENSE: dict[str, Callable[[Any], Any]] = {
    "graph.initializer[0]": lambda held: _model(graph=_graph(initializer=[held])),
    "graph.node[0].attribute[0].t": lambda held: _model(graph=_graph(node=[_node(_attribute(type=T, t=held))])),
    "graph.node[0].attribute[0].tensors[0]": lambda held: _model(
        graph=_graph(node=[_node(_attribute(type=TENSORS, tensors=[held]))])
    ),
    "graph.node[0].attribute[0].g.initializer[0]": lambda held: _model(
        graph=_graph(node=[_node(_attribute(type=G, g=_graph(initializer=[held])))])
    ),
    "training_info[0].initialization.initializer[0]": lambda held: _model(
        training_info=[{"initialization": _graph(initializer=[held])}]
    ),
    "training_info[0].algorithm.node[0].attribute[0].t": lambda held: _model(
        training_info=[{"algorithm": _graph(node=[_node(_attribute(type=T, t=held))])}]
    ),
    "functions[0].node[0].attribute[0].t": lambda held: _model(
        functions=[_function(node=[_node(_attribute(type=T, t=held))])]
    ),
    "functions[0].attribute_proto[0].t": lambda held: _model(
        functions=[_function(attribute_proto=[_attribute(type=T, t=held)])]
    ),
    "functions[0].attribute_proto[0].g.initializer[0]": lambda held: _model(
        functions=[_function(attribute_proto=[_attribute(type=G, g=_graph(initializer=[held]))])]
    ),
    "tensor": lambda held: held,
    "initializer[0]": lambda held: _graph(initializer=[held]),
    "attribute[0].t": lambda held: _node(_attribute(type=T, t=held)),
    "t": lambda held: _attribute(type=T, t=held),
    "node[0].attribute[0].t": lambda held: _function(node=[_node(_attribute(type=T, t=held))]),
    "functions[0].node[0].attribute[0].tensors[0]": lambda held: message(
        "OperatorSetProto",
        magic="ONNXOPSET",
        ir_version=14,
        domain="com.example",
        opset_version=1,
        functions=[_function(node=[_node(_attribute(type=TENSORS, tensors=[held]))])],
    ),
    "tensor_values[0]": _sequence,
    "sequence_values[0].tensor_values[0]": lambda held: message(
        "SequenceProto", elem_type=3, sequence_values=[_sequence(held)]
    ),
    "values.tensor_values[0]": lambda held: message(
        "MapProto", key_type=INT64, keys=[1], values={"elem_type": 1, "tensor_values": [held]}
    ),
    "tensor_value": lambda held: message("OptionalProto", elem_type=1, tensor_value=held),
}
"""For each place of a tensor, a file with a tensor there."""

SPARSE: dict[str, Callable[[Any], Any]] = {
    "graph.sparse_initializer[0]": lambda held: _model(graph=_graph(sparse_initializer=[held])),
    "graph.node[0].attribute[0].sparse_tensor": lambda held: _model(
        graph=_graph(node=[_node(_attribute(type=11, sparse_tensor=held))])
    ),
    "graph.node[0].attribute[0].sparse_tensors[0]": lambda held: _model(
        graph=_graph(node=[_node(_attribute(type=12, sparse_tensors=[held]))])
    ),
    "training_info[0].algorithm.sparse_initializer[0]": lambda held: _model(
        training_info=[{"algorithm": _graph(sparse_initializer=[held])}]
    ),
    "functions[0].attribute_proto[0].sparse_tensor": lambda held: _model(
        functions=[_function(attribute_proto=[_attribute(type=11, sparse_tensor=held)])]
    ),
    "sparse-tensor": lambda held: held,
    "sparse_initializer[0]": lambda held: _graph(sparse_initializer=[held]),
    "sparse_tensor_values[0]": lambda held: message("SequenceProto", elem_type=2, sparse_tensor_values=[held]),
    "sparse_tensor_value": lambda held: message("OptionalProto", elem_type=2, sparse_tensor_value=held),
}
"""For each place of a sparse tensor, a file with a sparse tensor there."""


def sparse(values: Any = None, indices: Any = None, dims: tuple[int, ...] = (4,)) -> Any:
    made = message("SparseTensorProto", dims=dims)
    made.values.CopyFrom(values or tensor(FLOAT, [2], float_data=[1, 2]))
    made.indices.CopyFrom(indices or tensor(INT64, [2], int64_data=[1, 3]))
    return made


def _indices(*numbers: int, dims: tuple[int, ...] | None = None) -> Any:
    return tensor(INT64, list(dims or (len(numbers),)), int64_data=numbers)


SPARSE_FAULTS: dict[str, tuple[str, Any]] = {
    "values of two dimensions": ("malformed-sparse-values", sparse(tensor(FLOAT, [2, 1], float_data=[1, 2]))),
    "another number of indices": ("malformed-sparse-indices", sparse(indices=_indices(1, 2, 3))),
    "another rank": ("malformed-sparse-indices", sparse(indices=_indices(0, 0, 1, 1, dims=(2, 2)))),
    "indices of int32": ("malformed-sparse-indices", sparse(indices=tensor(6, [2], int32_data=[1, 3]))),
    "index at the end": ("sparse-index-out-of-range", sparse(indices=_indices(1, 4))),
    "negative index": ("sparse-index-out-of-range", sparse(indices=_indices(-1, 3))),
    "coordinate at the end": (
        "sparse-index-out-of-range",
        sparse(indices=_indices(0, 0, 1, 2, dims=(2, 2)), dims=(2, 2)),
    ),
    "descending": ("unordered-sparse-indices", sparse(indices=_indices(3, 1))),
    "twice": ("unordered-sparse-indices", sparse(indices=_indices(1, 1))),
    "coordinates descend": (
        "unordered-sparse-indices",
        sparse(indices=_indices(1, 0, 0, 1, dims=(2, 2)), dims=(2, 2)),
    ),
    "no dimensions": ("degenerate-sparse-shape", sparse(dims=())),
    "dimension of 0": ("degenerate-sparse-shape", sparse(tensor(FLOAT, [0]), tensor(INT64, [0]), (0,))),
    "product beyond 64 bits": ("degenerate-sparse-shape", sparse(dims=(2**40, 2**40))),
    "a zero is stored": ("explicit-default-value", sparse(tensor(FLOAT, [2], float_data=[1, 0]))),
}

SPARSE_RIGHT: dict[str, Any] = {
    "linear": sparse(),
    "coordinates": sparse(indices=_indices(0, 1, 1, 0, dims=(2, 2)), dims=(2, 2)),
    "linear in two dimensions": sparse(dims=(2, 2)),
    "no values": sparse(tensor(FLOAT, [0]), tensor(INT64, [0])),
    "minus zero": sparse(tensor(FLOAT, [2], float_data=[1, -0.0])),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what locations may lead to."""
    made = tmp_path_factory.mktemp("places")
    (made / "ok.bin").write_bytes(bytes(8192))
    (made / "folder").mkdir()
    os.mkfifo(made / "pipe")
    (made / "link.bin").symlink_to("ok.bin")
    (made / "linked").symlink_to(".")
    (made / "original.bin").write_bytes(bytes(8192))
    os.link(made / "original.bin", made / "hard.bin")
    return made


@functools.cache
def _settings(kind: str) -> Settings:
    return Settings(select=CHAPTERS, proto=kind)


def _found(held: Any, folder: Path) -> list[tuple[str, str]]:
    """The rule and the place of each finding of a tensor."""
    path = folder / "model.onnx"
    path.write_bytes(held.SerializePartialToString())
    report = lint_file(str(path), _settings(held.DESCRIPTOR.name))
    assert report.internal_errors == ()
    assert report.not_judged is None
    return [(item.rule, item.place) for item in report.diagnostics]


SAMPLED = 3
"""The default run has one fault in so many at each place, each fault at a third of the places; heavy tests have all."""

Faults = dict[str, tuple[str, Any]]


@pytest.fixture(params=[SAMPLED, pytest.param(1, marks=pytest.mark.heavy)])
def faults(request: pytest.FixtureRequest, place: str) -> Faults:
    step: int = request.param
    return dict(list(FAULTS.items())[[*DENSE, *SPARSE].index(place) % step :: step])


@pytest.mark.parametrize("place", DENSE)
def test_a_fault_of_a_tensor_is_found_wherever_it_stands(place: str, faults: Faults, folder: Path):
    for name, (rule, held) in faults.items():
        found = _found(DENSE[place](held), folder)
        assert rule in {found_rule for found_rule, _ in found}, name
        assert all(where == place or where.startswith(f"{place}.") or place == "tensor" for _, where in found), name


@pytest.mark.parametrize("place", SPARSE)
def test_a_fault_of_a_part_of_a_sparse_tensor_is_found_wherever_it_stands(place: str, faults: Faults, folder: Path):
    for name, (rule, held) in faults.items():
        for part in ({"values": held}, {"indices": held}):
            found = _found(SPARSE[place](sparse(**part)), folder)
            assert rule in {found_rule for found_rule, _ in found}, name


@pytest.mark.parametrize("place", SPARSE)
def test_a_fault_of_a_sparse_tensor_is_found_wherever_it_stands(place: str, folder: Path):
    for name, (rule, held) in SPARSE_FAULTS.items():
        found = _found(SPARSE[place](held), folder)
        assert {found_rule for found_rule, _ in found} == {rule}, name
        assert all(where.startswith(place) or place == "sparse-tensor" for _, where in found), name


@pytest.mark.parametrize("place", DENSE)
def test_a_tensor_that_is_right_is_right_everywhere(place: str, folder: Path):
    for name, held in RIGHT.items():
        assert _found(DENSE[place](held), folder) == [], name


@pytest.mark.parametrize("place", SPARSE)
def test_a_sparse_tensor_that_is_right_is_right_everywhere(place: str, folder: Path):
    for name, held in SPARSE_RIGHT.items():
        assert _found(SPARSE[place](held), folder) == [], name
