# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.model.typing.wording import (
    allowed_at,
    declaration_notes,
    describe_declaration,
    describe_operands,
    describe_subgraph,
    operand_notes,
    site_notes,
    subgraph_place,
)
from onnx_lint.rule import Finding, Related, rule


@rule(clause="OPT-4", since="0.1.0")
def unconverted_optional(model: Model) -> Iterator[Finding]:
    """A value of an optional type stands where the type in it is needed, or the other way round.

    ### Why it matters

    An optional value may be empty, and operators take values that are there. Nothing converts the one to the other by
    itself; consumers refuse the model.

    ### What is allowed

    The operator OptionalGetElement takes the value out of an optional one, and Optional puts it into one. Without them
    an optional value goes only to operators whose signature has the optional type, to graph outputs that are declared
    so, and to subgraphs whose inputs are. OptionalGetElement and OptionalHasElement take other values too from
    operator set 18 on. Optional inputs of operators, which may be left out, have nothing to do with optional types.

    Edition 1.9 does not know optional types; under it such values are for `mismatched-operand-type` and its like.

    ### Example

    ```
    input { name: "x" type { optional_type { elem_type { tensor_type { elem_type: 1 } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    ```
    """
    flow = model.type_flow
    for operands in filter(lambda conflict: conflict.lacks_conversion, flow.operands):
        index = operands.problem.index
        yield Finding(
            operands.node.place.at("input", index),
            describe_operands(operands, model.signatures.schemas),
            related=tuple(Related(*note) for note in operand_notes(operands)),
            allowed=allowed_at(operands),
            subject=operands.node.inputs[index],
        )
    for declaration in filter(lambda conflict: conflict.lacks_conversion, flow.declarations):
        yield Finding(
            declaration.graph.place.at(declaration.field, declaration.index),
            describe_declaration(declaration),
            related=tuple(Related(*note) for note in declaration_notes(declaration)),
            allowed=declaration.inferred,
            subject=declaration.name,
        )
    for subgraph in filter(lambda conflict: conflict.lacks_conversion, flow.subgraphs):
        yield Finding(
            subgraph_place(subgraph),
            describe_subgraph(subgraph),
            related=tuple(Related(*note) for note in site_notes(subgraph.site)),
            allowed=subgraph.expected,
            subject=subgraph.node.name or None,
        )
