# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from onnx_lint.ir.operators.named_element_types import named_element_types
from onnx_lint.model import ELEMENT_TYPES, Model, Place
from onnx_lint.rule import Faults, Finding, Related, rule
from onnx_lint.wording import quote_some

_Places = Iterator[tuple[int, Place]]
"""Element types, each with a place that has it."""


@rule(
    clause="POL-4",
    since="0.2.0",
    needs="attribute",
    kinds={"allow": "element types", "forbid": "element types", "weight_types": "lists of element types"},
)
def disallowed_element_type(
    model: Model,
    *,
    allow: tuple[str, ...] = (),
    forbid: tuple[str, ...] = (),
    weight_types: Mapping[str, tuple[str, ...]] = {},
) -> Iterator[Finding]:
    """A tensor, a value or a Cast has an element type that the policy does not allow.

    ### How to fix

    Export the model with another type, or change the configuration.

    ### Example

    ```
    # option: disallowed-element-type.forbid = ["double"]
    input { name: "x" type { tensor_type { elem_type: 11 shape { dim { dim_value: 2 } } } } }
    ```

    Corrected:

    ```
    # option: disallowed-element-type.forbid = ["double"]
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    ```

    ### Why it matters

    Your configuration lists the element types that the consumers of the models support.

    ### Details

    - An element type, for example `float16` or `double`, must be in the option `allow`, if that is set, and must not be
      in `forbid`.
    - The table `policy.element-types` of the configuration sets both options.
    - The types of tensors, all declared types, and attributes that name a type, for example `to` of Cast, are checked.
    - If none of these has the type, the inferred types of node outputs are checked.
    - The option `weight_types` (the table `policy.weight-types`) has an `allow` and a `forbid` for tensors; the other
      two options then apply to the other places.
    """
    if weight_types:
        both = weight_types.get("allow", ()), weight_types.get("forbid", ())
        yield from _disallowed(*both, "weight-types", lambda numbers: _tensors(model, numbers))
    if allow or forbid:
        is_all = not weight_types
        yield from _disallowed(allow, forbid, "element-types", lambda numbers: _places(model, numbers, is_all=is_all))


def _disallowed(
    allow: tuple[str, ...], forbid: tuple[str, ...], entry: str, places_of: Callable[[frozenset[int]], _Places]
) -> Iterator[Finding]:
    forbidden = {number for number, element in ELEMENT_TYPES.items() if element.name in forbid}
    others = {number for number, element in ELEMENT_TYPES.items() if allow and element.name not in allow}
    found: dict[int, list[Place]] = {}
    for number, place in places_of(frozenset(forbidden | others)):
        found.setdefault(number, []).append(place)
    for number, places in found.items():
        is_forbidden = number in forbidden
        name = ELEMENT_TYPES[number].name
        what = f"element type {name}, which the policy {'forbids' if is_forbidden else 'does not allow'},"
        required = f"no {quote_some(forbid, 5)}" if is_forbidden else f"one of {quote_some(allow, 5)}"
        yield _finding(name, what, required, f"{entry}.{'forbid' if is_forbidden else 'allow'}", places)


def _finding(name: str, what: str, allowed: str, anchor: str, places: Sequence[Place]) -> Finding:
    count = len(places)
    again = partial(_finding, name, what, allowed, anchor)
    return Finding(
        places[0],
        f"{what} is used in {count:,} {'place' if count == 1 else 'places'}",
        allowed=allowed,
        related=tuple(Related(place, "and here") for place in places[1:4]),
        subject=name,
        collective=True,
        count=count,
        anchor=anchor,
        parts=Faults(places, again, lambda place: (place, name), is_one_fault=False),
    )


def _tensors(model: Model, numbers: frozenset[int]) -> _Places:
    for tensor in model.tensors.of(numbers):
        yield tensor.proto.data_type, tensor.place


def _places(model: Model, numbers: frozenset[int], *, is_all: bool) -> _Places:
    stated = set()
    for number, place in _stated(model, numbers, is_all=is_all):
        stated.add(number)
        yield number, place
    # What follows for other values has its cause in a place that states the type.
    yield from _inferred(model, {ELEMENT_TYPES[number].name: number for number in numbers - stated})


def _stated(model: Model, numbers: frozenset[int], *, is_all: bool) -> _Places:
    for declared in model.types(lambda proto: proto.tensor_type.elem_type in numbers):
        yield declared.proto.tensor_type.elem_type, declared.place.at("tensor_type").at("elem_type")
    if is_all:
        yield from _tensors(model, numbers)
    for named in named_element_types(model.operators, model.bound_nodes, numbers):
        yield named.number, named.place


def _inferred(model: Model, numbers: Mapping[str, int]) -> _Places:
    """Yield the outputs of nodes that are not declared and have one of the element types."""
    for walked in model.value_flow.walks.first:
        graph = walked.graph
        declared = {*graph.value_info_names, *(() if graph.is_function else graph.output_names)}
        for name, position in graph.positions.items():
            kind = walked.fact(name).kind if position >= 0 and name not in declared else None
            for element in re.findall(r"tensor\((\w+)\)", kind or ""):
                if element in numbers:
                    outputs = graph.node_outputs[position]
                    yield numbers[element], graph.at("node", position).at("output", outputs.index(name))
