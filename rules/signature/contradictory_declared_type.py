# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_type_conflicts
from onnx_lint.rule import Finding, conversions_apart, deletion_of, findings_of, rule


@rule(clause=("NOD-8", "VI-6", "FUN-23a", "FUN-23c"), since="0.1.0", about=has_type_conflicts, needs="node")
def contradictory_declared_type(model: Model) -> Iterator[Finding]:
    """The declared type of a value is not the one that its node produces.

    ### How to fix

    Declare the type that follows from the operator, or give the operator what makes the declared one: behind a Cast
    the `to` may be what is wrong. A tool that changes the precision of a model has to change both. `onnx-lint fix`
    (safe) deletes the entry if it is in `value_info`.

    - onnxconverter-common: `float16.convert_float_to_float16` leaves the `to` of a Cast at FLOAT and declares FLOAT16
      behind it; with `op_block_list=[*float16.DEFAULT_OP_BLOCK_LIST, "Cast"]` it converts what comes out of the Cast.

    ### Example

    ```
    node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" i: 10 type: INT } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    Corrected:

    ```
    node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" i: 10 type: INT } }
    output { name: "y" type { tensor_type { elem_type: 10 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    A consumer that believes the declaration allocates and casts for a type that never comes; one that derives the type
    itself refuses the model. Converters leave such declarations behind when they change the types of nodes.

    ### Details

    For outputs of graphs and for `value_info`: the kind of type and the element type that follow from the signature of
    the node's operator, its attributes and the types of its inputs. Where these do not decide the type, as after an
    unknown operator: any type that the signature has for the output. A Relu never produces a sequence. If the operator
    itself is unknown, any declaration is right.

    A function may be called with several types, but its `value_info`, which may name inputs and outputs too, can
    declare only one. It is right if it fits every call, gets a warning if it fits only some, and is wrong if it fits
    none of them, or if no call could fit.

    Shapes are reported by `contradictory-declared-shape`, two declarations of one value by
    `contradictory-value-info`, an optional type and the type in it by `unconverted-optional`.
    """
    for conflict in conversions_apart(model, model.value_flow.declarations):
        of_value_info = model.value_flow.clause_of(conflict, "FUN-23a", "FUN-23c", "VI-6")
        clause = "NOD-8" if conflict.field == "output" else of_value_info
        yield from findings_of(model, conflict, clause, fix=deletion_of(conflict))
