# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Assign, DeclaredShapeConflict, Edit, Fix, Model, agree, has_shape_conflicts, message
from onnx_lint.rule import Finding, deletion_of, findings_of, rule
from onnx_lint.wording import quote


@rule(clause=("NOD-8c", "VI-6a", "FUN-23b", "FUN-23d"), since="0.1.0", about=has_shape_conflicts, needs="node")
def contradictory_declared_shape(model: Model) -> Iterator[Finding]:
    """The declared shape of a value is not the one that its node produces.

    ### How to fix

    Declare the shape that follows, or leave it open. `onnx-lint fix` (safe) deletes the entry if it is in
    `value_info`, and `onnx-lint fix --unsafe-fixes` (unsafe: the declaration may be what is meant) declares the shape
    of an output that follows, with a dimension left open where only an expression follows. When the sizes of inputs
    are changed, what is declared behind them has to change too: drop the `value_info` and let
    `onnx.shape_inference.infer_shapes` write it anew.

    - PyTorch: `dynamic_shapes=` exports a size that may change, so that none has to be edited.
    - ONNX Runtime:
      `python -m onnxruntime.tools.make_dynamic_shape_fixed --dim_param N --dim_value 2 model.onnx fixed.onnx` sets a
      size everywhere.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    ```

    ### Why it matters

    A consumer that believes the declaration allocates a buffer of the wrong size, or refuses the input of the next
    model. `onnx.checker` rejects such a model with `full_check`. ONNX Runtime goes on: it warns when it loads the model
    ("Falling back to lenient merge") and at each run in which an output has another shape than is declared.

    ### Details

    For outputs of graphs and for `value_info` the rank and the sizes that follow from the operator, its attributes and
    the shapes of its inputs. A variable, or a dimension that is left open, agrees with every size, and where nothing
    follows, as behind an unknown operator, any declaration is right. Functions may be called with several shapes: their
    `value_info` that fits only some of the calls gets a warning.

    The output of an If has to fit both of its branches: "the shape of the corresponding output variable of the if-node
    (if present) must be compatible with both S1 and S2". If the condition is a constant, it has to fit the branch that
    runs. Where the shape of a Reshape is not known, its output has as many elements as its input all the same: `[N, 7]`
    is never `[N, 6]`, but for empty tensors. One number in an unknown list of `axes` determines the rank of a reduction
    without `keepdims` and of a Squeeze; several may list one axis twice.

    All elements of a sequence fit its declaration: "The dimension variables M or N must be omitted from the above type
    if that dimension does not have a fixed size across all tensors in the sequence. The entire shape must be omitted
    from the type if different tensors in the sequence may have different ranks."

    The outputs of a body are what its operators produce: those of the Loop or If do not follow its wrong declarations.

    Two declarations of one value are reported by `contradictory-value-info`, types by
    `contradictory-declared-type`.
    """
    for conflict in model.value_flow.declared_shapes:
        of_value_info = model.value_flow.clause_of(conflict, "FUN-23b", "FUN-23d", "VI-6a")
        clause = "NOD-8c" if conflict.field == "output" else of_value_info
        yield from findings_of(model, conflict, clause, fix=deletion_of(conflict) or _declaration_of(conflict))


def _declaration_of(conflict: object) -> Fix | None:
    """Return the fix that declares the inferred shape of an output; None if one branch or one call alone has it."""
    if not isinstance(conflict, DeclaredShapeConflict) or conflict.branch or conflict.call is not None:
        return None
    declared, inferred = conflict.declared.shape, conflict.inferred.shape
    if conflict.graph.is_function or declared is None or inferred is None:
        return None
    shape = conflict.graph.at(conflict.field, conflict.index).at("type").at("tensor_type").at("shape")
    edits: tuple[Edit, ...]
    if len(declared) == len(inferred):
        pairs = enumerate(zip(declared, inferred, strict=True))
        edits = tuple(
            Assign(shape.at("dim", axis).at("dim_value"), size)
            for axis, (stated, size) in pairs
            if isinstance(size, int) and not agree(stated, size)
        )
    else:
        dimension = message("TensorShapeProto.Dimension")
        dims = [dimension(dim_value=size) if isinstance(size, int) else dimension() for size in inferred]
        edits = (Assign(shape, message("TensorShapeProto")(dim=dims)),)
    what = f"output {quote(conflict.subject)} of {conflict.graph.describe()}"
    return Fix(f"declare {what} with the shape that follows from its node", edits, is_safe=False) if edits else None
