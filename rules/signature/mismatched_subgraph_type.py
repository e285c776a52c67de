# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.model.typing.wording import describe_subgraph, site_notes, subgraph_place
from onnx_lint.rule import Finding, Related, rule


@rule(clause="NOD-8", since="0.1.0")
def mismatched_subgraph_type(model: Model) -> Iterator[Finding]:
    """An input or output of a subgraph is of another type than its control-flow operator needs there.

    ### Why it matters

    The operator hands values to the subgraph and takes values from it. With types that do not agree it has none that
    it could hand on, and consumers refuse the model.

    ### What is allowed

    | Operator | What agrees |
    |---|---|
    | If | the outputs of the two branches, each with its counterpart |
    | Loop | iteration number tensor(int64), condition tensor(bool) going in and coming out, carried values in and out |
    | Scan | each input with what is supplied, the state going in and coming out |
    | SequenceMap | each input with the tensor, or the element of the sequence, that is supplied |

    An input of a subgraph need not be declared, and what is not known agrees with everything. Only kinds of types and
    element types are looked at. A value that a Loop carries may begin as an optional type and go on as the type in it,
    as a test case of ONNX does. Numbers of inputs and outputs are for `mismatched-subgraph-signature`.

    ### Example

    ```
    node { op_type: "If" input: "c" output: "y"
      attribute { name: "then_branch" type: GRAPH g { output { name: "t" type { tensor_type { elem_type: 1 } } } ... } }
      attribute { name: "else_branch" type: GRAPH g { output { name: "e" type { tensor_type { elem_type: 7 } } } ... } }
    }
    ```
    """
    has_conversions = model.standard.at_least("1.16")
    for conflict in model.type_flow.subgraphs:
        if has_conversions and conflict.lacks_conversion:
            continue
        yield Finding(
            subgraph_place(conflict),
            describe_subgraph(conflict),
            related=tuple(
                Related(*note) for note in [(conflict.node.place, conflict.node.describe()), *site_notes(conflict.site)]
            ),
            allowed=conflict.expected,
            subject=conflict.node.name or None,
        )
