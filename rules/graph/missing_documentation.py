# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import Attribute, AttributeKind, Model, Place
from onnx_lint.rule import Faults, Finding, rule


@rule(clause=("GRA-6", "ATT-10"), since="0.1.0", needs="attribute")
def missing_documentation(model: Model) -> Iterator[Finding]:
    """A graph or an attribute has no documentation string.

    ### How to fix

    Describe in `doc_string` the purpose of the graph and its attributes; `onnx.helper.make_graph(..., doc_string=...)`
    sets it.

    ### Example

    ```
    graph { name: "g" }
    ```

    Corrected:

    ```
    graph { name: "g" doc_string: "Cuts negative values off." }
    ```

    ### Why it matters

    The specification asks for documentation. Without it, users of the file do not know what the model is for.

    ### Details

    - Each graph and each attribute needs a `doc_string` that is not empty. Functions need none.
    - Hardly any model has them: the rule needs `--pedantic` or a selection.
    - There is one finding for each graph, and one for all attributes together.
    """
    for graph in model.graphs:
        if not (graph.is_function or graph.is_file) and not graph.proto.doc_string:
            yield Finding(
                graph.place,
                f"{graph.describe()} has no documentation string",
                clause="GRA-6",
                allowed="a doc_string",
                subject=graph.name,
            )
    first = next(model.attributes(_is_undocumented), None)
    if first is not None:
        count = model.attribute_index.count(_is_undocumented)
        yield _finding(first, count, Faults(lambda: [*model.attributes(_is_undocumented)], _of_some, _part))


def _of_some(attributes: Sequence[Attribute]) -> Finding:
    return _finding(attributes[0], len(attributes), Faults(attributes, _of_some, _part))


def _part(attribute: Attribute) -> tuple[Place, str | None]:
    return attribute.place, attribute.proto.name or None


def _finding(first: Attribute, count: int, faults: Faults) -> Finding:
    others = count - 1
    also = f"; {others:,} more {'attribute has' if others == 1 else 'attributes have'} none" if others else ""
    return Finding(
        first.place,
        f"{first.describe()} has no documentation string{also}",
        clause="ATT-10",
        allowed="a doc_string",
        collective=True,
        parts=faults,
    )


def _is_undocumented(kind: AttributeKind) -> bool:
    return not kind.is_documented
