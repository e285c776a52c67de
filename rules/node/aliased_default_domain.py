# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnx_lint.model import Model, Node, has_aliased_domains
from onnx_lint.rule import Faults, Finding, rule
from onnx_lint.spec.releases import DOMAIN_ALIAS


@rule(clause=("NOD-3a", "NOD-3b"), since="0.2.0", about=has_aliased_domains, needs="node")
def aliased_default_domain(model: Model) -> Iterator[Finding]:
    """A node names the default domain 'ai.onnx' instead of the empty string.

    ### How to fix

    Leave the domain of the node empty, and that of its import.

    ### Example

    ```
    node { op_type: "Relu" domain: "ai.onnx" input: "x" output: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    ```

    ### Why it matters

    onnx.checker looks for an import and operators of 'ai.onnx', finds none, and refuses the model. ONNX Runtime accepts
    both names in the main graph, but refuses a subgraph or function with such a node.

    ### Details

    - The specification prefers neither name, and onnx-lint reads them as one domain.
    - The node is therefore reported only with `--target` or `--pedantic`.
    - A graph or function body has one finding, at its first such node.
    """
    for graph in model.graphs:
        forms = {form for form in graph.form_counts if form.domain == DOMAIN_ALIAS}
        if forms:
            is_called = graph.function is None or graph.function.index in model.calls.called
            yield _finding(graph.nodes_of(forms), None if is_called else "uncalled")


def _finding(nodes: Sequence[Node], case: str | None) -> Finding:
    first = nodes[0]
    occurrences = f" ({len(nodes):,} occurrences)" if len(nodes) > 1 else ""
    return Finding(
        first.place.at("domain"),
        f"{first.describe()} names the default domain '{DOMAIN_ALIAS}'{occurrences}",
        clause="NOD-3a" if first.graph.function is None else "NOD-3b",
        allowed="the empty domain",
        subject=first.name or None,
        collective=True,
        case=case,
        parts=Faults(nodes, partial(_finding, case=case), lambda node: (node.place.at("domain"), node.name or None)),
    )
