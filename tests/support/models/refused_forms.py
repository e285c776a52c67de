# SPDX-License-Identifier: Apache-2.0
"""Models that ONNX Runtime takes or refuses for their form: calls, data in files, scales, and its own operators.

All conform to ONNX, but for nodes with operators that ONNX Runtime defines in the default domain.

Each has the answers of onnx-lint for ONNX Runtime 1.20 and 1.32: `+` loads, `-` refuses, `?` not judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import onnx.parser
from onnx import ModelProto, TensorProto

DATA: Final = (2).to_bytes(8, "little") * 8
"""The content of the data file s.bin: the shape [2, 2], and enough for any other."""


class AnsweredModel(NamedTuple):
    """A model with its answers."""

    name: str
    model: ModelProto
    answers: str


_HEADER: Final = '<ir_version: 9, producer_name: "p", opset_import: ["": 17, "org.example": 1]>'
_FUNCTION: Final = '<domain: "org.example", opset_import: ["": 17, "org.example": 1]>'
_TWO: Final = "F (a) => (b, c) { b = Relu(a) c = Neg(a) }"
_RESHAPE: Final = "F (a, s) => (b) { b = Reshape(a, s) }"
_S: Final = "s.bin: int64[2] s"
_BRANCHES: Final = (
    "y = If(k) <then_branch = t () => (float[2,2] u) { %s }, else_branch = e () => (float[2,2] v) { %s }>"
)
_FIRST: Final = "(float[2,2] x) => (float[2,2] y)"
_CHOICE: Final = "(float[2,2] x, bool k) => (float[2,2] y)"
_RECURRENT: Final = "(float[3,4,5] x, float[1,8,5] w, float[1,8,2] r) => (float[m,n,o,p] y)"
_SIZES: Final = "() => (float[m,n,o] y)"
_LSTM: Final = "F <layout> (x, w, r) => (y) { y = LSTM <hidden_size = 2, layout: int = @layout> (x, w, r) }"
_LSTM_DEFAULT: Final = _LSTM.replace("<layout>", "<layout: int = 1>")

_DOUBLE: Final = "d = Cast <to = 11> (x) t = ThresholdedRelu(d)"
_BACK: Final = "y = Cast <to = 1> (t)"
_SHAPED: Final = "s = Shape(t) y = Expand(x, s)"

_ROWS: Final = [
    # calls that leave out outputs
    ("all outputs of a call", _FIRST, "", "y, z = org.example.F(x)", [_TWO], "++"),
    ("the last output left out", _FIRST, "", "y = org.example.F(x)", [_TWO], "--"),
    ("an empty name for the last output", _FIRST, "", 'y, "" = org.example.F(x)', [_TWO], "++"),
    ("an empty name for the first output", _FIRST, "", '"", y = org.example.F(x)', [_TWO], "++"),
    (
        "the last output left out in branches",
        _CHOICE,
        "",
        _BRANCHES % ("u = org.example.F(x)", "v = org.example.F(x)"),
        [_TWO],
        "--",
    ),
    (
        "the last output left out in a function",
        _FIRST,
        "",
        "y = org.example.G(x)",
        [_TWO, "G (a) => (b) { b = org.example.F(a) }"],
        "--",
    ),
    (
        "the last output left out in a function that nothing calls",
        _FIRST,
        "",
        "y = Relu(x)",
        [_TWO, "G (a) => (b) { b = org.example.F(a) }"],
        "++",
    ),
    # shapes in a data file
    ("a shape in a data file", _FIRST, _S, "y = Reshape(x, s)", [], "--"),
    ("behind Identity", _FIRST, _S, "t = Identity(s) y = Reshape(x, t)", [], "--"),
    ("behind two Identity", _FIRST, _S, "t = Identity(s) u = Identity(t) y = Reshape(x, u)", [], "--"),
    ("behind a Cast to the same type", _FIRST, _S, "t = Cast <to = 7> (s) y = Reshape(x, t)", [], "--"),
    (
        "behind a Cast to another type",
        _FIRST,
        "s.bin: int32[2] s",
        "t = Cast <to = 7> (s) y = Reshape(x, t)",
        [],
        "++",
    ),
    ("behind a computation", _FIRST, _S, "t = Abs(s) y = Reshape(x, t)", [], "++"),
    (
        "behind an Identity whose output is one of the model",
        "(float[2,2] x) => (float[2,2] y, int64[2] t)",
        _S,
        "t = Identity(s) y = Reshape(x, t)",
        [],
        "++",
    ),
    ("as an argument", _FIRST, _S, "y = org.example.F(x, s)", [_RESHAPE], "--"),
    ("behind Identity, as an argument", _FIRST, _S, "t = Identity(s) y = org.example.F(x, t)", [_RESHAPE], "--"),
    (
        "as an argument of a call in a function",
        _FIRST,
        _S,
        "y = org.example.G(x, s)",
        [_RESHAPE, "G (a, s) => (b) { b = org.example.F(a, s) }"],
        "--",
    ),
    (
        "as an argument of one call of two",
        "(float[2,2] x) => (float[1,4] y)",
        f"{_S}; int64[2] k = {{1, 4}}",
        "u = org.example.F(x, s) y = org.example.F(u, k)",
        [_RESHAPE],
        "--",
    ),
    (
        "behind Identity in a function",
        _FIRST,
        _S,
        "y = org.example.F(x, s)",
        ["F (a, s) => (b) { t = Identity(s) b = Reshape(a, t) }"],
        "--",
    ),
    (
        "from a function that hands it on",
        _FIRST,
        _S,
        "t = org.example.F(s) y = Reshape(x, t)",
        ["F (s) => (t) { t = Identity(s) }"],
        "--",
    ),
    (
        "another call of a function that hands it on",
        "(float[2,2] x) => (float[1,4] y, float[2] z)",
        f"{_S}; int64[2] k = {{1, 4}}",
        "e = org.example.F(s) t = org.example.F(k) y = Reshape(x, t) z = Cast <to = 1> (e)",
        ["F (s) => (t) { t = Identity(s) }"],
        "++",
    ),
    ("in branches", _CHOICE, _S, _BRANCHES % ("u = Reshape(x, s)", "v = Reshape(x, s)"), [], "--"),
    (
        "behind Identity outside of branches",
        _CHOICE,
        _S,
        f"w = Identity(s) {_BRANCHES % ('u = Reshape(x, w)', 'v = Reshape(x, w)')}",
        [],
        "--",
    ),
    ("sizes behind Identity", "() => (float[m,n] y)", _S, "t = Identity(s) y = ConstantOfShape(t)", [], "--"),
    ("a range behind Identity", "() => (int64[n] y)", "s.bin: int64 s", "t = Identity(s) y = Range(t, t, t)", [], "--"),
    (
        "the depth of OneHot",
        "(int64[2] i) => (float[2,n] y)",
        "s.bin: int64 s; float[2] v = {0, 1}",
        "y = OneHot(i, s, v)",
        [],
        "+-",
    ),
    (
        "the depth of OneHot as an argument",
        "(int64[2] i) => (float[2,n] y)",
        "s.bin: int64 s; float[2] v = {0, 1}",
        "y = org.example.F(i, s, v)",
        ["F (i, s, v) => (y) { y = OneHot(i, s, v) }"],
        "+-",
    ),
    # the layout of an LSTM that a call gives
    ("a layout by the call", _RECURRENT, "", "y = org.example.F <layout = 1> (x, w, r)", [_LSTM], "--"),
    ("no layout by the call", _RECURRENT, "", "y = org.example.F <layout = 0> (x, w, r)", [_LSTM], "++"),
    ("no layout", _RECURRENT, "", "y = org.example.F(x, w, r)", [_LSTM], "++"),
    ("a layout by default", _RECURRENT, "", "y = org.example.F(x, w, r)", [_LSTM_DEFAULT], "--"),
    ("another than by default", _RECURRENT, "", "y = org.example.F <layout = 0> (x, w, r)", [_LSTM_DEFAULT], "++"),
    # nodes without a kernel, which ONNX Runtime may remove before it looks for one
    ("no kernel", _FIRST, "", f"{_DOUBLE} {_BACK}", [], "--"),
    ("no kernel before a shape", _FIRST, "", f"{_DOUBLE} {_SHAPED}", [], "??"),
    ("no kernel in a function", _FIRST, "", "y = org.example.F(x)", [f"F (x) => (y) {{ {_DOUBLE} {_BACK} }}"], "--"),
    (
        "no kernel before a shape in a function",
        _FIRST,
        "",
        f"{_DOUBLE} y = org.example.F(t, x)",
        ["F (t, x) => (y) { s = Shape(t) y = Expand(x, s) }"],
        "??",
    ),
    ("no kernel in a branch", _CHOICE, "", _BRANCHES % ("u = Relu(x)", f"{_DOUBLE} v = Cast <to = 1> (t)"), [], "--"),
    (
        "no kernel in a branch of a constant condition",
        _FIRST,
        "bool k = {1}",
        _BRANCHES % ("u = Relu(x)", f"{_DOUBLE} v = Cast <to = 1> (t)"),
        [],
        "??",
    ),
    (
        "no kernel in a branch of a condition about a shape",
        _FIRST,
        "int64[2] s = {2, 2}; int64 i = {0}",
        "e = Shape(x) q = Equal(e, s) k = Gather(q, i) "
        + _BRANCHES % ("u = Relu(x)", f"{_DOUBLE} v = Cast <to = 1> (t)"),
        [],
        "??",
    ),
    (
        "no kernel in a branch in a function",
        _FIRST,
        "bool k = {1}",
        "y = org.example.F(x, k)",
        [f"F (x, k) => (y) {{ {_BRANCHES % ('u = Relu(x)', f'{_DOUBLE} v = Cast <to = 1> (t)')} }}"],
        "??",
    ),
    ("no kernel of Dropout", _FIRST, "", "t = Cast <to = 16> (x) u = Dropout(t) y = Cast <to = 1> (u)", [], "??"),
    # tensors that ONNX Runtime refuses if it reads them
    ("strings", "() => (string[n] y)", "string[0] s = {}", "y = Identity(s)", [], "++"),
    ("strings in raw_data", "() => (string[n] y)", "raw: string[0] s", "y = Identity(s)", [], "??"),
    ("unread strings in raw_data", _FIRST, "raw: string[0] s", "y = Relu(x)", [], "??"),
    (
        "sizes of 62 bits",
        "() => (float[m,n,o] y)",
        "raw: float[2147483648,2147483648,0] s",
        "y = Identity(s)",
        [],
        "++",
    ),
    (
        "sizes of 63 bits",
        "() => (float[m,n,o] y)",
        "raw: float[4294967296,2147483648,0] s",
        "y = Identity(s)",
        [],
        "??",
    ),
    (
        "sizes behind a 0",
        "() => (float[m,n,o] y)",
        "raw: float[0,4294967296,2147483648] s",
        "y = Identity(s)",
        [],
        "++",
    ),
    ("unread sizes of 63 bits", _FIRST, "raw: float[4294967296,2147483648,0] s", "y = Relu(x)", [], "??"),
    ("the key basepath", _FIRST, "based: float[2,2] s", "y = Add(x, s)", [], "??"),
    ("the unread key basepath", _FIRST, "based: float[2,2] s", "y = Relu(x)", [], "??"),
    ("no key basepath", _FIRST, "s.bin: float[2,2] s", "y = Add(x, s)", [], "++"),
]
"""Names, the inputs and outputs of the graph, its initializers, its nodes, functions, and the answers.

