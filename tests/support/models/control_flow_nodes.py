# SPDX-License-Identifier: Apache-2.0
"""Nodes of If, Loop, Scan and SequenceMap, right and wrong in the types of their subgraphs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx
import onnx.defs
from onnx import NodeProto, helper

from support.models.typed_nodes import OTHER_KINDS, TENSORS, Case, type_proto


def _graph(name: str, inputs: Mapping[str, str | None], nodes: list[NodeProto], outputs: list[str]) -> onnx.GraphProto:
    """Return a subgraph; an input without a type accepts any supplied type."""
    values = [
        onnx.ValueInfoProto(name=key, type=type_proto(kind)) if kind else onnx.ValueInfoProto(name=key)
        for key, kind in inputs.items()
    ]
    return helper.make_graph(nodes, name, values, [onnx.ValueInfoProto(name=output) for output in outputs])


def _same(source: str, target: str) -> NodeProto:
    return helper.make_node("Identity", [source], [target])


def _cast(source: str, target: str, kind: str) -> NodeProto:
    code = type_proto(kind).tensor_type.elem_type
    return helper.make_node("Cast", [source], [target], to=code)


def _branches(schema: onnx.defs.OpSchema, kinds: list[str]) -> Iterator[Case]:
    """If: two branches that return a value from outside, or its elements as another type."""

    def case(mutation: str, inputs: Mapping[str, str], then_node: NodeProto, else_node: NodeProto) -> Case:
        node = helper.make_node(
            "If",
            ["c"],
            ["y"],
            then_branch=_graph("then_graph", {}, [then_node], ["t"]),
            else_branch=_graph("else_graph", {}, [else_node], ["e"]),
        )
        return Case(mutation, node, inputs)

    for kind in kinds:
        for condition in ("tensor(bool)", "tensor(float)"):
            mutation = "branches" if condition == "tensor(bool)" else "condition that is not a bool"
            yield case(mutation, {"c": condition, "x": kind}, _same("x", "t"), _same("x", "e"))
        other = "tensor(float)" if kind != "tensor(float)" else "tensor(int64)"
        types = {"c": "tensor(bool)", "x": kind, "z": other}
        yield case("branches that differ", types, _same("x", "t"), _same("z", "e"))


def _loops(schema: onnx.defs.OpSchema, kinds: list[str]) -> Iterator[Case]:
    """Loop: one carried value and one scan output."""

    def case(
        mutation: str,
        kind: str,
        *,
        count: str = "tensor(int64)",
        condition: str = "tensor(bool)",
        declared: str | None = None,
        number: str | None = None,
        nodes: list[NodeProto] | None = None,
    ) -> Case:
        hand_on = nodes or [_same("go", "on"), _same("a", "b"), _same("i", "s")]
        body = _graph("body", {"i": number, "go": None, "a": declared}, hand_on, ["on", "b", "s"])
        node = helper.make_node("Loop", ["m", "c", "v"], ["w", "scan"], body=body)
        return Case(mutation, node, {"m": count, "c": condition, "v": kind})

    for kind in kinds:
        other = "tensor(float)" if kind != "tensor(float)" else "tensor(int64)"
        yield case("loop", kind)
        yield case("loop with a declared input", kind, declared=kind)
        yield case("trip count that is not an int64", kind, count="tensor(int32)")
        yield case("condition that is not a bool", kind, condition="tensor(int64)")
        yield case("body input declared as another type", kind, declared=other)
        yield case("iteration number declared as another type", kind, number="tensor(float)")
    tensor = kinds[0]
    hand_on = [_same("go", "on"), _same("i", "s")]
    yield case("carried value that changes its type", tensor, nodes=[*hand_on, _cast("a", "b", "tensor(int8)")])
    hand_on = [_same("a", "b"), _same("i", "s")]
    yield case("condition of the body that is not a bool", tensor, nodes=[*hand_on, _cast("go", "on", "tensor(int64)")])


def _scans(schema: onnx.defs.OpSchema, kinds: list[str]) -> Iterator[Case]:
    """Scan: one state and one scan input."""
    lengths = [""] if schema.since_version < _SCAN_WITHOUT_LENGTHS else []
    for kind in kinds:
        for mutation, back in (
            ("scan", _same("s", "t")),
            ("state that changes its type", _cast("s", "t", "tensor(int8)")),
        ):
            if mutation != "scan" and kind != "tensor(float)":
                continue
            body = _graph("body", {"s": None, "e": None}, [back, _same("e", "f")], ["t", "f"])
            node = helper.make_node("Scan", [*lengths, "v", "x"], ["w", "y"], body=body, num_scan_inputs=1)
            yield Case(mutation, node, {"v": kind, "x": kind})


_SCAN_WITHOUT_LENGTHS = 9


def _sequence_maps(schema: onnx.defs.OpSchema, kinds: list[str]) -> Iterator[Case]:
    for kind in kinds:
        body = _graph("body", {"e": None, "a": None}, [_same("e", "f"), _same("a", "b")], ["f", "b"])
        node = helper.make_node("SequenceMap", ["s", "x"], ["y", "z"], body=body)
        yield Case("sequence map", node, {"s": f"seq({kind})", "x": kind})
        yield Case("sequence map of a tensor", node, {"s": kind, "x": kind})


CONTROL_FLOW = {"If": _branches, "Loop": _loops, "Scan": _scans, "SequenceMap": _sequence_maps}


def control_flow_cases(schema: onnx.defs.OpSchema) -> list[Case]:
    """Cases with each type that the Identity and Cast of the same version take, and with one kind more."""
    identity = onnx.defs.get_schema("Identity", schema.since_version).inputs[0].types
    cast = onnx.defs.get_schema("Cast", schema.since_version).inputs[0].types
    kinds = [kind for kind in TENSORS if kind in identity and kind in cast]
    if schema.name in {"If", "Loop"}:
        kinds += [kind for kind in OTHER_KINDS if kind in identity]
    return list(CONTROL_FLOW[schema.name](schema, kinds))
