# SPDX-License-Identifier: Apache-2.0
"""Mutations of a case: one size, one rank, one element or one attribute at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import onnx.defs

from shape_cases.case import Case, Operand

SIZES = (0, 1, 4, "M", None)
NUMBERS = (-9, -2, -1, 0, 1, 2, 3, 7, 1_000)


def mutated(schema: onnx.defs.OpSchema, base: Case) -> Iterator[Case]:
    """The case itself and each mutation of it."""
    yield base
    for index, operand in enumerate(base.inputs):
        if operand is None:
            continue
        for what, changed in _operands(operand):
            inputs = (*base.inputs[:index], changed, *base.inputs[index + 1 :])
            yield replace(base, inputs=inputs, mutation=f"input {index} {what}")
        if _is_optional(schema, index):
            inputs = (*base.inputs[:index], None, *base.inputs[index + 1 :])
            yield replace(base, inputs=inputs, mutation=f"input {index} left out")
    yield replace(base, inputs=tuple(map(_with_variables, base.inputs)), mutation="all sizes variables")
    for name, value in base.attributes.items():
        declared = schema.attributes.get(name)
        for what, changed in _values(value):
            yield replace(base, attributes={**base.attributes, name: changed}, mutation=f"{name} {what}")
        if declared is not None and not declared.required:
            others = {other: given for other, given in base.attributes.items() if other != name}
            yield replace(base, attributes=others, mutation=f"{name} left out")


def _operands(operand: Operand) -> Iterator[tuple[str, Operand]]:
    if operand.content is not None:
        yield "of unknown content", replace(operand, content=None)
        for what, content in _values(operand.content if len(operand.shape or ()) else operand.content[0]):
            elements = content if isinstance(content, tuple) else (content,)
            shape = (len(elements),) if operand.shape else operand.shape
            if operand.shape is not None and len(operand.shape) > 1:
                if len(elements) != len(operand.content):
                    continue
                shape = operand.shape
            yield what, replace(operand, content=elements, shape=shape)
        return
    if operand.shape is None:
        return
    yield "of unknown rank", replace(operand, shape=None)
    yield "with one dimension more", replace(operand, shape=(*operand.shape, 3))
    yield "with one dimension more in front", replace(operand, shape=(5, *operand.shape))
    if operand.shape:
        yield "with one dimension less", replace(operand, shape=operand.shape[:-1])
    for axis, dim in enumerate(operand.shape):
        for size in SIZES:
            if size != dim:
                shape = (*operand.shape[:axis], size, *operand.shape[axis + 1 :])
                yield f"with {size} at {axis}", replace(operand, shape=shape)


def _values(value: Any) -> Iterator[tuple[str, Any]]:
    """Other values of an attribute or of elements."""
    if isinstance(value, bool | str | bytes):
        return
    if isinstance(value, int):
        for number in NUMBERS:
            if number != value:
                yield f"{number} for {value}", number
    elif isinstance(value, float):
        for number in (0.0, 0.5, 2.5, -1.0):
            yield f"{number} for {value}", number
    elif isinstance(value, list | tuple):
        elements = tuple(value)
        for at, element in enumerate(elements):
            for what, changed in _values(element):
                yield f"element {at}: {what}", (*elements[:at], changed, *elements[at + 1 :])
        if elements:
            yield "one element less", elements[:-1]
            yield "one element more", (*elements, elements[-1])


def _is_optional(schema: onnx.defs.OpSchema, index: int) -> bool:
    if index >= len(schema.inputs):
        return False
    return schema.inputs[index].option == onnx.defs.OpSchema.FormalParameterOption.Optional


def _with_variables(operand: Operand | None) -> Operand | None:
    if operand is None or operand.shape is None or operand.content is not None:
        return operand
    return replace(operand, shape=tuple(f"d{dim}" if isinstance(dim, int) else dim for dim in operand.shape))
