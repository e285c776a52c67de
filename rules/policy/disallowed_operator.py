# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from onnx_lint.model import AlikeNodes, Model, OperatorStatus
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote_some


@rule(clause="POL-1", since="0.2.0", needs="node")
def disallowed_operator(
    model: Model, *, allow: tuple[str, ...] = (), forbid: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """A node has an operator that the policy does not allow.

    ### How to fix

    Export the model without the operator, or change the configuration.

    ### Example

    ```
    # option: disallowed-operator.forbid = ["Loop", "Random*"]
    node { op_type: "RandomNormalLike" input: "x" output: "y" }
    ```

    Corrected:

    ```
    # option: disallowed-operator.forbid = ["Loop", "Random*"]
    node { op_type: "Neg" input: "x" output: "y" }
    ```

    ### Why it matters

    Your configuration lists the operators that models may use, for example those of a runtime.

    ### Details

    - An operator must match a pattern of the option `allow`, if there are any, and must match no pattern of `forbid`.
    - The table `policy.operators` of the configuration sets both options.
    - Write an operator of another domain with its domain, for example `com.microsoft::Gelu`. For `ai.onnx` the domain
      is optional: `ai.onnx::*` matches its operators.
    - `*` matches any characters.
    - Calls of model-local functions are not checked, but the nodes in these functions are.
    """
    used: dict[str, list[AlikeNodes]] = {}
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        if operator.status is not OperatorStatus.FUNCTION and operator.op_type:
            name = f"{operator.domain}::{operator.op_type}" if operator.domain else operator.op_type
            used.setdefault(name, []).append(alike)
    for name, groups in used.items():
        if forbidden := any(_matches(name, pattern) for pattern in forbid):
            anchor, allowed = "operators.forbid", f"no operator that matches {quote_some(forbid, 5)}"
        elif allow and not any(_matches(name, pattern) for pattern in allow):
            anchor, allowed = "operators.allow", f"an operator that matches {quote_some(allow, 5)}"
        else:
            continue
        first, *others = [node for group in groups for node, _ in zip(group.nodes, range(4), strict=False)]
        count = sum(group.count for group in groups)
        more = f"; {count:,} nodes have it" if count > 1 else ""
        yield Finding(
            first.place,
            f"{first.describe()} has an operator that the policy {'forbids' if forbidden else 'does not allow'}{more}",
            allowed=allowed,
            related=tuple(Related(node.place, f"so has {node.describe()}") for node in others[:3]),
            subject=name,
            collective=True,
            count=count,
            anchor=anchor,
        )


def _matches(name: str, pattern: str) -> bool:
    """Return whether a pattern matches an operator. One of ai.onnx, whose name has no domain, may be written with it.

    `*::*` matches the operators of the other domains alone.
    """
    own = pattern.removeprefix("ai.onnx::")
    return fnmatchcase(name, pattern) or (own != pattern and "::" not in name and fnmatchcase(name, own))
