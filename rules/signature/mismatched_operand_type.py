# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_type_conflicts
from onnx_lint.rule import Finding, conversions_apart, findings_of_nodes, rule


@rule(clause="NOD-8", since="0.1.0", about=has_type_conflicts, needs="node")
def mismatched_operand_type(model: Model) -> Iterator[Finding]:
    """The type of a node's input or output is not one that its operator allows.

    ### How to fix

    Bring the operands to one type with Cast, or declare the type that is meant; ONNX converts nothing by itself. In
    PyTorch the same is said before the export, as with `x.double()`.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
    input { name: "y" type { tensor_type { elem_type: 11 shape { } } } }
    node { op_type: "Add" input: "x" input: "y" output: "z" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
    input { name: "y" type { tensor_type { elem_type: 11 shape { } } } }
    node { op_type: "Cast" input: "x" output: "x_double" attribute { name: "to" type: INT i: 11 } }
    node { op_type: "Add" input: "x_double" input: "y" output: "z" }
    ```

    ### Why it matters

    The operator is not defined for such values, and a consumer has no kernel for them. Most refuse the model when they
    load it.

    ### Details

    For each input one of the types of the signature at the imported version, and for the inputs that share a type
    variable, such as `T`, one type for all of them. An output whose type follows from attributes or inputs has to be
    of a type of the signature too. A value of unknown type, and an input that is left out, fit everything.

    The thresholds and leaf weights of TreeEnsemble have the type of its input. The text does not say so; onnx and ONNX
    Runtime refuse others.

    Types follow from inputs, initializers and attributes, through all nodes, subgraphs and functions. A function is
    judged with the types of its calls, and what is wrong in its body is reported once. The outputs of a node with such
    a fault count as unknown. A deprecated operator, and one of an operator set that onnx-lint does not know yet, is
    not judged. A sparse initializer counts as the tensor that it represents.

    Shapes are reported by `incompatible-operand-shapes`. An optional type where the type in it is needed is
    reported by `unconverted-optional` (from edition 1.16 on), a number of an element type that the operator does
    not know by `unsupported-attribute-value`.
    """
    yield from findings_of_nodes(
        model, ((each, "NOD-8") for each in conversions_apart(model, model.value_flow.operands))
    )
