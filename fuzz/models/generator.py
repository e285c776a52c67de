# SPDX-License-Identifier: Apache-2.0
"""Generates model `number` of a run: a few nodes around one version of one operator, most of them valid."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from onnx import NodeProto, helper
from shape_cases.case import Case, Operand, chosen_types, fill_type

from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.fact import UNKNOWN

from . import control_flow
from .builder import Builder, Generated, Sizes, type_of
from .operands import operand
from .operators import (
    CONTROL_FLOW,
    Schema,
    active,
    attributes,
    cases_of,
    is_elementwise,
    last_version,
    newest,
    schemas,
    some_case,
)
from .placement import placed
from .tensors import FED, element

WRONG = 0.15
"""The probability that a node is mutated, which may make it invalid."""


def model_of(seed: int, number: int) -> Generated:
    """Return the model of a seed and a number."""
    rng = Random(f"models {seed}:{number}")
    schema = rng.choice(schemas())
    builder = Builder(rng, *_environment(rng, schema), left=rng.choice((2, 3, 3, 4, 5, 6)))
    _add_subject(builder, schema)
    while builder.left > 0 and rng.random() < 0.9:
        builder.infer()
        if not _follow(builder):
            break
    _finish(builder)
    return builder.made(number, f"{schema.domain or 'ai.onnx'}::{schema.name}-{schema.since_version}")


def _environment(rng: Random, schema: Schema) -> tuple[dict[str, int], int]:
    """Return operator set imports that contain the operator, and an IR version that allows them."""
    imports = {"": rng.choice((newest()[""], rng.randrange(7, newest()[""] + 1), rng.randrange(13, 22)))}
    imports[schema.domain] = rng.choice(
        (last_version(schema), rng.randrange(schema.since_version, last_version(schema) + 1))
    )
    least = helper.find_min_ir_version_for([helper.make_opsetid("", imports[""])], ignore_unknown=True)
    return imports, rng.choice((max(least, 3), max(least, 8), max(least, 10), _NEWEST_IR))


_NEWEST_IR = 13


def _add_subject(builder: Builder, schema: Schema) -> None:
    """Add the node of the operator under test."""
    if schema.name in CONTROL_FLOW and not schema.domain:
        control_flow.add(builder, schema)
        return
    case = some_case(builder.rng, schema, is_wrong=builder.rng.random() < WRONG)
    _add(builder, schema, case)


def _add(builder: Builder, schema: Schema, case: Case, inputs: dict[int, str] | None = None) -> None:
    """Add a node for a case. `inputs` are existing values by input index."""
    given = dict(inputs or {})
    kinds = _types(builder, schema, case, {at: builder.facts[name].kind or "" for at, name in given.items()})
    names = []
    for at, (wanted, kind) in enumerate(zip(case.inputs, kinds, strict=True)):
        if at in given:
            names.append(given[at])
        else:
            names.append("" if wanted is None else operand(builder, kind, wanted))
    node = NodeProto(op_type=schema.name, domain=schema.domain)
    node.input.extend(names)
    node.output.extend(builder.name() for _ in range(_outputs(builder.rng, schema, case)))
    node.attribute.extend(attributes(builder.rng, schema, case).values())
    if builder.rng.random() < 0.02 and node.input:
        _spoil(builder, node)
    placed(builder, node)


def _spoil(builder: Builder, node: NodeProto) -> None:
    """Add, remove or replace one operand."""
    values = builder.values() or list(node.input)
    draw = builder.rng.randrange(3)
    if draw == 0:
        node.input.append(builder.rng.choice(values))
    elif draw == 1:
        del node.input[-1]
    else:
        node.input[builder.rng.randrange(len(node.input))] = builder.rng.choice(values)


def _outputs(rng: Random, schema: Schema, case: Case) -> int:
    """Return the number of outputs: that of the case, sometimes another allowed number."""
    if rng.random() < 0.8:
        return case.outputs
    return rng.randrange(
        max(schema.min_output, 1), max(min(schema.max_output, len(schema.outputs)), case.outputs, 1) + 1
    )


def _types(builder: Builder, schema: Schema, case: Case, known: dict[int, str]) -> list[str]:
    """Return a type for each input: that of an existing value, else a random one for each type variable."""
    rng = builder.rng
    variables: dict[str, str] = {}
    for at, kind in known.items():
        variables[_parameter(schema, at).type_str] = kind
    chosen = chosen_types(schema, case)
    is_usual = rng.random() < 0.6
    for at, (wanted, usual) in enumerate(zip(case.inputs, chosen, strict=True)):
        parameter = _parameter(schema, at)
        if wanted is not None and wanted.kind:
            variables.setdefault(parameter.type_str, wanted.kind)
        elif parameter.type_str not in variables:
            kinds = sorted(parameter.types)
            if wanted is not None and wanted.content is not None:
                kinds = [kind for kind in kinds if _holds(kind, wanted)]
            elif usual.startswith("tensor("):
                kinds = [kind for kind in kinds if kind.startswith("tensor(")]
            common = [kind for kind in kinds if element(kind) in FED]
            kinds = common if common and rng.random() < 0.8 else kinds
            variables[parameter.type_str] = usual if is_usual or not kinds else rng.choice(kinds)
    return [
        (wanted.kind if wanted is not None and wanted.kind else None) or variables[_parameter(schema, at).type_str]
        for at, wanted in enumerate(case.inputs)
    ]


def _holds(kind: str, wanted: Operand) -> bool:
    """Return whether a tensor of the type can hold the elements."""
    name = element(kind) or ""
    if any(isinstance(each, float) for each in wanted.content or ()):
        return name in {"float", "double", "float16"}
    return name in {"int64", "int32", "bool", "uint8", "float"}


def _parameter(schema: Schema, at: int) -> Schema.FormalParameter:
    return schema.inputs[min(at, len(schema.inputs) - 1)]


# --- further nodes


_TRIES = 12


def _follow(builder: Builder) -> bool:
    """Add a node that reads an output of another node. Return False if there is none."""
    rng = builder.rng
    values = builder.values()
    made = [name for node in builder.model.graph.node for name in node.output if name in set(values)]
    if not made:
        return False
    for _ in range(_TRIES):
        name = rng.choice(made)
        domain = rng.choice(list(builder.imports)) if rng.random() < 0.15 else ""
        schema = rng.choice(list(active(domain, builder.imports[domain]).values()))
        if schema.name in CONTROL_FLOW or schema.name == "Constant" or not schema.inputs:
            continue
        at = _place_for(builder, schema, name)
        if at is None:
            continue
        case = rng.choice(cases_of(schema)) if cases_of(schema) else None
        if case is None or at >= len(case.inputs) or case.inputs[at] is None:
            continue
        fitted = _fitted(builder, schema, case, at, name)
        if fitted is not None:
            _add(builder, schema, fitted, {at: name})
            return True
    builder.append(NodeProto(op_type="Identity", input=[rng.choice(made)], output=[builder.name()]))
    return True


def _place_for(builder: Builder, schema: Schema, name: str) -> int | None:
    """Return the index of an input that accepts the type of the value."""
    kind = builder.facts[name].kind
    fitting = [at for at, parameter in enumerate(schema.inputs) if kind in parameter.types]
    return builder.rng.choice(fitting) if fitting else None


def _fitted(builder: Builder, schema: Schema, case: Case, at: int, name: str) -> Case | None:
    """Return the case adapted to the shape of the value, or None if it does not fit."""
    sizes, wanted = builder.known_sizes(name), case.inputs[at]
    assert wanted is not None
    if element(builder.facts[name].kind or "") is None or sizes is None:
        return case if wanted.content is None else None
    if wanted.content is not None:
        return None
    if wanted.shape is not None and is_elementwise(schema):
        return replace(case, inputs=tuple(each and replace(each, shape=sizes, content=None) for each in case.inputs))
    bound = _unified(wanted.shape, sizes)
    if bound is None:
        return case if builder.rng.random() < 0.05 else None
    return replace(case, inputs=tuple(each and _bound(each, bound) for each in case.inputs))


def _unified(shape: Dims | None, sizes: Sizes) -> dict[str, int] | None:
    """Return the sizes of the variables of a shape, or None if the sizes do not fit."""
    if shape is None:
        return {}
    bound: dict[str, int] = {}
    if len(shape) != len(sizes):
        return None
    for dim, size in zip(shape, sizes, strict=True):
        if isinstance(dim, int) and dim != size:
            return None
        if isinstance(dim, str) and bound.setdefault(dim, size) != size:
            return None
    return bound


def _bound(wanted: Operand, bound: dict[str, int]) -> Operand:
    if wanted.shape is None:
        return wanted
    return replace(wanted, shape=tuple(bound.get(dim, dim) if isinstance(dim, str) else dim for dim in wanted.shape))


# --- declarations


def _finish(builder: Builder) -> None:
    """Declare the graph outputs and some values between, mostly as inferred."""
    builder.infer()
    graph, rng = builder.model.graph, builder.rng
    taken = {name for node in graph.node for name in node.input}
    made = [name for node in graph.node for name in node.output if name]
    outputs = [name for name in made if name not in taken]
    outputs += [name for name in made if name in taken and rng.random() < 0.1]
    typed = [name for name in outputs if builder.facts.get(name, UNKNOWN).kind]
    for name in typed or outputs[:1]:
        _declare_output(builder, name)
    declared = {each.name for each in graph.output}
    for name in made:
        kind = type_of(builder.facts.get(name, UNKNOWN))
        if name not in declared and kind is not None and rng.random() < 0.15:
            graph.value_info.add(name=name, type=kind)
    builder.infer()


def _declare_output(builder: Builder, name: str) -> None:
    graph, rng = builder.model.graph, builder.rng
    fact = builder.facts.get(name, UNKNOWN)
    proto = type_of(fact)
    if proto is None and fact.kind:
        operator = "Size" if fact.kind.startswith("tensor(") else "OptionalHasElement"
        counted = builder.name()
        graph.node.append(NodeProto(op_type=operator, input=[name], output=[counted]))
        output = graph.output.add(name=counted)
        fill_type(output.type, "tensor(int64)" if operator == "Size" else "tensor(bool)", ())
        return
    output = graph.output.add(name=name)
    if proto is None:
        return
    output.type.CopyFrom(proto)
    dims = output.type.tensor_type.shape.dim if output.type.HasField("tensor_type") else []
    for dim in dims:
        draw = rng.random()
        if draw < 0.1:
            dim.Clear()
        elif draw < 0.105:
            dim.dim_value = rng.choice((0, 1, 2, 5))
            builder.has_made_up_shapes = True
