# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import DOMAIN_ALIAS, Model, has_aliased_domains
from onnx_lint.rule import Finding, rule


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
            node = graph.nodes_of(forms)[0]
            count = sum(graph.form_counts[form] for form in forms)
            occurrences = f" ({count:,} occurrences)" if count > 1 else ""
            yield Finding(
                node.place.at("domain"),
                f"{node.describe()} names the default domain '{DOMAIN_ALIAS}'{occurrences}",
                clause="NOD-3a" if graph.function is None else "NOD-3b",
                allowed="the empty domain",
                subject=node.name or None,
                collective=True,
            )
