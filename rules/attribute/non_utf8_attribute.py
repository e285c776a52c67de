# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.columns.attribute_kinds import utf8_fault
from onnx_lint.model import Attribute, Model, Place, has_unusual_attributes, is_onnx_domain
from onnx_lint.rule import Finding, rule


@rule(clause=("ATT-9", "ATT-9a"), since="0.1.0", about=has_unusual_attributes, needs="attribute")
def non_utf8_attribute(model: Model) -> Iterator[Finding]:
    r"""A string attribute has bytes that are not UTF-8.

    ### How to fix

    Encode the text as UTF-8. Store bytes that are not text in a tensor of type UINT8.

    ### Example

    ```
    node { op_type: "StringSplit" input: "x" output: "y" output: "n"
           attribute { name: "delimiter" type: STRING s: "\xff" } }
    ```

    Corrected:

    ```
    node { op_type: "StringSplit" input: "x" output: "y" output: "n"
           attribute { name: "delimiter" type: STRING s: "\xc3\xbf" } }
    ```

    ### Why it matters

    No parser checks the field, because its type is bytes. The first reader that decodes it fails or shows wrong
    characters.

    ### Details

    - `s` and each element of `strings` must be UTF-8.
    - The finding is an error for operators that ONNX defines.
    - It is a warning for other operators: the specification leaves the meaning of their attributes to runtimes, which
      store compiled engines there.
    - It is also a warning in calls of model-local functions, in defaults of a function's parameters, and in a
      document that is a single attribute.
    """
    for attribute in model.attributes(lambda kind: not kind.is_text):
        clause = "ATT-9" if _is_of_onnx(model, attribute) else "ATT-9a"
        for place, prefix, position in _faults(attribute):
            yield Finding(
                place,
                f"{prefix}{attribute.describe()} is not valid UTF-8 at byte {position}",
                clause=clause,
                allowed="UTF-8 text",
                subject=attribute.proto.name,
            )


def _is_of_onnx(model: Model, attribute: Attribute) -> bool:
    node = attribute.node
    return node is not None and is_onnx_domain(node.domain) and not model.calls.namesakes(node)


def _faults(attribute: Attribute) -> Iterator[tuple[Place, str, int]]:
    position = utf8_fault(attribute.proto.s)
    if position is not None:
        yield attribute.place.at("s"), "", position
    for index, value in enumerate(attribute.proto.strings):
        position = utf8_fault(value)
        if position is not None:
            yield attribute.place.at("strings", index), f"string {index} of ", position
