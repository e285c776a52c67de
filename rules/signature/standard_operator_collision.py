# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ML_DOMAIN, TRAINING_DOMAIN, Function, Model, Node, is_onnx_domain, normalized_domain
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.spec.releases import DEFAULT_DOMAIN
from onnx_lint.wording import quote


@rule(clause=("FUN-24", "FUN-24a"), since="0.1.0", about=Model.functions)
def standard_operator_collision(model: Model) -> Iterator[Finding]:
    """A function has the domain and name of a standard operator, or is called in a domain that has only those.

    ### How to fix

    Move the function and its calls to your own domain.

    ### Example

    ```
    functions { name: "Relu" domain: "ai.onnx" input: "x" output: "y" node { op_type: "Abs" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    functions { name: "Relu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Abs" input: "x" output: "y" } }
    ```

    ### Why it matters

    The consumer decides which of the two a node means: one inlines the function, another runs its own operator. If the
    two differ, the results differ.

    ### Details

    - Functions in your own domains may have any name.
    - Functions in ONNX's domains may have a name that no version of the operator set has: no sentence forbids it.
    - In the default domain, `ai.onnx.ml` and `ai.onnx.training`, a call of such a function is reported at the function,
      and also a call under a name that only a later version has.
    - onnx-lint checks a node of such a name as a call of the function.
    - onnx.checker and ONNX Runtime accept both definitions. For a name that the imported operator set does not have,
      they look only for an operator and refuse the call.
    """
    published = set(filter(is_onnx_domain, {function.domain for function in model.functions}))
    if not published:
        return
    called = {function.index: node for node, function in reversed(list(model.calls.all))}
    for function in [each for each in model.functions if each.domain in published]:
        domain = normalized_domain(function.domain)
        versions = model.operators.schemas.versions(domain, function.name)
        call = called.get(function.index)
        imported = model.imports.versions(call.graph.function).get(domain) if call is not None else None
        if versions and (imported is None or versions[0] <= imported or not _is_refused(function)):
            yield _collision(function, domain or "ai.onnx", versions[0])
        elif _is_refused(function) and call is not None:
            yield _refused_call(function, domain or "ai.onnx", call, f" in version {imported}" if versions else "")


def _collision(function: Function, domain: str, first: int) -> Finding:
    return Finding(
        function.place.at("name"),
        f"{function.body.describe()} has the name of an operator that {quote(domain)} has since version {first}",
        allowed="a domain that ONNX does not publish, or another name",
        clause="FUN-24",
        subject=function.qualified_name,
    )


def _refused_call(function: Function, domain: str, call: Node, version: str) -> Finding:
    return Finding(
        function.place.at("domain") if function.domain else function.place.at("name"),
        f"{function.body.describe()} is called in {quote(domain)}, which has no operator of that name{version}",
        allowed="a domain that ONNX does not publish",
        clause="FUN-24a",
        related=(Related(call.place, f"called by {call.describe()}"),),
        subject=function.qualified_name,
    )


def _is_refused(function: Function) -> bool:
    """Whether `onnx.checker` looks for every name in the function's domain among operators.

    A function that states no domain has a finding of its own.
    """
    domain = normalized_domain(function.domain)
    return function.proto.HasField("domain") and domain in (DEFAULT_DOMAIN, ML_DOMAIN, TRAINING_DOMAIN)
