# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ATTRIBUTE_TYPE_NAMES, Attribute, Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="FUN-21b", since="0.1.0", about=Model.parametric_functions, needs="function")
def contradictory_parameter_type(model: Model) -> Iterator[Finding]:
    """Two attributes in a function refer to one parameter and state different types.

    ### How to fix

    Give the function a separate parameter for each of the two attributes.

    ### Example

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute: "p"
      node { op_type: "Softmax" input: "x" output: "s" attribute { name: "axis" type: INT ref_attr_name: "p" } }
      node { op_type: "LeakyRelu" input: "s" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "p" } }
    }
    ```

    Corrected:

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute: "p" attribute: "q"
      node { op_type: "Softmax" input: "x" output: "s" attribute { name: "axis" type: INT ref_attr_name: "p" } }
      node { op_type: "LeakyRelu" input: "s" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "q" } }
    }
    ```

    ### Why it matters

    A call passes one value of one type, and one of the two nodes cannot use it. The function works only if the call
    omits the parameter.

    ### Details

    - All attributes in the body that refer to one parameter must state the same type.
    - The specification does not say this in one sentence. It follows from the rule that a call passes the type that
      they state.
    - Reported by other rules: a reference whose type differs from the parameter's default
      (`mismatched-attribute-default`) or from the operator's attribute (`wrong-operator-attribute-type`), a reference
      without a valid type (`untyped-attribute`), and an undeclared parameter (`undeclared-attribute-reference`).
    """
    first: dict[tuple[int, str], Attribute | None] = {
        (function.index, name): None
        for function in model.functions
        for name in set(function.attribute_names).difference(default.name for default in function.attribute_defaults)
    }
    if not first:
        return
    for reference in model.attributes(lambda kind: kind.is_reference):
        if reference.function is None or reference.node is None or not _is_taken(model, reference):
            continue
        key = reference.function.index, reference.proto.ref_attr_name
        if key not in first:
            continue
        known = first[key]
        if known is None:
            first[key] = reference
        elif known.proto.type != reference.proto.type:
            # One finding for each parameter, at the first reference that differs.
            del first[key]
            yield _finding(known, reference)


def _is_taken(model: Model, reference: Attribute) -> bool:
    """Return true if a reference states a type, and the one in the operator's signature if that is known."""
    assert reference.node is not None
    schema = model.operators.operator(reference.node).schema
    wanted = schema.attributes.get(reference.proto.name) if schema is not None else None
    stated = reference.proto.type
    return stated in ATTRIBUTE_TYPE_NAMES and (wanted is None or wanted.type_code == stated)


def _finding(known: Attribute, reference: Attribute) -> Finding:
    name = quote(reference.proto.ref_attr_name)
    one, other = (ATTRIBUTE_TYPE_NAMES[each.proto.type] for each in (known, reference))
    return Finding(
        reference.place,
        f"{reference.describe()} refers to parameter {name} as {other}, but {known.describe()} refers to it as {one}",
        related=(Related(known.place, f"refers to {name} as {one}"),),
        allowed=one,
        subject=reference.proto.ref_attr_name,
    )
