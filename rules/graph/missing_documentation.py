# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import AttributeKind, Model
from onnx_lint.rule import Finding, rule


@rule(clause=("GRA-6", "ATT-10"), since="0.1.0", needs="graph")
def missing_documentation(model: Model) -> Iterator[Finding]:
    """A graph or an attribute has no documentation string.

    ### How to fix

    Say in `doc_string` what the graph and its attributes are for; `onnx.helper.make_graph(..., doc_string=...)` sets
    it.

    ### Example

    ```
    graph { name: "g" }
    ```

    Corrected:

    ```
    graph { name: "g" doc_string: "Cuts negative values off." }
    ```

    ### Why it matters

    The specification asks for documentation, so that whoever gets the file knows what the model is for.

    ### Details

    A non-empty `doc_string` in each graph and each attribute. Hardly any model has them, so this is reported only
    with `--pedantic` or if the rule is selected: once for each graph, and once for all attributes together.
    Functions need none.
    """
    for graph in model.graphs:
        if not graph.is_function and not graph.proto.doc_string:
            yield Finding(
                graph.place,
                f"{graph.describe()} has no documentation string",
                clause="GRA-6",
                allowed="a doc_string",
                subject=graph.name,
            )
    first = next(model.attributes(_is_undocumented), None)
    if first is not None:
        others = model.attribute_index.count(_is_undocumented) - 1
        also = f"; {others:,} more {'attribute has' if others == 1 else 'attributes have'} none" if others else ""
        yield Finding(
            first.place,
            f"{first.describe()} has no documentation string{also}",
            clause="ATT-10",
            allowed="a doc_string",
            collective=True,
        )


def _is_undocumented(kind: AttributeKind) -> bool:
    return not kind.is_documented
