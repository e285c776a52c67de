# SPDX-License-Identifier: Apache-2.0
"""Makes models with one node: every definition of every operator, with the types that its operands may have.

    python -m tools.single_nodes FOLDER

writes one for each type of the first input, in the first and in the last version of each definition. The operands have
no shapes and no values, so a model shows whether a release has a kernel for the types, or runs the function of the
operator, and little else. Operators with subgraphs are left out. `compile_targets` asks releases with such models.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, BUILT_IN, OperatorSchema
from onnx_lint.spec.operators.attribute_values import allowed_values
from onnx_lint.spec.operators.schema import AttributeSchema
from onnx_lint.spec.releases import NEWEST_OPSET

Types = Mapping[str, str]
"""The types of operands by type variable."""

_NUMBERS: Final = {element.name: element.number for element in ELEMENT_TYPES.values()}
_DUMMIES: Final[Mapping[str, tuple[str, Any]]] = {
    "INT": ("i", 1),
    "INTS": ("ints", [1, 1]),
    "FLOAT": ("f", 1.0),
    "FLOATS": ("floats", [1.0]),
    "STRING": ("s", "i->i"),  # an equation of Einsum; what other attributes may be is known
    "STRINGS": ("strings", ["x"]),
}
"""By type of an attribute: its field, and a value for one that is required."""
_TYPES_OF_OUTPUTS: Final = ("dtype", "output_datatype", "stash_type")
"""The attributes that state the type of an output."""


def definitions() -> Iterator[OperatorSchema]:
    """Yield the definitions of all operators without subgraphs, in a fixed order."""
    for domain in BUILT_IN.known_domains():
        for name in BUILT_IN.operator_names(domain):
            for version in BUILT_IN.versions(domain, name):
                found = BUILT_IN.find(domain, name, version)
                kinds = {attribute.type for attribute in found.attributes.values()} if found else set()
                if found is not None and not found.deprecated and not kinds & {"GRAPH", "GRAPHS"}:
                    yield found


def versions(operator: OperatorSchema) -> range:
    """Return the versions of the operator set that have the definition."""
    later = [
        version for version in BUILT_IN.versions(operator.domain, operator.name) if version > operator.since_version
    ]
    return range(operator.since_version, min(later, default=NEWEST_OPSET.get(operator.domain, 1) + 1))


def single_nodes() -> Iterator[tuple[str, bytes]]:
    """Yield a name and a model for each type of the first input, in the first and in the last version."""
    for operator in definitions():
        first = operator.inputs[0] if operator.inputs else None
        for kind in sorted(first.types) if first else [""]:
            for version in sorted({versions(operator)[0], versions(operator)[-1]}):
                name = f"{operator.domain or 'ai.onnx'}.{operator.name}.{operator.since_version}.{version}.{kind}"
                yield name, single_node(operator, version, {first.type: kind} if first else {})


def combinations(operator: OperatorSchema) -> Iterator[Types]:
    """Yield all types that the required inputs may have, and the outputs whose type an attribute states."""
    parameters = list(operator.inputs[: operator.min_input])
    if _stated_type(operator):
        parameters += operator.outputs
    allowed = {each.variable: sorted(each.types) for each in parameters if each.variable}
    for kinds in itertools.product(*allowed.values()):
        yield dict(zip(allowed, kinds, strict=True))


def forms(operator: OperatorSchema) -> Iterator[dict[str, Any]]:
    """Yield what else a node may have, as arguments of `single_node`. Functions may depend on it."""
    yield {"has_all": True}
    for rank in range(1, 5):
        yield {"rank": rank}
    for name, attribute in operator.attributes.items():
        if name not in _TYPES_OF_OUTPUTS:
            allowed = allowed_values(operator, name) if attribute.type in ("INT", "STRING") else None
            for value in sorted(allowed or _USUAL.get(attribute.type, ())):
                yield {"attributes": {name: value}}


_USUAL: Final[Mapping[str, Sequence[Any]]] = {"INT": (0, 1), "FLOAT": (0.5,), "INTS": ([0],)}
"""By type of an attribute: the values that are tried if it is not known which are allowed."""


def single_node(
    operator: OperatorSchema,
    version: int,
    types: Types,
    has_all: bool = False,
    attributes: Mapping[str, Any] = {},
    rank: int | None = None,
) -> bytes:
    """Return a model with one node that has the least operands, or all of them, and the attributes that it must have.

    `version`: of the operator set. An input of no type in `types` is float if it may be. Its sizes are 1 if it has a
    rank.
    """
    made = schema.message("ModelProto")(ir_version=8, producer_name="onnx-lint", graph={"name": "g"})
    for domain, number in ({"": 17} | {operator.domain: version}).items():
        made.opset_import.add(domain=domain, version=number)
    node = made.graph.node.add(op_type=operator.name, domain=operator.domain, name="n")
    for index in range(max(operator.min_input, len(operator.inputs) if has_all else 0)):
        parameter = operator.input_at(index)
        assert parameter is not None
        usual = min(parameter.types, key=lambda kind: (kind != "tensor(float)", not kind.startswith("tensor"), kind))
        node.input.append(f"x{index}")
        declared = made.graph.input.add(name=f"x{index}").type
        _set_type(declared, types.get(parameter.type, usual))
        for _ in range(rank or 0):
            declared.tensor_type.shape.dim.add(dim_value=1)
    for index in range(max(operator.min_output, len(operator.outputs) if has_all else 1)):
        node.output.append(f"y{index}")
        made.graph.output.add(name=f"y{index}")
    stated = _stated_type(operator)
    for name, attribute in operator.attributes.items():
        value = attributes.get(name)
        if name == stated:
            value = next((_NUMBERS[types[each.type][7:-1]] for each in operator.outputs if each.type in types), value)
        if value is None and attribute.required and attribute.type in _DUMMIES:
            value = min(allowed_values(operator, name) or [_DUMMIES[attribute.type][1]])
        if value is not None:
            _add(node, attribute, value)
    return bytes(made.SerializeToString())


def _add(node: Any, attribute: AttributeSchema, value: Any) -> None:
    made = node.attribute.add(name=attribute.name, type=ATTRIBUTE_TYPE_CODES[attribute.type])
    field = _DUMMIES[attribute.type][0]
    values = [
        each.encode() if isinstance(each, str) else each for each in (value if isinstance(value, list) else [value])
    ]
    getattr(made, field).extend(values) if isinstance(value, list) else setattr(made, field, values[0])


def _stated_type(operator: OperatorSchema) -> str | None:
    """Return the attribute that states the type of an output, where no input has the same type variable."""
    inputs = {each.type for each in operator.inputs}
    names = [name for name in _TYPES_OF_OUTPUTS if name in operator.attributes]
    return names[0] if names and any(each.type not in inputs for each in operator.outputs) else None


def _set_type(proto: Any, text: str) -> None:
    """Fill a TypeProto with the type of a description, such as `seq(tensor(float))`."""
    constructor, _, rest = text.partition("(")
    inner = rest[:-1]
    match constructor:
        case "tensor":
            proto.tensor_type.elem_type = _NUMBERS[inner]
        case "sparse_tensor":
            proto.sparse_tensor_type.elem_type = _NUMBERS[inner]
        case "seq":
            _set_type(proto.sequence_type.elem_type, inner)
        case "optional":
            _set_type(proto.optional_type.elem_type, inner)
        case "map":
            key, _, value = inner.replace(" ", "").partition(",")
            proto.map_type.key_type = _NUMBERS[key]
            _set_type(proto.map_type.value_type, value if "(" in value else f"tensor({value})")


def main(arguments: list[str]) -> int:
    """Write the models into a folder. Returns the exit code."""
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in single_nodes():
        (folder / f"{name}.onnx").write_bytes(model)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
