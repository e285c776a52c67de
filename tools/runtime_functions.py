# SPDX-License-Identifier: Apache-2.0
"""Asks a release of ONNX Runtime which operators with a function it cannot run, and for which types.

If a release has no kernel for an operator, it runs the function that defines it, and the nodes of the function may lack
kernels. Which function depends on the version of the operator set that the model imports. So the release loads a model
with one node for each version and all types.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping

from onnx_lint.spec.operators import OperatorSchema
from tools.compare_target import LACKS, reasons
from tools.single_nodes import Types, combinations, definitions, forms, single_node, versions

Box = dict[str, list[str]]
"""Types by type variable, each of which goes with each of the others. A variable that may have any type is left out."""

_OWN_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")


def runtime_functions(python: str, opsets: Mapping[str, int]) -> Iterator[tuple[str, str, int, int, Box]]:
    """Yield what a release refuses: domain, name, first and last version of the operator set, and types.

    A node is refused if it is with the least operands, with all of them, and with each value of an attribute. So what
    is refused only with some attribute is not listed.
    """
    own = _own_functions(python)
    nodes = [
        (operator, version, types)
        for operator in definitions()
        if operator.has_function_body or operator in own
        for version in versions(operator)
        if version <= opsets.get(operator.domain, 1)
        for types in combinations(operator)
    ]
    answers = [[reason] for reason in reasons(python, "onnxruntime", [single_node(*node) for node in nodes])]
    again = [(index, form) for index, (reason,) in enumerate(answers) if reason for form in forms(nodes[index][0])]
    more = reasons(python, "onnxruntime", [single_node(*nodes[index], **form) for index, form in again])
    for (index, _), reason in zip(again, more, strict=True):
        answers[index].append(reason)
    for operator, group in itertools.groupby(zip(nodes, answers, strict=True), key=lambda each: each[0][0]):
        refused: dict[int, list[Types]] = {}
        for (_, version, types), found in group:
            of_version = refused.setdefault(version, [])
            if all(found) and any(reason and LACKS.search(reason) for reason in found):
                of_version.append(types)
        starts = [version for version in refused if refused[version] != refused.get(version - 1)]
        for first, after in zip(starts, [*starts[1:], versions(operator)[-1] + 1], strict=True):
            for box in _boxes(operator, refused[first]):
                yield operator.domain, operator.name, first, after - 1, box


def _own_functions(python: str) -> list[OperatorSchema]:
    """Return the operators of the product that have a function, which the product does not say.

    It shows in a refusal: the release misses another operator, which is one of the function.
    """
    models = [
        (operator, single_node(operator, 1, {operator.inputs[0].type: kind}))
        for operator in definitions()
        if operator.domain in _OWN_DOMAINS and operator.inputs
        for kind in sorted(operator.inputs[0].types)
    ]
    found = []
    for (operator, _), reason in zip(
        models, reasons(python, "onnxruntime", [model for _, model in models]), strict=True
    ):
        missed = re.search(r"(?:implementation|kernel) for (?:[\w.]*\.)?(\w+)\(", reason or "")
        if missed is not None and missed[1] != operator.name and operator not in found:
            found.append(operator)
    return found


def _boxes(operator: OperatorSchema, refused: Iterable[Types]) -> Iterator[Box]:
    all_types = {each.variable: each.types for each in (*operator.inputs, *operator.outputs)}
    variables = [*next(iter(refused), {})]
    for box in _products({tuple(types.values()) for types in refused}):
        named = zip(variables, box, strict=True)
        yield {name: kinds for name, kinds in named if len(kinds) < len(all_types[name])}


def _products(rows: set[tuple[str, ...]]) -> Iterator[list[list[str]]]:
    """Yield lists of types whose products are the rows."""
    if rows == {()}:
        yield []
        return
    firsts: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for kind in sorted({row[0] for row in rows}):
        firsts.setdefault(frozenset(row[1:] for row in rows if row[0] == kind), []).append(kind)
    for others, kinds in firsts.items():
        yield from ([kinds, *box] for box in _products(set(others)))
