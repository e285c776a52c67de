# SPDX-License-Identifier: Apache-2.0
"""The index of declarations finds the same contradictions as comparing all pairs."""

from __future__ import annotations

import itertools
import random

from google.protobuf import text_format
from support.models.type_texts import SHAPELESS, optional, sequence, tensor
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.engine.registry import registry
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.declarations import contradict
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.rule import Finding


def _model(text: str) -> Model:
    proto = text_format.Parse(f"graph {{ {text} }}", schema.message("ModelProto")())
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


_DIMENSIONS = ("N", "M", 2, 3, None)


_LISTS = ("input", "initializer", "sparse_initializer", "output", "value_info")


def _declared_again_and_again(rng: random.Random) -> Model:
    """A graph that declares the values `a` and `b` in all of its lists, up to twelve times, and one nested in it."""
    graphs = []
    for _ in range(2):
        entries = []
        for _ in range(rng.randrange(2, 13)):
            name, field = rng.choice("ab"), rng.choice(_LISTS)
            dimensions = [rng.choice(_DIMENSIONS) for _ in range(rng.choice((1, 2, 2, 2)))]
            element = rng.choice((1, 1, 1, 7))
            if field in ("input", "output", "value_info"):
                kind = tensor(element, *dimensions)
                kind = rng.choice((kind, kind, kind, kind, sequence(kind), optional(SHAPELESS), SHAPELESS, ""))
                entries.append(f'{field} {{ name: "{name}" type {{ {kind} }} }}')
                continue
            sizes = [size for size in dimensions if isinstance(size, int)]
            if field == "initializer":
                entries.append(f'initializer {{ name: "{name}" data_type: {element} dims: {sizes} }}')
            else:
                values = f'values {{ name: "{name}" data_type: {element} dims: 1 }}'
                entries.append(f"sparse_initializer {{ {values} dims: {sizes} }}")
        graphs.append(" ".join(entries))
    outer, inner = graphs
    return _model(
        f'{outer} node {{ op_type: "If" attribute {{ name: "then_branch" type: GRAPH g {{ {inner} }} }} '
        f'attribute {{ name: "else_branch" type: GRAPH g {{ {inner} }} }} }}'
    )


@each_case("seed", range(200), one_in=4)
def test_what_is_found_is_what_comparing_each_with_each_finds(seed: int):
    """The rules keep only the first two different declarations; this test loops over all pairs instead.

    Outputs that contradict each other are left to `duplicate-graph-output`.
    """
    model = _declared_again_and_again(random.Random(seed))
    contradicted: list[object] = []
    variables: list[tuple[str, object]] = []
    sizes: dict[tuple[object, str], int] = {}
    for graph, repeated in model.repeated_declarations.items():
        for declarations in repeated:
            outputs = [each.statements for each in declarations if each.field == "output"]
            disagree = any(contradict(*pair) for pair in itertools.combinations(outputs, 2))
            for index, declaration in enumerate(declarations):
                others = (
                    other
                    for other in declarations[:index]
                    if other.field != declaration.field
                    and not (disagree and "output" in (other.field, declaration.field))
                    and contradict(other.statements, declaration.statements)
                )
                other = next(others, None)
                if declaration.field in ("output", "value_info") and other is not None:
                    contradicted.append((declaration.place, other.place))
            for declaration, source in itertools.permutations(declarations, 2):
                dimensions, known = declaration.dimensions or [], source.dimensions or []
                for axis, (variable, size) in enumerate(zip(dimensions, known, strict=False)):
                    if len(dimensions) != len(known) or not isinstance(variable, str) or not isinstance(size, int):
                        continue
                    scopes = [graph, *(outer for outer, _ in graph.scopes())]
                    first = next((sizes[scope, variable] for scope in scopes if (scope, variable) in sizes), size)
                    sizes.setdefault((graph, variable), first)
                    if first != size and variable not in (name for name, _ in variables):
                        shape = declaration.place.at("type").at(str(declaration.kind)).at("shape")
                        variables.append((variable, shape.at("dim", axis).at("dim_param")))
    found = _findings("contradictory-value-info", model)
    assert [(finding.place, finding.related[0].place) for finding in found] == contradicted
    found = _findings("contradictory-dimension-variable", model)
    assert [(finding.subject, finding.place) for finding in found] == variables


def _findings(rule: str, model: Model) -> list[Finding]:
    return list(registry()[rule].rule.check(model))
