# SPDX-License-Identifier: Apache-2.0
"""The estimate of memory is an upper bound for hostile files, and lets large honest models through."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from random import Random

import numpy
import pytest
from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper
from support.hostile.schema_lists import can_hold, list_fields, one_list, two_lists
from support.processes.peak_memory import growths
from support.project.each_case import each_case
from support.wire import reencode
from support.wire.wire_bytes import BASE, group, length, number

from benchmarks.large_models import MODELS as LARGE_MODELS
from onnx_lint.input.limits import DEFAULT_LIMITS, Limits
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.loader.binary.strip_payloads import read_skeleton, whole
from onnx_lint.loader.limits.memory_estimate import memory_if_exceeding
from onnx_lint.loader.limits.not_checked import MAX_MEMORY_PER_INPUT_BYTE, NotCheckedError

MEGABYTE = 1 << 20
FIXED_BYTES = 32 * MEGABYTE
"""What a file of any size needs: most of all ten thousand findings."""
SIZES = (2_000, 10_000, 50_000)
"""The elements of a model."""


def estimated(data: bytes) -> int:
    """The least limit that lets the file through."""
    skeleton = read_skeleton(BytesSource(data), sys.maxsize, sys.maxsize)
    return memory_if_exceeding(skeleton, "ModelProto", 1, shares_forms=True) or 0


def check(makes: Mapping[str, Callable[[], bytes]], folder: Path) -> None:
    """Compare the memory that each of the models takes with its estimate."""
    paths: list[Path] = []
    estimates: list[int] = []
    for make in makes.values():
        data = make()
        paths.append(folder / f"{len(paths)}.onnx")
        paths[-1].write_bytes(data)
        estimates.append(estimated(data))
    exceeded = {
        name: f"{needed:,} bytes, estimated {estimate:,}"
        for name, needed, estimate in zip(makes, growths(paths), estimates, strict=True)
        if needed > FIXED_BYTES + estimate
    }
    assert exceeded == {}


def _nested_types() -> bytes:
    deep = b""
    for _ in range(40):
        deep = length(4, length(1, deep))
    return BASE + length(7, length(11, length(1, "x") + length(2, deep)) * 1_000)


def _function_of(attribute: bytes) -> bytes:
    return BASE + length(25, length(1, "f") + length(10, "d") + length(7, length(4, "A") + attribute))


def _nodes(rest: Callable[[int], bytes], count: int) -> bytes:
    return BASE + length(7, b"".join(length(1, length(2, f"v{index}") + rest(index)) for index in range(count)))


_ATTRIBUTES = b"".join(length(5, length(1, f"a{index}")) for index in range(40))
_UNKNOWN = number(999, 1)


def _chain(op_type: str, count: int, first: TensorProto | ValueInfoProto, second: TensorProto) -> bytes:
    """Return a model whose nodes each compute a shape, or elements, that no other node computes."""
    nodes = [helper.make_node(op_type, [f"v{index}", second.name], [f"v{index + 1}"]) for index in range(count)]
    inputs = [first] if isinstance(first, ValueInfoProto) else []
    constants = [second, first] if isinstance(first, TensorProto) else [second]
    graph = helper.make_graph(nodes, "g", inputs, [ValueInfoProto(name=f"v{count}")], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()


def _integers(name: str, numbers: Sequence[int], dims: Sequence[int] | None = None) -> TensorProto:
    return helper.make_tensor(name, TensorProto.INT64, [len(numbers)] if dims is None else dims, numbers)


def _ranges(bounds: int) -> bytes:
    """Return a model whose nodes each compute as many integers as the difference of two of the bounds."""
    constants = [_integers(f"b{index}", [10**9 + index * 3], []) for index in range(bounds)]
    nodes = [
        helper.make_node("Range", [f"b{low}", f"b{high}", "one"], [f"r{low}_{high}"])
        for high in range(bounds)
        for low in range(high)
    ]
    graph = helper.make_graph(nodes, "g", [], [ValueInfoProto(name="r0_1")], [_integers("one", [1], []), *constants])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()


def _thousands() -> bytes:
    """Return a model whose nodes each have, and cast, 1,024 integers of their own."""
    nodes = []
    for index in range(4_000):
        tensor = numpy_helper.from_array(numpy.arange(1024, dtype=numpy.int32) + 10**6 + index)
        nodes.append(helper.make_node("Constant", [], [f"c{index}"], value=tensor))
        nodes.append(helper.make_node("Cast", [f"c{index}"], [f"d{index}"], to=TensorProto.INT64))
    graph = helper.make_graph(nodes, "g", [], [ValueInfoProto(name="d0")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)]).SerializeToString()


OTHERS: Mapping[str, Callable[[], bytes]] = {
    "nodes of one form": lambda: _nodes(lambda _: length(4, "A") + _ATTRIBUTES, 1_000),
    "nodes of one form that is too long to be shared": lambda: _nodes(lambda _: length(4, "A") + _ATTRIBUTES * 8, 300),
    "nodes of one form, one not canonical": lambda: _nodes(
        lambda index: length(4, "A") + _ATTRIBUTES + (b"" if index else _UNKNOWN), 1_000
    ),
    "nodes that leave out different inputs": lambda: _nodes(
        lambda index: b"".join(length(1, "x" if index >> bit & 1 else "") for bit in range(12)) + length(4, "A"), 4_000
    ),
    "graphs in an attribute of a function": lambda: _function_of(length(5, length(1, "g") + length(11, b"") * 20_000)),
    "packed dimensions": lambda: BASE + length(7, length(5, length(8, "t") + length(1, b"\1" * 50_000))),
    "unknown fields": lambda: BASE + length(7, _UNKNOWN * 50_000),
    "groups": lambda: BASE + group(999) * 50_000,
    "deep types": _nested_types,
    "a graph in parts": lambda: BASE + length(7, b"") * 20_000,
    "ranges": lambda: _ranges(200),
    "elements": lambda: _chain("Add", 60_000, _integers("v0", range(10**9, 10**9 + 32)), _integers("one", [1])),
    "shapes": lambda: _chain(
        "Pad",
        60_000,
        helper.make_tensor_value_info("v0", TensorProto.FLOAT, range(1000, 1032)),
        _integers("p", [1] * 64),
    ),
    "expressions": lambda: _chain(
        "Pad",
        60_000,
        helper.make_tensor_value_info("v0", TensorProto.FLOAT, [f"dimension_{'x' * 60}{index}" for index in range(32)]),
        _integers("p", [1] * 64),
    ),
    "constants of a thousand integers": _thousands,
    "a long name": lambda: BASE + length(7, length(1, length(2, "y" * 2 * MEGABYTE) + length(4, "Relu"))),
}
"""Models that need more than the lists in them show."""


@pytest.mark.slow
def test_hostile_models_need_at_most_the_estimate(tmp_path: Path):
    fields = list_fields()
    single = ("AttributeProto.tensors", "NodeProto.attribute", "GraphProto.node", "NodeProto.input")
    makes = {name: (lambda name=name: one_list(fields[name], 30_000, own=True)) for name in single}
    check({**OTHERS, **makes}, tmp_path)


@pytest.mark.heavy
@pytest.mark.parametrize("name", list_fields())
def test_each_list_of_the_schema_needs_at_most_the_estimate(name: str, tmp_path: Path):
    field = list_fields()[name]
    check(
        {
            f"{size} {'own' if own else 'empty'}": (lambda size=size, own=own: one_list(field, size, own=own))
            for size, own in product((*SIZES, 200_000), (True, False))
        },
        tmp_path,
    )


@pytest.mark.heavy
@pytest.mark.parametrize("name", list_fields())
def test_each_list_in_or_beside_another_needs_at_most_the_estimate(name: str, tmp_path: Path):
    """Lists side by side need the sum of both: some pairs at one size show it, all would take hours."""
    fields = list_fields()
    others = sorted(set(fields) - {name})
    pairs = [*product((other for other in others if can_hold(fields[name], fields[other])), SIZES)]
    beside = [other for other in others if not can_hold(fields[name], fields[other])]
    pairs += [(other, SIZES[-1]) for other in Random(name).sample(beside, min(8, len(beside)))]
    check(
        {
            f"{other} {size}": (
                lambda size=size, other=other: two_lists(fields[name], fields[other], size, own=size != SIZES[1])
            )
            for other, size in pairs
        },
        tmp_path,
    )


@pytest.mark.slow
@each_case("kind", LARGE_MODELS)
def test_honest_models_sixteen_times_as_large_are_within_the_default_limit(kind: str):
    is_of_graphs = kind.startswith(("functions", "subgraphs"))
    data = LARGE_MODELS[kind](1_250 if is_of_graphs else 12_500).SerializeToString()
    skeleton = read_skeleton(BytesSource(data), sys.maxsize, sys.maxsize)
    assert memory_if_exceeding(skeleton, "ModelProto", DEFAULT_LIMITS.memory // 16) is None


@pytest.mark.parametrize(
    ("values", "each"),
    [
        (length(8, b"\1" * MEGABYTE), 8),
        (number(8, 1) * (MEGABYTE // 2), 3),
        (length(7, bytes(MEGABYTE)), 3),
        (length(9, b"abcdef") * (MEGABYTE // 8), 3),
    ],
    ids=["packed integers", "integers", "packed floats", "strings"],
)
def test_long_lists_of_attributes_count_by_their_bytes(values: bytes, each: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    attribute = length(1, "a") + values
    data = BASE + length(7, length(1, length(4, "Op") + length(5, attribute)))
    skeleton = read_skeleton(BytesSource(data), sys.maxsize, sys.maxsize)
    needed = memory_if_exceeding(skeleton, "ModelProto", 1)
    assert needed is not None
    assert each * MEGABYTE <= needed < each * MEGABYTE + 20_000


@pytest.mark.parametrize("change", [reencode.packed, reencode.unpacked], ids=["packed", "unpacked"])
def test_elements_count_however_they_are_written(change):
    """Each way to count gives the same as all others: small pieces, large ones, and one field after the other."""
    plain = reencode.read(
        one_list(list_fields()["AttributeProto.ints"], 50_000, own=False) + length(7, length(5, length(1, b"") * 1000))
    )
    data = reencode.write(change(plain))
    counted = memory_if_exceeding(whole(BytesSource(data)), "ModelProto", 1)
    bad = data + length(2, b"\xff")  # which is counted field by field
    assert counted is not None
    assert abs((memory_if_exceeding(whole(BytesSource(bad)), "ModelProto", 1) or 0) - counted) < 1000


def test_no_byte_counts_for_more_than_the_cheap_bound():
    graphs = length(25, length(7, length(5, length(11, b"") * 1000)))
    needed = memory_if_exceeding(whole(BytesSource(graphs)), "ModelProto", 1)
    assert needed is not None
    assert needed <= MAX_MEMORY_PER_INPUT_BYTE * len(graphs)


def test_nodes_that_differ_in_names_alone_count_for_what_they_share_once():
    def each(more: bytes) -> float:
        rest = length(4, "Conv") + b"".join(length(5, length(1, f"a{index}") + more) for index in range(20))
        few, many = (estimated(_nodes(lambda _: rest, count)) for count in (100, 1_100))
        return (many - few) / 1000

    assert each(b"") < 2_000
    assert each(length(6, b"")) > 20 * 4_000  # but for the graphs in them


def test_a_message_that_is_parsed_whole_counts_what_nodes_share_in_each_of_them():
    nodes = _nodes(lambda _: length(4, "A") + _ATTRIBUTES, 1_000)
    data = ModelProto.FromString(nodes).SerializeToString()  # in the order of the fields
    limits = Limits(memory=12 * MEGABYTE)
    assert load(BytesSource(data), "model.onnx", limits=limits).loaded
    for odd in (_UNKNOWN, length(7, length(10, b"\xff"))):  # an unknown field, and a string that is not UTF-8
        with pytest.raises(NotCheckedError):
            load(BytesSource(data + odd), "model.onnx", limits=limits)
