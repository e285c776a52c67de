# SPDX-License-Identifier: Apache-2.0
"""Moves the content of a plain main graph to other places: a branch of an If, the body of a function, a file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from onnx_lint.common.record import field_names
from onnx_lint.inference.types.type_string import from_proto
from onnx_lint.inference.types.typed_operator import allowed_types
from onnx_lint.model import Proto
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.operators import find

DOMAIN = "metamorphic.test"
"""The domain of what the wrappers need themselves."""

BRANCH = "graph.node[0].attribute[0].g"
BODY = "functions[0]"
HOLDER = "graph.node[0]"
HELD = f"{HOLDER}.attribute[0]"

_IN_BRANCH = frozenset({"node", "initializer", "sparse_initializer", "value_info", "quantization_annotation"})
"""The fields of the main graph that move into a branch; its inputs stay where they are."""
_IN_BODY = frozenset({"node", "input"})
_IR_VERSION_WITH_FUNCTIONS = 8
_IR_VERSION_WITH_FREE_INITIALIZERS = 4
_FLOAT, _BOOL, _GRAPH = 1, 9, 5


def fields_of(place: str) -> str | None:
    """Return the field of the main graph that contains `place`; None if it is elsewhere or the graph itself."""
    match = re.match(r"graph\.(\w+)", place)
    return match[1] if match else None


def places(diagnostic: Diagnostic) -> Iterable[str]:
    """The place of the diagnostic and the related ones."""
    yield diagnostic.place
    yield from (related.place for related in diagnostic.related)


def is_plain(proto: Proto) -> bool:
    """Return whether the model is only a main graph with a name and a default operator set."""
    imports = [entry.version for entry in proto.opset_import if entry.domain in {"", "ai.onnx"}]
    return (
        proto.HasField("graph")
        and bool(proto.graph.name)
        and bool(proto.graph.node)
        and not proto.functions
        and not proto.training_info
        and not proto.configuration
        and len(imports) == 1
    )


def _stand_in(proto: Proto, fields: frozenset[str], diagnostics: Iterable[Diagnostic]) -> bool:
    return all(fields_of(place) in fields for diagnostic in diagnostics for place in places(diagnostic))


def can_move_into_branch(proto: Proto, diagnostics: tuple[Diagnostic, ...]) -> bool:
    """Return whether all findings are in the part that moves, and the branch is as right or wrong as the main graph."""
    graph = proto.graph
    inputs = {value.name for value in graph.input}
    initializers = {tensor.name for tensor in graph.initializer}
    initializers |= {tensor.values.name for tensor in graph.sparse_initializer}
    defined = initializers | {name for node in graph.node for name in node.output}
    return (
        is_plain(proto)
        and _stand_in(proto, _IN_BRANCH, diagnostics)
        and _gives_all_types(proto)
        and proto.ir_version >= _IR_VERSION_WITH_FREE_INITIALIZERS
        # The default value of an input would hide the input, and a branch returns only what is its own.
        and inputs.isdisjoint(initializers)
        and all(value.name in defined for value in graph.output)
        and bool(graph.output)
    )


def _gives_all_types(proto: Proto) -> bool:
    """Return whether the If of the imported operator set can produce values of the types of the outputs."""
    opset = next(entry.version for entry in proto.opset_import if entry.domain in {"", "ai.onnx"})
    operator = find("", "If", opset)
    allowed = allowed_types(operator.outputs[0]) if operator is not None else frozenset()
    return {from_proto(output.type) for output in proto.graph.output} <= {None, *allowed}


def moved_into_branch(proto: Proto) -> Proto:
    """The model with nodes and initializers in the then branch of an If; inputs are values from outside there."""
    moved = type(proto)()
    moved.CopyFrom(proto)
    moved.ClearField("graph")
    _import(moved.opset_import)
    old, new = proto.graph, moved.graph
    new.name = "wrapper"
    new.input.extend(old.input)
    condition = new.input.add(name="metamorphic_condition")
    condition.type.tensor_type.elem_type = _BOOL
    condition.type.tensor_type.shape.SetInParent()
    node = new.node.add(op_type="If", name="metamorphic_if", input=[condition.name])
    then_branch = node.attribute.add(name="then_branch", type=_GRAPH).g
    then_branch.CopyFrom(old)
    then_branch.ClearField("input")
    else_branch = node.attribute.add(name="else_branch", type=_GRAPH).g
    else_branch.name = "metamorphic_else"
    other = else_branch.node.add(op_type="Other", domain=DOMAIN, name="metamorphic_other")
    for index, output in enumerate(old.output):
        for graph, name in ((new, f"metamorphic_output_{index}"), (else_branch, f"metamorphic_else_{index}")):
            value = graph.output.add()
            value.CopyFrom(output)
            value.name = name
        node.output.append(f"metamorphic_output_{index}")
        other.output.append(f"metamorphic_else_{index}")
    return moved


OF_MODELS = frozenset(
    {"missing-opset-import", "misplaced-attribute-reference", "unregistered-operator"}
    | {"unknown-device-configuration", "undefined-name", "unknown-value-info-name", "unresolved-overload"}
    | {"unknown-quantized-tensor", "stray-float64"}
)
"""The rules about what only the rest of a model shows: imports, functions, device configurations, outer values."""

_IR_VERSION_OF_PARTS = 10
"""Older models lack features that a file without an IR version may have."""


def can_move_into_file(proto: Proto, diagnostics: tuple[Diagnostic, ...]) -> bool:
    """Return whether the main graph can be the graph in an attribute that is a file by itself."""
    rules = {diagnostic.rule for diagnostic in diagnostics}
    return (
        is_plain(proto)
        and proto.ir_version >= _IR_VERSION_OF_PARTS
        and all(entry.version > 0 for entry in proto.opset_import)
        and not rules & {"premature-feature", "missing-opset-import", "excessive-nesting", "oversized-message"}
    )


def moved_into_attribute(proto: Proto) -> Proto:
    """The model with its main graph in the attribute of a node of an unknown operator."""
    moved = type(proto)()
    moved.CopyFrom(proto)
    moved.ClearField("graph")
    _import(moved.opset_import)
    moved.graph.name = "wrapper"
    output = moved.graph.output.add(name="metamorphic_output")
    output.type.tensor_type.elem_type = _FLOAT
    output.type.tensor_type.shape.SetInParent()
    node = moved.graph.node.add(op_type="Hold", domain=DOMAIN, name="metamorphic_hold", output=[output.name])
    node.attribute.add(name="metamorphic_body", type=_GRAPH).g.CopyFrom(proto.graph)
    return moved


def can_move_into_function(proto: Proto, diagnostics: tuple[Diagnostic, ...]) -> bool:
    """Return whether all findings are in nodes, and a function can hold everything that the nodes need."""
    graph = proto.graph
    return (
        is_plain(proto)
        and _stand_in(proto, _IN_BODY, diagnostics)
        and all(fields_of(diagnostic.place) == "node" for diagnostic in diagnostics)
        and proto.ir_version >= _IR_VERSION_WITH_FUNCTIONS
        and not (graph.initializer or graph.sparse_initializer or graph.quantization_annotation or graph.value_info)
        and all(value.name for value in (*graph.input, *graph.output))
        # A name that refers to an attribute parameter means something else in a function.
        and not any(attribute.ref_attr_name for node in _nodes(graph) for attribute in node.attribute)
    )


def moved_into_function(proto: Proto) -> Proto:
    """The model with its nodes in a function that the main graph calls."""
    moved = type(proto)()
    moved.CopyFrom(proto)
    _import(moved.opset_import)
    graph = moved.graph
    function = moved.functions.add(name=graph.name, domain=DOMAIN)
    function.opset_import.extend(proto.opset_import)
    function.node.extend(graph.node)
    function.input.extend(value.name for value in graph.input)
    function.output.extend(value.name for value in graph.output)
    graph.ClearField("node")
    graph.name = "wrapper"
    # An output may be an input as well, which a call cannot define again.
    for index, output in enumerate(graph.output):
        output.name = f"metamorphic_output_{index}"
    outputs = [output.name for output in graph.output]
    call = graph.node.add(op_type=function.name, domain=DOMAIN, name="metamorphic_call")
    call.input.extend(function.input)
    call.output.extend(outputs)
    return moved


def _import(imports: Proto) -> None:
    imports.add(domain=DOMAIN, version=1)


def _nodes(graph: Proto) -> Iterable[Proto]:
    for node in graph.node:
        yield node
        for attribute in node.attribute:
            for nested in (*([attribute.g] if attribute.HasField("g") else []), *attribute.graphs):
                yield from _nodes(nested)


def at(prefix: str) -> Callable[[str], str]:
    """A function that puts places of the moved content behind `prefix`; in a branch, inputs stay where they are."""
    fields = _IN_BODY if prefix == BODY else _IN_BRANCH
    moved = re.compile(rf"\bgraph\.(?=(?:{'|'.join(sorted(fields))})\b)")
    return lambda text: moved.sub(f"{prefix}.", text)


def expected(diagnostic: Diagnostic, prefix: str, name: str) -> dict[str, object]:
    """The whole diagnostic as it must be after the move, without what may differ."""
    move = at(prefix)
    described = f"function {f'{DOMAIN}::{name}'!r}" if prefix == BODY else f"subgraph {name!r}"
    importer = "the function imports" if prefix == BODY else "the model imports"

    def text(value: str | None) -> str | None:
        if value is None:
            return None
        value = move(value).replace(f"main graph {name!r}", described).replace("of the main graph", f"of {described}")
        return value.replace("the model imports", importer)

    return {
        **comparable(diagnostic),
        "message": text(_WHERE_IT_RUNS.sub("", diagnostic.message)),
        "allowed": text(_CONSUMERS.sub("", diagnostic.allowed or "")),
        "place": move(diagnostic.place),
        "related": [
            (related.place if _is_open(related.message) else move(related.place), text(related.message))
            for related in diagnostic.related
        ],
    }


_DIFFERENT = frozenset(
    {"cited", "around", "user", "byte_range", "position", "at", "advice", "folding", "identity", "by_target"}
)
"""The fields that may differ after a move: a function has other clauses, known to other consumers, a fix or a hint
names what can change, and a cause the place of the graph, for findings that are folded."""

_CONSUMERS = re.compile(r"; (onnx\.checker|onnxruntime) .*")
"""The end of `allowed`: who takes or refuses what violates the clause."""


_WHERE_IT_RUNS = re.compile(r" where subgraph '[^']*' runs$")
"""The end of a message on names that contradict in a branch: the main graph surely runs."""


def comparable(diagnostic: Diagnostic) -> dict[str, object]:
    """The diagnostic without what may differ after a move, and without the call."""
    fields = {name: getattr(diagnostic, name) for name in field_names(Diagnostic) if name not in _DIFFERENT}
    # Only what stands in a function has a call that brought the types.
    related = [(related.place, related.message) for related in diagnostic.related]
    fields |= {name: getattr(diagnostic, name) for name in ("node", "operator", "graph")}
    fields |= {"place": diagnostic.place, "allowed": _CONSUMERS.sub("", diagnostic.allowed or "")}
    fields |= {"message": _WHERE_IT_RUNS.sub("", diagnostic.message)}
    return {**fields, "related": [(place, message) for place, message in related if not _is_call(message)]}


def _is_open(message: str) -> bool:
    """Whether a related place is an input that declares a variable: a function declares no shapes."""
    return message.endswith(" is open here")


def _is_call(message: str) -> bool:
    return message.startswith("called by ")
