# SPDX-License-Identifier: Apache-2.0
"""Attack files: how each known attack on readers of ONNX models looks in a file, and the rule that finds it."""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from onnx_lint import schema
from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.text.read_text import parse_textproto
from support.wire.wire_bytes import group, length, number, tag, varint

HEAD = 'ir_version: 10 producer_name: "test" opset_import { domain: "" version: 21 } '
VALUE = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
INPUT = f'input {{ name: "x" {VALUE} }}'
OUTPUT = f'output {{ name: "y" {VALUE} }}'
NODE = 'node { op_type: "Abs" input: "x" output: "y" }'


def in_bytes(text: str) -> bytes:
    """Return the model in a text, in binary form."""
    # The text is one of ours, however much there is in it.
    parsed = parse_textproto(BytesSource(text.encode()), limits=replace(DEFAULT_LIMITS, memory=1 << 40))
    assert isinstance(parsed, schema.message("ModelProto")), parsed
    return bytes(parsed.SerializeToString())


def graph(content: str, rest: str = "") -> bytes:
    """A model whose graph takes `x` to `y` and has `content` besides."""
    return in_bytes(f'{HEAD} graph {{ name: "graph" {INPUT} {OUTPUT} {NODE} {content} }} {rest}')


def external(*entries: tuple[str, str], shape: str = "dims: 2 data_type: 1", more: str = "") -> str:
    """The content of a TensorProto with external data."""
    keys = " ".join(f'external_data {{ key: "{key}" value: "{value}" }}' for key, value in entries)
    return f'name: "w" {shape} data_location: EXTERNAL {keys} {more}'


def located(location: str) -> bytes:
    """A model with an initializer in the file at `location`."""
    return graph(f"initializer {{ {external(('location', location))} }}")


def _linked(folder: Path, location: str, link: Callable[[Path], None]) -> bytes:
    link(folder)
    return located(location)


def _symbolic_link(folder: Path) -> None:
    target = folder / "secret"
    target.write_bytes(bytes(8))
    (folder / "weights.bin").symlink_to(target)


def _linked_folder(folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "elsewhere" / "passwd").write_bytes(bytes(8))
    (folder / "subdir").symlink_to(folder / "elsewhere", target_is_directory=True)


def _hard_link(folder: Path) -> None:
    (folder / "original").write_bytes(bytes(8))
    os.link(folder / "original", folder / "hard.bin")


def shaped(name: str, *dims: int, element_type: int = 1) -> str:
    """The content of a ValueInfoProto of a tensor, by default of floats."""
    shape = " ".join(f"dim {{ dim_value: {dim} }}" for dim in dims)
    return f'name: "{name}" type {{ tensor_type {{ elem_type: {element_type} shape {{ {shape} }} }} }}'


def operator(op_type: str, attributes: str, *inputs: str, outputs: str = "o", domain: str = "") -> bytes:
    """A model with one node that takes values of the shapes of `inputs`."""
    imports = f'opset_import {{ domain: "{domain}" version: 1 }}' if domain else ""
    declared = " ".join(f"input {{ {value} }}" for value in inputs)
    names = " ".join(f'input: "{value.split(chr(34))[1]}"' for value in inputs)
    results = " ".join(f'output: "{name}"' for name in outputs)
    node = f'node {{ op_type: "{op_type}" domain: "{domain}" {names} {results} {attributes} }}'
    ends = " ".join(f"output {{ {shaped(name, 1)} }}" for name in outputs)
    return in_bytes(f'{HEAD} {imports} graph {{ name: "graph" {declared} {ends} {node} }}')


def numbers(name: str, *values: int) -> str:
    return f'attribute {{ name: "{name}" type: INTS ints: {list(values)} }}'


def integer(name: str, value: int) -> str:
    return f'attribute {{ name: "{name}" type: INT i: {value} }}'


def _data_file(folder: Path) -> None:
    (folder / "w.bin").write_bytes(bytes(8))


def functions(bodies: dict[str, str]) -> str:
    """Functions of the domain com.example, each with the nodes in its body."""
    imports = 'opset_import { domain: "" version: 21 } opset_import { domain: "com.example" version: 1 }'
    return " ".join(
        f'functions {{ name: "{name}" domain: "com.example" input: "x" output: "y" {imports} {body} }}'
        for name, body in bodies.items()
    )


