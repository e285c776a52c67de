# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.mismatch import is_mistyped
from onnx_lint.model import Attribute, Function, Model, Proto, message
from onnx_lint.rule import Finding, Related, rule


@rule(clause="FUN-21", since="0.1.0", about=Model.functions, needs="function")
def mismatched_call_attribute(model: Model) -> Iterator[Finding]:
    """A call passes an attribute to a model-local function whose type is not the one that the function takes.

    ### How to fix

    Pass a value of the parameter's type. In `onnx.helper.make_node`, `axis=1` is an INT and `axis=1.0` a FLOAT.

    ### Example

    ```
    node { op_type: "F" domain: "com.example" input: "x" output: "y" attribute { name: "axis" type: FLOAT f: 1 } }
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute_proto { name: "axis" type: INT i: 0 }
      node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT ref_attr_name: "axis" } }
    }
    ```

    Corrected:

    ```
    node { op_type: "F" domain: "com.example" input: "x" output: "y" attribute { name: "axis" type: INT i: 1 } }
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute_proto { name: "axis" type: INT i: 0 }
      node { op_type: "Softmax" input: "x" output: "y" attribute { name: "axis" type: INT ref_attr_name: "axis" } }
    }
    ```

    ### Why it matters

    The value replaces an attribute of a node in the body, and the operator of that node requires one type.

    ### Details

    - The attribute must have the type of the parameter.
    - A parameter with a default in `attribute_proto` has the type of the default, one in `attribute` the type that its
      references in the body state.
    - Any type is accepted if the body has no reference to the parameter.
    - Any type is accepted if the references disagree; `contradictory-parameter-type` reports it.
    - If the call is in a function and passes a parameter of that function, the stated type of the reference is
      compared.
    """
    if not model.operators.calls_have_attributes:
        return
    parameters: dict[int, dict[str, Attribute]] = {}
    for node, function in model.calls.all:
        for index, attribute in enumerate(node.attribute_protos):
            if not parameters:
                parameters = _parameters(model)
            parameter = parameters[function.index].get(attribute.name)
            if parameter is None or not _type_name(attribute):
                continue
            if attribute.type != parameter.proto.type:
                place = node.place.at("attribute", index)
                yield _finding(Attribute(attribute, place, node.graph, node), function, parameter)


def _parameters(model: Model) -> dict[int, dict[str, Attribute]]:
    """For each function, by index, the attribute parameters of known type, with the attribute that decides it."""
    found: dict[int, dict[str, Attribute]] = {function.index: {} for function in model.functions}
    disputed: set[tuple[int, str]] = set()
    for function, reference in _references(model):
        name = reference.proto.ref_attr_name
        known = found[function.index].setdefault(name, reference)
        if known.proto.type != reference.proto.type:
            disputed.add((function.index, name))
    for index, name in disputed:
        del found[index][name]
    for function in model.functions:
        for index, default in enumerate(function.attribute_defaults):
            place = function.place.at("attribute_proto", index)
            found[function.index][default.name] = Attribute(default, place, function.body, None)
    return {
        index: {name: attribute for name, attribute in attributes.items() if _type_name(attribute.proto)}
        for index, attributes in found.items()
    }


def _references(model: Model) -> Iterator[tuple[Function, Attribute]]:
    """Each attribute in a function that refers to a parameter, and the function.

    One that the operator takes with another type has a finding of its own, and says nothing about calls.
    """
    for attribute in model.attributes(lambda kind: kind.is_reference):
        if attribute.function is not None and attribute.node is not None:
            schema = model.operators.operator(attribute.node).schema
            if not is_mistyped(schema, attribute.proto.name, attribute.proto.type):
                yield attribute.function, attribute


def _type_name(attribute: Proto) -> str:
    """The name of the type that the attribute states; empty where it states none that is defined."""
    types = message("AttributeProto").AttributeType
    return str(types.Name(attribute.type)) if attribute.type and attribute.type in types.values() else ""


def _finding(attribute: Attribute, function: Function, parameter: Attribute) -> Finding:
    given, taken = _type_name(attribute.proto), _type_name(parameter.proto)
    return Finding(
        attribute.place,
        f"{attribute.describe()} is of type {given}, but {function.body.describe()} needs {taken}",
        related=(Related(parameter.place, f"{parameter.describe()} is of type {taken}"),),
        allowed=taken,
        subject=attribute.proto.name,
        partners=(parameter.place,),
    )
