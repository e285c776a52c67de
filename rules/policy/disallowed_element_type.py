# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ELEMENT_TYPES, Model, Place, named_element_types
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote_some


@rule(clause="POL-4", since="0.2.0")
def disallowed_element_type(
    model: Model, *, allow: tuple[str, ...] = (), forbid: tuple[str, ...] = ()
) -> Iterator[Finding]:
    """A tensor, a declared type or a Cast has an element type that the policy does not allow.

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

    The configuration says which element types the consumers of the models compute with.

    ### Details

    Element types in the option `allow`, if there are any, and not in `forbid`, such as `float16` and `double`. The
    table `policy.element-types` of the configuration sets both. Checked are tensors, the types that are declared
    anywhere, and the attributes that name one, such as `to` of Cast.
    """
    forbidden = {number for number, element in ELEMENT_TYPES.items() if element.name in forbid}
    others = {number for number, element in ELEMENT_TYPES.items() if allow and element.name not in allow}
    found: dict[int, list[Place]] = {}
    for number, place in _places(model, frozenset(forbidden | others)):
        found.setdefault(number, []).append(place)
    for number, places in found.items():
        is_forbidden = number in forbidden
        count = len(places)
        yield Finding(
            places[0],
            f"element type {ELEMENT_TYPES[number].name}, which the policy "
            f"{'forbids' if is_forbidden else 'does not allow'}, "
            f"is used in {count:,} {'place' if count == 1 else 'places'}",
            allowed=f"no {quote_some(forbid, 5)}" if is_forbidden else f"one of {quote_some(allow, 5)}",
            related=tuple(Related(place, "and here") for place in places[1:4]),
            subject=ELEMENT_TYPES[number].name,
            collective=True,
            count=count,
            anchor=f"element-types.{'forbid' if is_forbidden else 'allow'}",
        )


def _places(model: Model, numbers: frozenset[int]) -> Iterator[tuple[int, Place]]:
    for declared in model.types(lambda proto: proto.tensor_type.elem_type in numbers):
        yield declared.proto.tensor_type.elem_type, declared.place.at("tensor_type").at("elem_type")
    for tensor in model.tensors.of(numbers):
        yield tensor.proto.data_type, tensor.place
    for named in named_element_types(model.operators, model.bound_nodes, numbers):
        yield named.number, named.place
