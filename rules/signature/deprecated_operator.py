# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.mismatch import describe_imports
from onnx_lint.model import Model, OperatorSchema, has_misused_operators
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators.history import REPLACEMENTS, Replacement


@rule(clause="OPR-3", since="0.1.0", about=has_misused_operators, needs="node")
def deprecated_operator(model: Model) -> Iterator[Finding]:
    """A node uses an operator that the imported operator set has deprecated.

    ### How to fix

    Use the replacement (here Resize), or import the last version of the operator set that still has the operator.

    ### Example

    ```
    opset_import { version: 10 }
    node { op_type: "Upsample" input: "x" input: "scales" output: "y" }
    ```

    Corrected:

    ```
    opset_import { version: 10 }
    node { op_type: "Resize" input: "x" input: "scales" output: "y" }
    ```

    ### Why it matters

    Nothing defines what the operator does at the imported version. Consumers refuse it or run its earlier definition.

    ### Details

    - In the default domain: Upsample in version 10 (use Resize), Scatter in 11 (use ScatterElements), and
      GroupNormalization of version 18 (it came back in 21 with another signature).
    - In version 5 of ai.onnx.ml: TreeEnsembleClassifier and TreeEnsembleRegressor (use TreeEnsemble).
    - The operands and attributes of a deprecated operator are not checked.
    """
    for alike in model.operators.alike_nodes:
        schema = alike.operator.schema
        if schema is None or not schema.deprecated:
            continue
        replacement = REPLACEMENTS.get((schema.domain, schema.name))
        for node in alike.nodes:
            yield Finding(
                node.place.at("op_type"),
                f"{node.describe()} uses an operator that {_domain(schema)} deprecated in version "
                f"{schema.since_version}, and {describe_imports(alike, node)}{_instead(schema, replacement)}",
                allowed=_allowed(schema, replacement),
                subject=node.op_type,
                cause=alike.operator.versioned_name,
            )


def _domain(schema: OperatorSchema) -> str:
    return f"'{schema.domain or 'ai.onnx'}'"


def _instead(schema: OperatorSchema, replacement: Replacement | None) -> str:
    if replacement is None:
        return ""
    if replacement.op_type == schema.name:
        return f"; it came back in version {replacement.since_version}"
    return f"; {replacement.op_type} took its place"


def _allowed(schema: OperatorSchema, replacement: Replacement | None) -> str | None:
    if replacement is None:
        return None
    return f"{replacement.op_type} as of version {replacement.since_version} of {_domain(schema)}"
