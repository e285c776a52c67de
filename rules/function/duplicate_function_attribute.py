# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Function, Model, Place
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("FUN-6", "FUN-7"), since="0.1.0", about=Model.parametric_functions, needs="function")
def duplicate_function_attribute(model: Model) -> Iterator[Finding]:
    """A model-local function declares an attribute parameter twice.

    ### How to fix

    - A parameter with a default: list it in `attribute_proto` only.
    - A parameter that every call must pass: list it in `attribute` only.

    ### Example

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y"
      attribute: "alpha"
      attribute_proto { name: "alpha" type: FLOAT f: 1 }
      node { op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "alpha" } }
    }
    ```

    Corrected:

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y"
      attribute_proto { name: "alpha" type: FLOAT f: 1 }
      node { op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "alpha" } }
    }
    ```

    ### Why it matters

    A parameter in both lists has a default for some readers and none for others. A parameter that occurs twice in
    `attribute_proto` has two defaults.

    ### Details

    - Each parameter must occur only once, in one of the two lists.
    - `attribute` lists parameters without a default, `attribute_proto` parameters with one.
    """
    for function in model.parametric_functions:
        names = [*function.attribute_names, *(default.name for default in function.attribute_defaults)]
        if len(set(names)) != len(names):
            yield from _duplicates(function)


def _parameters(function: Function) -> Iterator[tuple[str, str, Place]]:
    """Name, list, and place of each parameter that has a name."""
    for index, name in enumerate(function.attribute_names):
        if name:
            yield name, "attribute", function.place.at("attribute", index)
    for index, default in enumerate(function.attribute_defaults):
        if default.name:
            yield default.name, "attribute_proto", function.place.at("attribute_proto", index)


def _duplicates(function: Function) -> Iterator[Finding]:
    first: dict[str, tuple[str, Place]] = {}
    for name, field, place in _parameters(function):
        other_field, other_place = first.setdefault(name, (field, place))
        if other_place is place:
            continue
        where = f"twice in {field}" if field == other_field else f"in {other_field} and in {field}"
        yield Finding(
            place,
            f"attribute parameter {quote(name)} of {function.body.describe()} is listed {where}",
            clause="FUN-6" if field == other_field else "FUN-7",
            related=(Related(other_place, f"first declaration of {quote(name)}, in {other_field}"),),
            allowed="each attribute parameter once",
            subject=name,
        )
