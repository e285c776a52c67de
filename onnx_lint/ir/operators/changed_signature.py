# SPDX-License-Identifier: Apache-2.0
"""What nodes have that another release's signature of their operator does not allow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.ir.operators.mismatch import given_operands, missing_attributes, mistyped_attributes, unknown_attributes
from onnx_lint.ir.operators.operators import AlikeNodes
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.wording import counted, listed, quote


def refused_form(alike: AlikeNodes, schema: OperatorSchema, other: OperatorSchema, owner: str) -> list[str]:
    """Return what alike nodes have that a signature allows and another one does not, in words.

    `owner`: what has the other signature, in words.
    """
    allowed = {key for key, _ in _form_faults(schema, alike, owner)}
    return [words for key, words in _form_faults(other, alike, owner) if key not in allowed]


def _form_faults(schema: OperatorSchema, alike: AlikeNodes, owner: str) -> Iterator[tuple[str, str]]:
    """Yield a key and the words for each attribute and each number of operands that a signature does not allow."""
    for name in unknown_attributes(schema, alike):
        yield name, f"attribute {quote(name)}, which {owner} does not have"
    for name in missing_attributes(schema, alike):
        yield name, f"no attribute {quote(name)}, which {owner} requires"
    for name in mistyped_attributes(schema, alike):
        kind = schema.attributes[name].type
        yield name, f"attribute {quote(name)} of another type than {kind}, which {owner} requires"
    for side in given_operands(schema, alike):
        if not side.count_fits or side.short_variadic is not None:
            has = counted(len(side.given), side.word)
            takes = "takes" if side.word == "input" else "produces"
            yield side.word, f"{has}, but {owner} {takes} {side.describe_counts()}"
        for index in side.omitted:
            name = side.parameters[min(index, len(side.parameters) - 1)].name
            yield f"{side.word} {index}", f"no {side.word} {index} ({quote(name)}), which {owner} requires"


def refused_types(kinds: Sequence[str | None], schema: OperatorSchema, other: OperatorSchema, owner: str) -> list[str]:
    """Return the types of inputs that a signature allows and another one does not, in words.

    `kinds`: the type of each input; None if it is unknown or left out. `owner`: what has the other signature, in words.
    """
    allowed = {key for key, _ in _type_faults(schema, kinds, owner)}
    return [words for key, words in _type_faults(other, kinds, owner) if key not in allowed]


def _type_faults(schema: OperatorSchema, kinds: Sequence[str | None], owner: str) -> Iterator[tuple[int, str]]:
    """Yield the index and the words for each input whose type a signature does not allow."""
    bound: dict[str, tuple[int, str]] = {}
    for index, kind in enumerate(kinds):
        parameter = schema.input_at(index)
        if parameter is None or not kind:
            continue
        if kind not in parameter.types:
            yield index, f"input {index} ({quote(parameter.name)}) of type {kind}, which {owner} does not take"
        elif parameter.variable is not None and parameter.homogeneous:
            first, other = bound.setdefault(parameter.variable, (index, kind))
            if kind != other:
                names = listed([f"{first}", f"{index}"])
                yield index, f"inputs {names} of types {other} and {kind}, for which {owner} takes one type"
