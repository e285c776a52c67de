# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.model.fit import describe_schema, missing_attributes, other_version, version_hint
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="NOD-7", since="0.1.0")
def missing_operator_attribute(model: Model) -> Iterator[Finding]:
    """A node lacks an attribute that its operator requires.

    ### Why it matters

    The operator is not defined without it, and there is no default to fall back on.

    ### What is allowed

    Every attribute that the signature at the imported version calls required is there. In a function body an
    attribute that refers to a parameter of the function counts as given; whether the calls give the parameter a
    value is for `unbound-required-attribute`.

    ### Example

    ```
    node { op_type: "Cast" input: "x" output: "y" }
    ```
    """
    for usage in model.signatures.verified_usages:
        schema = usage.operator.schema
        assert schema is not None
        missing = missing_attributes(schema, usage)
        other = other_version(model.signatures.schemas, schema, usage) if missing else ""
        for name in missing:
            for node in usage.nodes:
                hint = version_hint(other, usage, node)
                yield Finding(
                    node.place,
                    f"{node.describe()} has no attribute {quote(name)}, {describe_schema(schema)} requires it{hint}",
                    allowed=f"a value of type {schema.attributes[name].type}",
                    subject=name,
                )