def call(name: str, given: str = "x", result: str = "y") -> str:
    return f'node {{ op_type: "{name}" domain: "com.example" input: "{given}" output: "{result}" }}'


def calling(bodies: dict[str, str]) -> bytes:
    """A model that calls the function F0."""
    head = HEAD + 'opset_import { domain: "com.example" version: 1 } '
    return in_bytes(f'{head} graph {{ name: "graph" {INPUT} {OUTPUT} {call("F0")} }} {functions(bodies)}')


def laughs(levels: int) -> bytes:
    """Functions that each call the next one twice."""
    bodies = {f"F{level}": call(f"F{level + 1}", "x", "m") + call(f"F{level + 1}", "m", "y") for level in range(levels)}
    return calling({**bodies, f"F{levels}": NODE})


def _in_branch(body: str) -> str:
    branch = f'g {{ name: "branch" {body} output {{ name: "t" {VALUE} }} }}'
    return (
        'node { op_type: "Not" input: "x" output: "c" } '
        f'node {{ op_type: "If" input: "c" output: "y" '
        f'attribute {{ name: "then_branch" type: GRAPH {branch} }} '
        f'attribute {{ name: "else_branch" type: GRAPH {branch} }} }}'
    )


def nested_ifs(depth: int) -> bytes:
    """A chain of Ifs, each in a branch of the one before."""
    body = 'node { op_type: "Abs" input: "x" output: "v0" }'
    for level in range(1, depth + 1):
        inner = f'g {{ name: "then{level}" {body} output {{ name: "v{level - 1}" {VALUE} }} }}'
        other = (
            f'g {{ name: "else{level}" node {{ op_type: "Neg" input: "x" output: "e{level}" }} '
            f'output {{ name: "e{level}" {VALUE} }} }}'
        )
        body = (
            f'node {{ op_type: "If" input: "c" output: "v{level}" '
            f'attribute {{ name: "then_branch" type: GRAPH {inner} }} '
            f'attribute {{ name: "else_branch" type: GRAPH {other} }} }}'
        )
    condition = 'input { name: "c" type { tensor_type { elem_type: 9 shape { } } } }'
    return in_bytes(
        f'{HEAD} graph {{ name: "graph" {INPUT} {condition} output {{ name: "v{depth}" {VALUE} }} {body} }}'
    )


