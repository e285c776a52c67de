# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain, islice

from onnx_lint.model import ROOT, AlikeNodes, Model, Node, OperatorStatus
from onnx_lint.rule import Faults, Finding, Related, replace, rule
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
        what = f"has an operator that the policy {'forbids' if forbidden else 'does not allow'}"
        whole = Finding(ROOT, what, allowed=allowed, subject=name, collective=True, anchor=anchor)
        yield _of_groups(whole, groups)


def _of_groups(whole: Finding, groups: Sequence[AlikeNodes]) -> Finding:
    """Return the finding on all nodes of an operator, of which few are looked at."""
    shown = list(islice(chain.from_iterable(group.nodes for group in groups), 4))
    count = sum(group.count for group in groups)
    return _finding(whole, shown, count, lambda: [node for group in groups for node in group.nodes])


def _of_nodes(whole: Finding, nodes: Sequence[Node]) -> Finding:
    return _finding(whole, nodes[:4], len(nodes), nodes)


def _finding(
    whole: Finding, shown: Sequence[Node], count: int, nodes: Sequence[Node] | Callable[[], Sequence[Node]]
) -> Finding:
    """Return the finding with the place, the message and the parts. `whole`: has what is wrong as its message."""
    first, *others = shown
    more = f"; {count:,} nodes have it" if count > 1 else ""
    return replace(
        whole,
        place=first.place,
        message=f"{first.describe()} {whole.message}{more}",
        related=tuple(Related(node.place, f"so has {node.describe()}") for node in others),
        count=count,
        parts=Faults(nodes, partial(_of_nodes, whole), lambda node: (node.place, whole.subject), is_one_fault=False),
    )


def _matches(name: str, pattern: str) -> bool:
    """Return whether a pattern matches an operator. One of ai.onnx, whose name has no domain, may be written with it.

    `*::*` matches the operators of the other domains alone.
    """
    own = pattern.removeprefix("ai.onnx::")
    return fnmatchcase(name, pattern) or (own != pattern and "::" not in name and fnmatchcase(name, own))
