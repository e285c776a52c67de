# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from functools import partial

from onnx_lint.model import Model, Node, Place, is_onnx_domain, normalized_domain
from onnx_lint.rule import Faults, Finding, Related, rule
from onnx_lint.wording import Suggestions, counted, quote, quote_some

RUNTIME_DOMAINS = ("ai.onnx", "ai.onnxruntime", "com.microsoft", "com.ms", "org.pytorch.aten")
"""Domains, with those below them, in which a runtime has operators of its own beside which functions may stand."""


@rule(clause="OPR-1a", since="0.1.0", about=Model.functions)
def unknown_function(model: Model) -> Iterator[Finding]:
    """A node calls a function that the model does not have, in a domain in which the model has functions.

    ### How to fix

    - Add the function to the model, or call one that the model has.
    - If a tool cut or merged the model, let it copy the functions as well.

    ### Example

    ```
    node { op_type: "Gelu" domain: "com.example" input: "x" output: "y" }
    functions { name: "FastGelu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    node { op_type: "FastGelu" domain: "com.example" input: "x" output: "y" }
    functions { name: "FastGelu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    ### Why it matters

    Exporters write the functions that they need into their own domains. If a tool drops one, or an op_type is
    misspelt, the call has no body. Consumers then refuse the model because the operator is not registered.

    ### Details

    - In a domain in which the model has functions, each node should call one of them.
    - If all overloads of a function have names, a call must name one.
    - The finding is a warning: the specification allows a domain that has both functions of the model and operators
      that only a consumer knows.
    - The domains of ONNX and of known runtimes (for example `com.microsoft`) are not checked, because this mixture is
      usual there.
    - A domain without functions is not checked.
    """
    functions: dict[str, dict[str, None]] = {}
    domains = {domain for domain in {function.domain for function in model.functions} if not _is_mixed(domain)}
    for function in model.functions:
        if function.domain in domains:
            functions.setdefault(function.domain, {})[function.name] = None
    in_domains = [form for form in model.forms if form.domain in functions]
    if all(model.calls.function_of(form) is not None for form in in_domains):
        return
    suggestions = Suggestions()
    for (domain, _), nodes in _unknown_calls(model, functions).items():
        yield _finding(functions[domain], model, suggestions, nodes)


def _unknown_calls(model: Model, domains: Container[str]) -> dict[tuple[str, str], list[Node]]:
    """Return the nodes in these domains that no function defines, by domain and operator."""
    found: dict[tuple[str, str], list[Node]] = {}
    for node in model.nodes():
        # A node that names an overload is for `unresolved-overload`, one without op_type for `missing-op-type`.
        if node.domain not in domains or not node.op_type or (node.overload and model.calls.has_overloads):
            continue
        if model.calls.function_of(node) is None:
            found.setdefault((node.domain, node.op_type), []).append(node)
    return found


def _is_mixed(domain: str) -> bool:
    """Return true if the domain commonly has both functions of the model and operators that a consumer knows."""
    if is_onnx_domain(domain) or not normalized_domain(domain):
        return True
    return any(domain == known or domain.startswith(f"{known}.") for known in RUNTIME_DOMAINS)


def _finding(names: Collection[str], model: Model, suggestions: Suggestions, nodes: Sequence[Node]) -> Finding:
    first, *others = nodes
    more = f" (and {counted(len(others), 'more node')})" if others else ""
    return Finding(
        first.place.at("op_type"),
        f"{first.describe()}{more} calls {_what(first, names, model, suggestions)}",
        related=tuple(Related(node.place, f"{node.describe()} calls it too") for node in others[:3]),
        allowed=_allowed(first, names, model),
        subject=first.op_type,
        collective=True,
        parts=Faults(nodes, partial(_finding, names, model, suggestions), _part),
    )


def _part(node: Node) -> tuple[Place, str | None]:
    return node.place.at("op_type"), node.op_type


def _allowed(node: Node, names: Collection[str], model: Model) -> str:
    overloads = [function.overload for function in model.calls.namesakes(node)]
    if overloads:
        return f"an overload of {quote(node.op_type)}: {quote_some(overloads, 10)}"
    return f"a function of the domain: {quote_some(names, 10)}"


def _what(node: Node, names: Collection[str], model: Model, suggestions: Suggestions) -> str:
    overloads = [function.overload for function in model.calls.namesakes(node)]
    if overloads:
        return f"{quote(node.op_type)} without an overload; the model has it as {quote_some(overloads, 10)} only"
    count = f"{len(names):,} functions" if len(names) > 1 else "1 function"
    return (
        f"{quote(node.op_type)}, which is not a function of the model; "
        f"the model has {count} of domain {quote(node.domain)}"
        f"{suggestions(node.op_type, names)}"
    )