def archive(_: Path) -> bytes:
    """A tar archive with a member that would be unpacked outside of the folder."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        member = tarfile.TarInfo("../../.bashrc")
        member.size = 4
        tar.addfile(member, io.BytesIO(b"true"))
    return stream.getvalue()


def deep(levels: int) -> bytes:
    """Graphs in attributes of nodes in graphs, as bytes: three messages a level."""
    content = b""
    for _ in range(levels):
        content = length(1, length(5, length(6, content)))
    return number(1, 10) + length(7, content)


def deep_text(levels: int, opening: str = "node { attribute { g { ", closing: str = "} } } ") -> bytes:
    return (HEAD + "graph { " + opening * levels + closing * levels + "}").encode()


def deep_json(levels: int) -> bytes:
    opening, closing = '{"node": [{"attribute": [{"g": ', "}]}]}"
    return ('{"irVersion": "10", "graph": ' + opening * levels + "{}" + closing * levels + "}").encode()


START = number(1, 10) + length(2, "test")
"""The beginning of a model in bytes: its IR version and producer."""

TAIL = length(7, length(2, "graph")) + length(8, number(2, 21))


@dataclass(frozen=True)
class Attack:
    """A file that means harm, and what finds it."""

    name: str
    rule: str
    make: Callable[[Path], bytes]
    """Makes the bytes of the model; may put other files into the folder."""
    suffix: str = ".onnx"
    place: str | None = None
    """The place of the finding, if the report has one."""
    memory_bytes: int = 1 << 30
    """The address space that the program may have."""


def _made(data: bytes | Callable[[], bytes]) -> Callable[[Path], bytes]:
    return lambda _: data if isinstance(data, bytes) else data()


def _initializer(content: str) -> Callable[[Path], bytes]:
    return _made(lambda: graph(f"initializer {{ {content} }}"))


_SPARSE = (
    f"values {{ {external(('location', '../x'), shape='dims: 1 data_type: 1')} }} "
    "indices { dims: 1 data_type: 7 int64_data: 0 } dims: 2"
)

ATTACKS = (
    # Paths
    Attack("CVE-2022-25882", "parent-directory-location", _made(lambda: located("../../../etc/passwd"))),
    Attack("CVE-2024-27318", "parent-directory-location", _made(lambda: located("sub/../../etc/passwd"))),
    Attack("CVE-2024-27318 backslashes", "parent-directory-location", _made(lambda: located(r"sub\\..\\..\\passwd"))),
    Attack("GHSA-q56x-g2fj-4rj6", "non-relative-location", _made(lambda: located("C:\\\\"))),
    Attack("absolute path", "non-relative-location", _made(lambda: located("/etc/passwd"))),
    Attack("in-memory mark", "non-relative-location", _made(lambda: located("#x"))),
    Attack("NUL byte", "non-relative-location", _made(lambda: located(r"d.bin\000.txt"))),
    Attack(
        "sparse initializer",
        "parent-directory-location",
        _made(lambda: graph(f"sparse_initializer {{ {_SPARSE} }}")),
        place="graph.sparse_initializer[0].values.external_data[0]",
    ),
    Attack(
        "sparse constant",
        "parent-directory-location",
        _made(
            lambda: graph(
                'node { op_type: "Constant" output: "s" attribute '
                f'{{ name: "sparse_value" type: SPARSE_TENSOR sparse_tensor {{ {_SPARSE} }} }} }}'
            )
        ),
        place="graph.node[1].attribute[0].sparse_tensor.values.external_data[0]",
    ),
    Attack(
        "training initializer",
        "parent-directory-location",
        _made(
            lambda: graph(
                "",
                f'training_info {{ algorithm {{ name: "a" initializer {{ {external(("location", "../x"))} }} }} }}',
            )
        ),
        place="training_info[0].algorithm.initializer[0].external_data[0]",
    ),
    Attack(
        "attribute default",
        "parent-directory-location",
        _made(
            lambda: graph(
                "",
                'functions { name: "F" domain: "com.example" output: "y" opset_import { version: 21 } '
                f'attribute_proto {{ name: "v" type: TENSOR t {{ {external(("location", "../x"))} }} }} }}',
            )
        ),
        place="functions[0].attribute_proto[0].t.external_data[0]",
    ),
    # The file system
    Attack("CVE-2026-34447", "linked-external-file", lambda folder: _linked(folder, "weights.bin", _symbolic_link)),
    Attack("CVE-2026-27489", "linked-external-file", lambda folder: _linked(folder, "subdir/passwd", _linked_folder)),
    Attack("CVE-2026-34446", "linked-external-file", lambda folder: _linked(folder, "hard.bin", _hard_link)),
    # Entries of external data
    Attack(
        "CVE-2025-51480",
        "data-beside-external-data",
        _initializer(external(("location", "../../target"), more='raw_data: "12345678"')),
    ),
    Attack(
        "CVE-2026-34445 key",
        "unknown-external-key",
        _initializer(external(("location", "w.bin"), ("__class__", "evil"))),
    ),
    Attack(
        "CVE-2026-34445 length",
        "external-range-beyond-file",
        lambda folder: (
            _data_file(folder),
            graph(f"initializer {{ {external(('location', 'w.bin'), ('length', '9007199254740992'))} }}"),
        )[1],
    ),
    Attack(
        "CVE-2026-34445 offset",
        "malformed-external-range",
        _initializer(external(("location", "w.bin"), ("offset", "-1"))),
    ),
    # Archives
    Attack("CVE-2024-5187, CVE-2024-7776", "not-a-model", archive, suffix=".tar.onnx"),
    # Tensors that are not what they say
    Attack(
        "INT64 of 7 bytes", "tensor-size-mismatch", _initializer('name: "w" data_type: 7 dims: 1 raw_data: "1234567"')
    ),
    Attack(
        "a million floats in 4 bytes",
        "tensor-size-mismatch",
        _initializer('name: "w" data_type: 1 dims: 1000000 raw_data: "1234"'),
    ),
    Attack(
        "BOOL[32] with 4 values",
        "tensor-size-mismatch",
        _initializer('name: "w" data_type: 9 dims: 32 int32_data: [1, 0, 1, 0]'),
    ),
    Attack(
        "shape tensor of 2**31 values",
        "tensor-size-mismatch",
        _initializer('name: "w" data_type: 7 dims: 2147483648 raw_data: "12345678"'),
    ),
    Attack(
        "dims 2**40 by 2**40",
        "invalid-tensor-shape",
        _initializer(f'name: "w" data_type: 1 dims: {2**40} dims: {2**40}'),
    ),
    Attack(
        "sparse dims 2**40 by 2**40",
        "degenerate-sparse-shape",
        _made(
            lambda: graph(
                'sparse_initializer { values { name: "w" dims: 1 data_type: 1 float_data: 1 } '
                f"indices {{ dims: 1 data_type: 7 int64_data: 0 }} dims: {2**40} dims: {2**40} }}"
            )
        ),
    ),
    # Extents that operators trust. (An input without elements, on which Slice crashed, is not a fault of a model.)
    Attack(
        "Conv of another rank",
        "incompatible-operand-shapes",
        _made(lambda: operator("Conv", "", shaped("x", 1, 1, 4, 4), shaped("w", 1, 1, 1, 1, 1))),
    ),
    Attack(
        "stride of 0",
        "impossible-operator-extent",
        _made(lambda: operator("Conv", numbers("strides", 0, 0), shaped("x", 1, 1, 4, 4), shaped("w", 1, 1, 1, 1))),
    ),
    Attack(
        "Split beyond its outputs",
        "impossible-operator-extent",
        _made(lambda: operator("Split", integer("num_outputs", 5), shaped("x", 10), outputs="pq")),
    ),
    Attack(
        "RNN of one dimension",
        "incompatible-operand-shapes",
        _made(lambda: operator("RNN", integer("hidden_size", 3), *(shaped(name, 1) for name in "xwr"))),
    ),
    Attack(
        "MatMulNBits beyond its weights",
        "incompatible-operand-shapes",
        _made(
            lambda: operator(
                "MatMulNBits",
                " ".join(integer(name, value) for name, value in (("K", 4096), ("N", 4096), ("block_size", 32))),
                shaped("x", 1, 4096),
                shaped("b", 1, 1, 16, element_type=2),
                shaped("s", 1),
                domain="com.microsoft",
            )
        ),
    ),
    Attack(
        "SVM beyond its vectors",
        "impossible-operator-extent",
        _made(
            lambda: operator(
                "SVMClassifier",
                numbers("vectors_per_class", 1000, 1000)
                + numbers("classlabels_ints", 0, 1)
                + 'attribute { name: "support_vectors" type: FLOATS floats: [1, 2] } '
                + 'attribute { name: "coefficients" type: FLOATS floats: 1 }',
                shaped("x", 1, 2),
                outputs="pq",
                domain="ai.onnx.ml",
            )
        ),
    ),
    # Graphs and functions
    Attack("output of nobody", "undefined-name", _made(lambda: graph(f'output {{ name: "nobody" {VALUE} }}'))),
    Attack(
        "unknown operator in a function",
        "unknown-operator",
        _made(lambda: calling({"F0": 'node { op_type: "NoSuch" input: "x" output: "y" }'})),
    ),
    Attack("GHSA-7w46-vvrh-m8q5", "recursive-function", _made(lambda: calling({"F0": call("F0")}))),
    Attack(
        "GHSA-7w46-vvrh-m8q5 in a branch",
        "recursive-function",
        _made(lambda: calling({"F0": _in_branch(call("F0", "x", "t"))})),
    ),
    Attack("billion laughs", "exceeded-limit", _made(lambda: laughs(30))),
    Attack("billion laughs a thousand deep", "exceeded-limit", _made(lambda: laughs(1000))),
    Attack("nested Ifs", "exceeded-limit", _made(lambda: nested_ifs(20))),
    Attack(
        "CVE-2024-27319",
        "exceeded-limit",
        _made(lambda: graph(f'node {{ name: "{"A" * 20_000}" op_type: "Abs" input: "x" output: "z" }}')),
    ),
    # Bytes
    Attack("CVE-2025-4565 messages", "excessive-nesting", _made(lambda: deep(5000))),
    Attack("CVE-2025-4565 groups", "excessive-nesting", _made(START + tag(100, 3) * 100_000 + TAIL)),
    Attack("deep text", "excessive-nesting", _made(lambda: deep_text(5000)), suffix=".textproto"),
    Attack("CVE-2026-0994 deep JSON", "excessive-nesting", _made(lambda: deep_json(5000)), suffix=".json.onnx"),
    Attack("a group", "unknown-field", _made(START + group(100, number(1, 1)) + TAIL)),
    Attack("a group that is never closed", "not-a-model", _made(START + TAIL + tag(100, 3) + number(1, 1))),
    Attack("a length beyond the file", "truncated-file", _made(START + tag(7, 2) + varint(2**40) + b"abc")),
    Attack(
        "a length beyond its message",
        "not-a-model",
        _made(START + length(7, tag(2, 2) + varint(100) + b"graph") + TAIL),
    ),
    Attack("a length of 2**63", "truncated-file", _made(START + tag(7, 2) + varint(2**63) + b"abc")),
    Attack("an overlong varint", "not-a-model", _made(START + tag(5, 0) + b"\x80" * 30 + b"\x00" + TAIL)),
)


MILLION = 1_000_000


def _graph_of(field: int) -> Callable[[Path], bytes]:
    return _made(
        lambda: START + length(7, length(2, "graph") + length(field, b"") * MILLION) + length(8, number(2, 21))
    )


def _named(name: bytes, field: int) -> Callable[[Path], bytes]:
    def make(_: Path) -> bytes:
        fields = {1: b"x", 2: b"y", 3: b"n", 4: b"Abs"} | {field: name}
        node = b"".join(length(key, value) for key, value in fields.items())
        return START + length(7, length(1, node) + length(2, "graph")) + length(8, number(2, 21))

    return make


_LONG = 25 << 20
_FOR_LONG = 320 << 20
"""The address space for a name that long: a dozen times its size, as a gigabyte would be for 100 MB."""

NOT_CHECKED = "not checked"
"""In place of a rule: the file is beyond a limit."""

HEAVY_LIMIT = ("--limit", "memory=150MiB")
"""Under which the million tiny fields are refused; by default such a file is judged in half a minute."""

HEAVY = (
    # A million tiny fields
    Attack("nodes", NOT_CHECKED, _graph_of(1)),
    Attack("initializers", NOT_CHECKED, _graph_of(5)),
    Attack("functions", NOT_CHECKED, _made(lambda: START + TAIL + length(25, b"") * MILLION)),
    Attack(
        "attributes",
        NOT_CHECKED,
        _made(
            lambda: (
                START
                + length(7, length(1, length(4, "Abs") + length(5, b"") * MILLION) + length(2, "graph"))
                + length(8, number(2, 21))
            )
        ),
    ),
    Attack(
        "graphs",
        NOT_CHECKED,
        _made(
            lambda: (
                START
                + length(
                    7,
                    length(1, length(4, "If") + length(5, length(1, "g") + length(11, b"") * MILLION + number(20, 10)))
                    + length(2, "graph"),
                )
                + length(8, number(2, 21))
            )
        ),
    ),
    Attack("metadata", NOT_CHECKED, _made(lambda: START + TAIL + length(14, b"") * MILLION)),
    Attack("unknown fields", "unknown-field", _made(lambda: START + TAIL + number(100, 1) * MILLION)),
    Attack("groups", "unknown-field", _made(lambda: START + TAIL + group(100) * (MILLION // 2))),
    Attack(
        "one field again and again", "repeated-singular-field", _made(lambda: START + TAIL + number(5, 1) * MILLION)
    ),
    Attack(
        "dimensions of a tensor",
        NOT_CHECKED,
        _made(
            lambda: (
                START
                + length(7, length(2, "graph") + length(5, number(1, 2) * MILLION + number(2, 1) + length(8, "w")))
                + length(8, number(2, 21))
            )
        ),
    ),
    Attack(
        "undefined names",
        "undefined-name",
        _made(
            lambda: graph(
                " ".join(f'node {{ op_type: "Abs" input: "u{index}" output: "v{index}" }}' for index in range(20_000))
            )
        ),
    ),
    # Names of 25 MB
    Attack("a name of 25 MB", "exceeded-limit", _named(b"A" * _LONG, 3), memory_bytes=_FOR_LONG),
    Attack("a value name of 25 MB", "exceeded-limit", _named(b"-" * _LONG, 1), memory_bytes=_FOR_LONG),
    Attack("an operator of 25 MB", "exceeded-limit", _named("é".encode() * (_LONG // 2), 4), memory_bytes=_FOR_LONG),
)
