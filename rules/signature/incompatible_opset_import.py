# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from onnx_lint.ir.operators.imports import highest_versions
from onnx_lint.model import Function, Model, Node, OperatorSchema, Proto
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import counted, quote


@rule(clause=("FUN-14", "FUN-14a"), since="0.1.0", about=Model.functions)
def incompatible_opset_import(model: Model) -> Iterator[Finding]:
    """The imports of a function select another version of an operator than the imports of the model.

    ### How to fix

    Write the function for the version that the model imports, and import that version in the function. If a tool adds
    functions to a model, it must convert them first.

    ### Example

    ```
    opset_import { version: 21 }
    opset_import { domain: "com.example" version: 1 }
    functions { name: "F" domain: "com.example" opset_import { version: 12 } input: "x" output: "y"
                node { op_type: "Softmax" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    opset_import { version: 21 }
    opset_import { domain: "com.example" version: 1 }
    functions { name: "F" domain: "com.example" opset_import { version: 21 } input: "x" output: "y"
                node { op_type: "Softmax" input: "x" output: "y" } }
    ```

    ### Why it matters

    A consumer that inlines the body has one version of each operator for the whole graph. It reads the nodes of the
    body as another version than they were written for.

    ### Details

    - A function may import another version than the model if each operator that its body uses is the same in both.
    - An operator that only the function's version has is reported.
    - If the model does not import the domain, the first function that imports it is compared instead.
    - There is one finding for each function and domain.
    - The onnx package refuses such models.
    - Reported by another rule: an operator that the function's version does not have (`unknown-operator`).
    """
    reference = dict(model.operators.opset_versions(model.main_graph))
    for entries in model.imports.distinct:
        for domain, version in highest_versions(entries).items():
            reference.setdefault(domain, version)
    operators: dict[tuple[int, str], dict[str, Node]] = {}
    for importer in model.imports.where(lambda entries: _differs(entries, reference)):
        function = importer.function
        if function is None:
            continue
        operators = operators or _operators(model)
        for domain, version in highest_versions(importer.entries).items():
            if reference[domain] != version:
                used = operators.get((function.index, domain), {})
                yield from _findings(model, function, domain, used, (version, reference[domain]))


def _differs(entries: Sequence[Proto], reference: Mapping[str, int]) -> bool:
    return any(reference[domain] != version for domain, version in highest_versions(entries).items())


def _operators(model: Model) -> dict[tuple[int, str], dict[str, Node]]:
    """Return for each function and domain the operators that are no functions, each with its first node."""
    found: dict[tuple[int, str], dict[str, Node]] = {}
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        if operator.function is not None:
            continue
        for graph, forms in alike.forms.items():
            if graph.function is not None:
                used = found.setdefault((graph.function.index, operator.domain), {})
                if operator.op_type not in used:
                    used[operator.op_type] = graph.nodes_of(forms)[0]
    return found


def _findings(
    model: Model, function: Function, domain: str, used: Mapping[str, Node], versions: tuple[int, int]
) -> Iterator[Finding]:
    differing: dict[str, tuple[OperatorSchema, OperatorSchema | None]] = {}
    first = None
    for op_type, node in used.items():
        mine, theirs = (model.operators.schemas.find(domain, op_type, version) for version in versions)
        if mine is not None and (theirs is None or mine.since_version != theirs.since_version):
            differing[op_type] = mine, theirs
            first = first or node
    if first is None:
        return
    mine, theirs = differing[first.op_type]
    more = len(differing) - 1
    others = f" (and {counted(more, 'more operator')})" if more else ""
    name = quote(domain or "ai.onnx")
    # The words for a node without a name say where it is.
    within = f" in {function.body.describe()}" if first.name else ""
    other = (
        f"has version {theirs.since_version} of the operator" if theirs is not None else "does not have the operator"
    )
    yield Finding(
        first.place.at("op_type"),
        f"{first.describe()}{others}{within} is of version {mine.since_version}, as the function "
        f"imports {name} {versions[0]}; but {name} {versions[1]}, imported elsewhere, {other}",
        related=(Related(function.place, f"{function.body.describe()} imports {name} {versions[0]}"),),
        clause="FUN-14" if theirs is not None else "FUN-14a",
        allowed="imports that lead to the same version of each operator",
        subject=function.qualified_name,
    )