An initializer `s.bin: TYPE NAME` is in the data file, `based:` in one with a base path, and `raw:` has empty raw_data.
"""


REFUSED_IF_READ: Final = ("strings in raw_data", "sizes of 63 bits", "key basepath")
"""The ends of the names of models that are refused, unless the name says that nothing reads the tensor."""


def refused_forms() -> Iterator[AnsweredModel]:
    """Yield the models."""
    for name, signature, initializers, nodes, functions, answers in _ROWS:
        parts = [each for each in initializers.split("; ") if each]
        written = ", ".join(each for each in parts if "=" in each)
        bodies = " ".join(f"{_FUNCTION} {each}" for each in functions)
        initial = f"<{written}>" if written else ""
        model = onnx.parser.parse_model(f"{_HEADER} g {signature} {initial} {{ {nodes} }} {bodies}")
        for each in parts:
            if "=" not in each:
                model.graph.initializer.append(_tensor(each))
        if not functions:
            del model.opset_import[1]
        yield AnsweredModel(name, model, answers)
    for spelling, imports, is_called, answers in _SPELLINGS:
        name = f"nodes of {spelling!r}, imports of {imports}, {'called' if is_called else 'not called'}"
        yield AnsweredModel(name, _spelled(spelling, imports, is_called=is_called), answers)
    for attributes, rank, scales, answers in _RESIZED:
        yield AnsweredModel(f"Resize <{attributes}> by {scales}", _resized(attributes, rank, scales), answers)
    for text, answers in _OWN:
        yield AnsweredModel(text, onnx.parser.parse_model(_OWN_HEADER + text), answers)


def _tensor(text: str) -> TensorProto:
    """Return the tensor of a row that is not in the textual syntax."""
    found = re.fullmatch(r"(s\.bin|raw|based): (\w+)(?:\[([\d,]*)\])? (\w+)", text)
    assert found is not None, text
    kind, element, dims, name = found.groups()
    tensor = TensorProto(name=name, data_type=TensorProto.DataType.Value(element.upper()))
    tensor.dims.extend(int(size) for size in (dims or "").split(",") if size)
    if kind == "raw":
        tensor.raw_data = b""
        return tensor
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="s.bin")
    if kind == "based":
        tensor.external_data.add(key="basepath", value=".")
    return tensor


_SPELLINGS: Final = [
    ("", [""], True, "++"),
    ("", ["ai.onnx"], True, "--"),
    ("", ["ai.onnx"], False, "--"),
    ("", ["", "ai.onnx"], True, "++"),
    ("ai.onnx", [""], True, "--"),
    ("ai.onnx", [""], False, "--"),
    ("ai.onnx", ["ai.onnx"], True, "--"),
    ("ai.onnx", ["ai.onnx"], False, "??"),
    ("ai.onnx", ["", "ai.onnx"], False, "??"),
]
"""How the nodes of a function name the default domain, the names under which it imports it, whether it is called, and
the answers."""


def _spelled(spelling: str, imports: list[str], *, is_called: bool) -> ModelProto:
    node = "org.example.F(x)" if is_called else "Relu(x)"
    body = f"{_FUNCTION} F (a) => (b) {{ b = Relu(a) }}"
    model = onnx.parser.parse_model(f"{_HEADER} g {_FIRST} {{ y = {node} }} {body}")
    function = model.functions[0]
    function.node[0].domain = spelling
    del function.opset_import[:]
    for domain in imports:
        function.opset_import.add(domain=domain, version=17)
    return model


_RESIZED: Final = [
    ('mode = "nearest"', 4, "2, 2, 2, 2", "++"),
    ('mode = "linear"', 1, "2", "??"),
    ('mode = "linear"', 2, "2, 2", "++"),
    ('mode = "linear"', 3, "2, 2, 2", "++"),
    ('mode = "linear"', 4, "1, 1, 2, 2", "++"),
    ('mode = "linear"', 4, "1, 2, 2, 1", "++"),
    ('mode = "linear"', 4, "1, 2, 2, 2", "??"),
    ('mode = "linear"', 5, "1, 1, 2, 2, 2", "++"),
    ('mode = "linear"', 5, "1, 2, 2, 2, 1", "??"),
    ('mode = "linear"', 6, "1, 1, 1, 1, 2, 2", "??"),
    ('mode = "linear", axes = [2, 3]', 4, "2, 2", "++"),
    ('mode = "linear", axes = [0, 1]', 4, "2, 2", "??"),
    ('mode = "cubic"', 2, "2, 2", "++"),
    ('mode = "cubic"', 3, "1, 2, 2", "??"),
    ('mode = "cubic"', 4, "1, 1, 2, 2", "++"),
    ('mode = "cubic"', 4, "2, 1, 2, 2", "??"),
    ('mode = "linear", antialias = 1', 4, "1, 1, 2, 2", "++"),
    ('mode = "cubic", antialias = 1, exclude_outside = 1', 4, "1, 1, 2, 2", "++"),
    ('mode = "nearest", antialias = 1', 4, "1, 1, 2, 2", "??"),
    ('mode = "cubic", exclude_outside = 1', 4, "1, 1, 2, 2", "++"),
    ('mode = "linear", exclude_outside = 1', 4, "1, 1, 2, 2", "??"),
]
"""The attributes of Resize, the rank of its input, the scales, and the answers."""


def _resized(attributes: str, rank: int, scales: str) -> ModelProto:
    sizes, names = ",".join(["4"] * rank), ",".join("abcdef"[:rank])
    return onnx.parser.parse_model(
        f'<ir_version: 8, producer_name: "p", opset_import: ["": 18]> g (float[{sizes}] x) => (float[{names}] y)'
        f' <float[{scales.count(",") + 1}] s = {{{scales}}}> {{ y = Resize <{attributes}> (x, "", s) }}'
    )


_OWN_HEADER: Final = '<ir_version: 8, producer_name: "p", opset_import: ["": 16, "com.microsoft": 1, "ai.onnx.ml": 1]> '
_NORMALIZED: Final = "g (float[2,3] x, float[3] w) => (%s[2,3] y) { y = %s <axis = %d> (x, w) }"
_OVERRIDDEN: Final = (
    "g (double[4] x) => (double[4] y) { y = com.microsoft.%s(x) }"
    ' <domain: "com.microsoft", opset_import: ["": 16]> %s (a) => (b) { b = Neg(a) }'
)

_PAST: Final = (
    "g (float[2,1,16] q, float[2,2,5,8] pk, float[2,2,5,8] pv) => (float[2,1,16] y, float[2,2,p,8] k, float[2,2,p,8] v)"
)
_WITH_PAST: Final = 'y, k, v = com.microsoft.MultiHeadAttention <num_heads = 2> (q, q, q, "", "", "", pk, pv)'

_SCALER: Final = "g (float[2,3] x) => (float[2,3] y) { y = ai.onnx.ml.Scaler%s(x) }"

_OWN: Final = [
    (_SCALER % " <scale = [1.0], offset = [1.0]> ", "++"),
    (_SCALER % "", "??"),
    *((_NORMALIZED % ("float", "SimplifiedLayerNormalization", axis), "++") for axis in (-2, 1)),
    *((_NORMALIZED % ("float", "SimplifiedLayerNormalization", axis), "--") for axis in (-3, 2)),
    *((_NORMALIZED % ("float", "LayerNormalization", axis), "--") for axis in (-3, 2)),
    (_NORMALIZED % ("double", "LayerNormalization", 1), "--"),
    (_OVERRIDDEN % ("Gelu", "Gelu"), "??"),
    (_OVERRIDDEN % ("OwnOperator", "OwnOperator"), "++"),
    # The inference of the past in a function ends with "Invalid tensor data type 0".
    (f"{_PAST} {{ {_WITH_PAST} }}", "++"),
    (
        f"{_PAST} {{ y, k, v = com.microsoft.Own(q, pk, pv) }}"
        ' <domain: "com.microsoft", opset_import: ["com.microsoft": 1]>'
        f" Own (q, pk, pv) => (y, k, v) {{ {_WITH_PAST} }}",
        "??",
    ),
]
"""Models with operators of ONNX Runtime, with functions in its domain, or without attributes that it needs, and the
answers."""


def written(folder: Path) -> dict[Path, AnsweredModel]:
    """Write the models and their data file into a folder."""
    (folder / "s.bin").write_bytes(DATA)
    found = {}
    for index, form in enumerate(refused_forms()):
        path = folder / f"{index}.onnx"
        path.write_bytes(form.model.SerializeToString())
        found[path] = form
    return found
