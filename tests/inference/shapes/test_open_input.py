# SPDX-License-Identifier: Apache-2.0
"""What the inputs of a node say of each other is compared where nothing is known of some of them.

Each input in turn is opened, and each pair: its sizes become variables, or its rank unknown. Each size of another input
is changed. Then there are shapes of the open inputs for which the rule accepts the node, or there are none: the node is
a problem in that case only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from itertools import combinations, islice

import numpy as np
import onnx.defs
import pytest
from shape_cases.case import Case, chosen_types
from shape_cases.comparison import argument, own_schema
from support.models.runtime_nodes import NODES
from support.models.shape_samples import SCHEMAS
from support.project.each_case import each_case

from onnx_lint.inference.shapes.dims import Dims
from onnx_lint.inference.shapes.fact import ABSENT, Fact, fact
from onnx_lint.inference.shapes.operands import AttributeValue, Operands
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.spec.operators import OperatorSchema
from tools.shape_families import operators_by_family

_KINDS = {np.dtype(np.float32): "tensor(float)", np.dtype(np.int64): "tensor(int64)"}
_RANKS = range(7)
_FACTORS = (2, 3, 4, 6)
_GREATEST = 200

_MAX_TRIED = 1_000
"""The most nodes that are tried in search of shapes that fit. If more are left, it stays open whether any fits."""

_WITHOUT_SIZES = {
    "CausalConvWithState": "a kernel of one element needs a state of none, which fits",
    "Col2Im": "an image has as many axes as a block, at least two",
    "DeformConv": "an image or a kernel for which offset and mask have the right places",
    "MatMulInteger": "the batch of a zero point broadcasts with that of the other matrix",
    "MaxUnpool": "an output shape has as many numbers as the indices have dimensions",
    "Resize": "a region has two numbers for each factor",
    "VarlenCausalConvWithState": "a kernel of one element needs a state of none, which fits",
    "TensorScatter": "an update of no elements fits any position",
}
"""The operators with contradictions that go unnoticed, and which ones."""

Node = tuple[OperatorSchema, tuple[Fact, ...], Mapping[str, AttributeValue]]


def _cases(family: str, schema: onnx.defs.OpSchema) -> tuple[Case, ...]:
    module = import_module(f"shape_cases.{family}")
    return tuple(module.cases(schema)) if hasattr(module, "cases") else ()


def _nodes_of_onnx() -> Iterator[Node]:
    schemas = [each for each in onnx.defs.get_all_schemas_with_history() if not each.deprecated]
    for family, operators in operators_by_family().items():
        names = {tuple(each.rpartition("::")[::2]) for each in operators if not each.startswith("com.microsoft::")}
        for schema in schemas if names else ():
            if (schema.domain, schema.name) not in names:
                continue
            rule = shape_rule(own_schema(schema))
            for made in _cases(family, schema):
                facts = [
                    ABSENT
                    if operand is None
                    else fact(kind, operand.shape, operand.content if rule and index in rule.reads else None)
                    for index, (operand, kind) in enumerate(zip(made.inputs, chosen_types(schema, made), strict=True))
                ]
                if not any(each.kind and each.kind.startswith(("seq", "optional")) for each in facts):
                    attributes = {name: argument(value) for name, value in made.attributes.items()}
                    yield own_schema(schema), tuple(facts), attributes


def _nodes_of_onnx_runtime() -> Iterator[Node]:
    for each in NODES:
        schema = SCHEMAS.find("com.microsoft", each.operator, 1)
        assert schema is not None
        rule = shape_rule(schema)
        facts = [
            ABSENT
            if value is None
            else fact(
                _KINDS.get(value.dtype),
                value.shape,
                tuple(value.reshape(-1).tolist()) if rule and index in rule.reads and value.ndim < 2 else None,
            )
            for index, value in enumerate(each.inputs)
        ]
        attributes = {
            name: tuple(value) if isinstance(value, list) else value for name, value in each.attributes.items()
        }
        yield schema, tuple(facts), attributes


def _outcome(node: Node, opened: Mapping[int, Fact]) -> Operands:
    schema, facts, attributes = node
    rule = shape_rule(schema)
    inputs = tuple([opened.get(index, each) for index, each in enumerate(facts)])
    made = Operands(schema, attributes, inputs, max(schema.min_output, 1))
    if rule is not None:
        made.finished(rule.infer(made))
    return made


def _is_problem(node: Node, opened: Mapping[int, Fact]) -> bool:
    return bool(_outcome(node, opened).problems)


def _changed(node: Node, opened: Collection[int], *, is_brief: bool) -> Iterator[tuple[str, Node]]:
    """The node with each size of an input that is not open changed."""
    schema, facts, attributes = node
    for index, each in enumerate(facts):
        if index in opened or each.content is not None:
            continue
        for axis, size in enumerate(each.shape or ()):
            if not isinstance(size, int):
                continue
            others = {size + 1} if is_brief else {size + 1, 2 * size, 1 if size > 1 else size + 2} - {size}
            for other in sorted(others):
                shape: Dims = (*(each.shape or ())[:axis], other, *(each.shape or ())[axis + 1 :])
                changed = (*facts[:index], fact(each.kind, shape), *facts[index + 1 :])
                label = f"{schema.name}-{schema.since_version}: {[one.shape for one in changed]} {attributes}"
                yield f"{label}, {sorted(opened)} open", (schema, changed, attributes)


def _variables(node: Node, ranks: Mapping[int, int], known: Mapping[tuple[int, int], int]) -> dict[int, Fact]:
    """The open inputs: the sizes that are known, and variables."""
    return {
        index: fact(node[1][index].kind, tuple(known.get((index, at), f"v{index}_{at}") for at in range(rank)))
        for index, rank in ranks.items()
    }


def _fits_any(node: Node, ranks: Mapping[int, int]) -> bool | None:
    """Return whether there are inputs of these ranks that fit the others, dimension by dimension; None if too many
    would have to be tried.
    """
    _, facts, attributes = node
    sizes = {dim for each in facts for dim in each.shape or () if isinstance(dim, int)}
    factors = {*_FACTORS, *(each for each in attributes.values() if isinstance(each, int) and 0 < each < _GREATEST)}
    products = {size * factor for size in sizes for factor in factors if size * factor < _GREATEST}
    tried = sorted({*range(1, 13), *sizes, *factors, *products} - {0})
    places = [(index, axis) for index, rank in ranks.items() for axis in range(rank)]
    left = _MAX_TRIED

    def fits(known: dict[tuple[int, int], int]) -> bool:
        nonlocal left
        left -= 1
        if left < 0 or _is_problem(node, _variables(node, ranks, known)):
            return False
        at = len(known)
        return at == len(places) or any(fits({**known, places[at]: size}) for size in tried)

    found = fits({})
    return None if left < 0 and not found else found


def _opened(node: Node) -> Iterator[tuple[int, ...]]:
    """Each input that can be opened alone, and each pair of them."""
    facts = node[1]
    given = [index for index, each in enumerate(facts) if each is not ABSENT]
    able = [index for index in given if facts[index].shape and facts[index].content is None]
    for count in (1, 2):
        if len(given) > count + 1 or (count == 1 and len(given) > 1):
            yield from combinations(able, count)


def _newest(nodes: Iterator[Node]) -> Iterator[tuple[Node, bool]]:
    """The nodes, and whether each is of the newest version of its operator."""
    known = list(nodes)
    versions: dict[tuple[str, str], int] = {}
    for schema, *_ in known:
        key = schema.domain, schema.name
        versions[key] = max(versions.get(key, 0), schema.since_version)
    for node in known:
        yield node, node[0].since_version == versions[node[0].domain, node[0].name]


@pytest.mark.parametrize("one_in", [16, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("nodes", [_nodes_of_onnx, _nodes_of_onnx_runtime])
def test_the_other_inputs_are_compared_with_each_other(nodes: Callable[[], Iterator[Node]], one_in: int) -> None:
    wrong: list[str] = []
    silent: list[str] = []
    counted = 0
    for node, is_newest in islice(_newest(nodes()), 0, None, one_in):
        closed = _outcome(node, {})
        if closed.problems or closed.warnings:
            continue
        for opened in _opened(node):
            is_pair = len(opened) > 1
            if is_pair and not is_newest:
                continue
            ranks = {index: len(node[1][index].shape or ()) for index in opened}
            for label, changed in _changed(node, opened, is_brief=is_pair):
                variables = _is_problem(changed, _variables(changed, ranks, {}))
                fits = True if not _is_problem(changed, {}) else _fits_any(changed, ranks)
                counted += fits is False
                if variables and fits:
                    wrong.append(label)
                if fits is False and not variables:
                    silent.append(label)
                if is_pair or opened != (0,):
                    continue
                # Also if not even the rank of the first input is known.
                unknown = _is_problem(changed, {0: fact(node[1][0].kind, None)})
                some = [fits, *(_fits_any(changed, {0: rank}) for rank in _RANKS if not fits and rank != ranks[0])]
                if unknown and True in some:
                    wrong.append(label)
                if not unknown and not any(each is not False for each in some):
                    silent.append(label)
    assert counted > 800 // one_in
    # Scales beside sizes are another finding, unless the sizes may be an empty list.
    assert [each for each in wrong if not each.startswith("Resize-11")] == []
    assert [each for each in silent if each.partition("-")[0] not in _WITHOUT_SIZES] == []


@each_case(
    ("operator", "attributes", "others", "count", "is_right"),
    [
        ("Split", {"num_outputs": 3}, (), 2, False),
        ("Split", {"num_outputs": 2}, (), 2, True),
        ("Split", {}, (("tensor(int64)", (3,), (1, 1, 1)),), 2, False),
        ("Tile", {}, (("tensor(int64)", (2,), (1, -1)),), 1, False),
        ("Tile", {}, (("tensor(int64)", (2,), (1, 0)),), 1, True),
        ("Slice", {}, (*[("tensor(int64)", (1,), (1,))] * 3, ("tensor(int64)", (1,), (0,))), 1, False),
        ("Slice", {}, (*[("tensor(int64)", (1,), (1,))] * 3, ("tensor(int64)", (1,), (-1,))), 1, True),
        ("Conv", {"strides": (1, 1, 1)}, (("tensor(float)", (4, 3, 3, 3), None),), 1, False),
        ("Conv", {"pads": (1, 1)}, (("tensor(float)", (4, 3, 3), None),), 1, True),
        ("ConvTranspose", {"kernel_shape": (3,)}, (("tensor(float)", (4, 3, 3, 3), None),), 1, False),
        ("Resize", {"axes": (0, 1)}, (ABSENT, ("tensor(float)", (3,), None)), 1, False),
        ("Resize", {"axes": (0, 1)}, (ABSENT, ("tensor(float)", (2,), None)), 1, True),
        ("Resize", {"axes": (0, 1)}, (ABSENT, ABSENT, ("tensor(int64)", (1,), (4,))), 1, False),
        ("Resize", {"axes": (0, 1)}, (ABSENT, ABSENT, ("tensor(int64)", (2,), (4, 4))), 1, True),
    ],
)
def test_numbers_are_compared_if_nothing_is_known_of_the_first_input(
    operator: str,
    attributes: Mapping[str, AttributeValue],
    others: tuple[tuple[str, Dims, tuple[int, ...] | None] | Fact, ...],
    count: int,
    *,
    is_right: bool,
) -> None:
    schema = SCHEMAS.find("", operator, 21)
    assert schema is not None
    made = Operands(
        schema,
        attributes,
        (fact("tensor(float)"), *[each if isinstance(each, Fact) else fact(*each) for each in others]),
        count,
    )
    rule = shape_rule(schema)
    assert rule is not None
    made.finished(rule.infer(made))
    assert bool(made.problems) is not is_right
