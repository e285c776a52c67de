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

    The configuration says which operators models may use, for example those that a runtime has.

    ### Details

    Operators that a pattern of the option `allow` matches, if there are any, and that none of `forbid` matches. The
    table `policy.operators` of the configuration sets both. An operator of another domain than ai.onnx is written with
    its domain, such as `com.microsoft::Gelu`, and one of ai.onnx may be, such as `ai.onnx::*`; `*` matches any
    characters. Calls of functions of the model are not checked, but the nodes of these functions are.
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
