# SPDX-License-Identifier: Apache-2.0
"""Creates the inputs of a node: graph inputs, constants, existing values, or outputs of new nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from onnx import helper
from shape_cases.case import Operand

from onnx_lint.inference.shapes.dims import Dims

from .builder import Builder, Sizes, random_value
from .tensors import array_of, code_of, element

INT64 = "tensor(int64)"
MAX_ELEMENTS = 4096
"""Larger operands are not computed by nodes."""


def operand(builder: Builder, kind: str, wanted: Operand) -> str:
    """Return the name of a value with the type, the shape and, if given, the content."""
    shape = wanted.shape
    if element(kind) is None:
        return _container(builder, kind, builder.sizes(shape or ()))
    if wanted.content is not None:
        return _constant(builder, kind, builder.sizes(shape or ()), wanted.content)
    sizes = builder.sizes(shape if shape is not None else (2, 3))
    rng = builder.rng
    if rng.random() < 0.35:
        there = [name for name in builder.values() if builder.facts[name].kind == kind]
        there = [name for name in there if builder.known_sizes(name) == sizes]
        if there:
            return there[-1] if rng.random() < 0.5 else rng.choice(there)
    if builder.left > 1 and rng.random() < 0.3 and math.prod(sizes) <= MAX_ELEMENTS:
        produced = _produced(builder, kind, sizes)
        if produced is not None:
            return produced
    return source(builder, kind, sizes, shape)


def source(builder: Builder, kind: str, sizes: Sizes, dims: Dims | None = None) -> str:
    """Add a graph input or a constant of these sizes. `dims` are the dimensions of the case."""
    rng = builder.rng
    name = element(kind) or ""
    feed = random_value(rng, kind, sizes)
    if feed is not None and rng.random() < 0.75:
        return builder.input(kind, _declared(builder, sizes, dims), feed)
    array = array_of(rng, name, sizes)
    return builder.constant(kind, array) if rng.random() < 0.3 else builder.initializer(kind, array)


def _declared(builder: Builder, sizes: Sizes, dims: Dims | None) -> Dims:
    """Return the dimensions to declare: sizes, variables, or unknown ones."""
    rng = builder.rng
    if dims is None or rng.random() < 0.6:
        dims = sizes
    if rng.random() < 0.8:
        return dims
    return tuple(_variable(builder, size) for size in sizes)


def _variable(builder: Builder, size: int) -> int | str | None:
    draw = builder.rng.random()
    if draw < 0.4:
        return size
    if draw < 0.7:
        return None
    same = [name for name, bound in builder.symbols.items() if bound == size]
    if same and draw < 0.85:
        return builder.rng.choice(same)
    name = f"s{len(builder.symbols)}"
    builder.symbols[name] = size
    return name


# --- sequences, optionals and maps


def _container(builder: Builder, kind: str, sizes: Sizes) -> str:
    there = [name for name in builder.values() if builder.facts[name].kind == kind]
    if there and builder.rng.random() < 0.3:
        return there[-1]
    constructor, _, inner = kind.partition("(")
    inner, version = inner[:-1], builder.imports[""]
    if builder.left > 1 and builder.rng.random() < 0.5:
        if constructor == "seq" and element(inner) and version >= 11:
            count = builder.rng.choice((1, 2, 2, 3))
            return builder.node("SequenceConstruct", [source(builder, inner, sizes) for _ in range(count)])
        if constructor == "optional" and version >= 15:
            within = source(builder, inner, sizes) if element(inner) else _container(builder, inner, sizes)
            return builder.node("Optional", [within])
    return builder.input(kind, sizes, random_value(builder.rng, kind, sizes))


# --- constants


def _constant(builder: Builder, kind: str, sizes: Sizes, content: Sequence[Any]) -> str:
    """Add a constant, an input that is fed with the content, or nodes that compute it."""
    rng, name = builder.rng, element(kind) or ""
    draw = rng.random()
    array = array_of(rng, name, sizes, content)
    if draw < 0.4:
        return builder.initializer(kind, array)
    if draw < 0.75 or builder.left < 2:
        return (
            builder.constant(kind, array)
            if draw < 0.68 or name not in FED_AS_CONTENT
            else builder.input(kind, sizes, array)
        )
    computed = _computed(builder, kind, array)
    return computed if computed is not None else builder.constant(kind, array)


FED_AS_CONTENT = frozenset({"int64", "int32", "float", "bool"})


def _computed(builder: Builder, kind: str, array: np.ndarray) -> str | None:
    """Add nodes that compute a constant as exporters do."""
    rng, version = builder.rng, builder.imports[""]
    flat = array.reshape(-1)
    ways: list[Callable[[], str]] = [lambda: builder.node("Identity", [_given(builder, kind, array)])]
    if kind == INT64 and array.ndim == 1 and 0 < array.size < 5 and _is_shape(flat):
        ways += [lambda: _shape_of(builder, flat.tolist())] * 3
    if kind == INT64 and array.ndim == 0 and _is_shape(flat):
        ways += [lambda: _gathered(builder, int(flat[0]))] * 2
    if array.ndim == 1 and array.size > 1 and version >= 4:
        ways += [lambda: _joined(builder, kind, array)] * 2
    if array.dtype.kind in "if" and version >= 7:
        ways.append(
            lambda: builder.node("Add", [_given(builder, kind, array - 1), _given(builder, kind, np.ones_like(array))])
        )
        ways.append(lambda: builder.node("Neg", [_given(builder, kind, -array)]))
    if kind == INT64 and version >= 13:
        ways.append(lambda: _cast(builder, "int32", array.astype(np.int32), "int64"))
    if array.ndim and version >= 13 and kind == INT64 and array.size == 1:
        ways.append(lambda: builder.node("Unsqueeze", [_given(builder, kind, array[0]), _ints(builder, 0)]))
    if array.ndim == 1 and version >= 10:
        ways.append(lambda: _sliced(builder, kind, array))
    return rng.choice(ways)()


def _is_shape(flat: np.ndarray) -> bool:
    return bool(np.all(flat >= 0) and np.prod(flat, dtype=float) <= MAX_ELEMENTS)


def _given(builder: Builder, kind: str, array: np.ndarray) -> str:
    array = np.asarray(array)
    return builder.constant(kind, array) if builder.rng.random() < 0.5 else builder.initializer(kind, array)


def _ints(builder: Builder, *numbers: int) -> str:
    return _given(builder, INT64, np.array(numbers, np.int64))


def _shape_of(builder: Builder, sizes: list[int]) -> str:
    return builder.node("Shape", [source(builder, "tensor(float)", tuple(sizes))])


def _gathered(builder: Builder, size: int) -> str:
    shape = _shape_of(builder, [2, size] if builder.rng.random() < 0.5 else [size, 2])
    made = builder.model.graph.node[-1].input[0]
    declared = builder.feeds.get(made, builder.constants.get(made))
    index = list(np.shape(declared)).index(size)
    return builder.node("Gather", [shape, _given(builder, INT64, np.array(index, np.int64))], axis=0)


def _joined(builder: Builder, kind: str, array: np.ndarray) -> str:
    at = builder.rng.randrange(1, array.size)
    return builder.node("Concat", [_given(builder, kind, array[:at]), _given(builder, kind, array[at:])], axis=0)


def _cast(builder: Builder, name: str, array: np.ndarray, to: str) -> str:
    return builder.node("Cast", [_given(builder, f"tensor({name})", array)], to=code_of(to))


def _sliced(builder: Builder, kind: str, array: np.ndarray) -> str:
    longer = np.concatenate([array[:1], array, array[-1:]]) if array.size else array
    start, end = (1, 1 + array.size) if array.size else (0, 0)
    return builder.node("Slice", [_given(builder, kind, longer), _ints(builder, start), _ints(builder, end)])


# --- computed operands


def _produced(builder: Builder, kind: str, sizes: Sizes) -> str | None:
    """Add a node whose output has exactly these sizes."""
    version, rng = builder.imports[""], builder.rng
    ways: list[Callable[[Builder, str, Sizes], str]] = [_identity]
    if version >= 5:
        ways.append(_reshaped)
    if version >= 4 and any(size > 1 for size in sizes):
        ways.append(_concatenated)
    if version >= 9 and sizes:
        ways.append(_larger)
    if version >= 9:
        ways.append(_converted)
    if version >= 8:
        ways.append(_expanded)
    if len(sizes) > 1:
        ways.append(_transposed)
    if version >= 13:
        ways += [_with_axis, _filled, _from_sequence]
    return rng.choice(ways)(builder, kind, sizes)


def _identity(builder: Builder, kind: str, sizes: Sizes) -> str:
    return builder.node("Identity", [source(builder, kind, sizes)])


def _reshaped(builder: Builder, kind: str, sizes: Sizes) -> str:
    flat = source(builder, kind, (math.prod(sizes),))
    target = list(sizes)
    if target and 0 not in target and builder.rng.random() < 0.4:
        target[builder.rng.randrange(len(target))] = -1
    return builder.node("Reshape", [flat, _ints(builder, *target)])


def _concatenated(builder: Builder, kind: str, sizes: Sizes) -> str:
    axis = builder.rng.choice([axis for axis, size in enumerate(sizes) if size > 1])
    first = builder.rng.randrange(1, sizes[axis])
    parts = [source(builder, kind, (*sizes[:axis], part, *sizes[axis + 1 :])) for part in (first, sizes[axis] - first)]
    return builder.node("Concat", parts, axis=axis)


def _larger(builder: Builder, kind: str, sizes: Sizes) -> str:
    axis = builder.rng.randrange(len(sizes))
    larger = source(builder, kind, (*sizes[:axis], sizes[axis] + 2, *sizes[axis + 1 :]))
    if builder.imports[""] < 10:
        return builder.node("Slice", [larger], axes=[axis], starts=[1], ends=[-1])
    return builder.node("Slice", [larger, _ints(builder, 1), _ints(builder, -1), _ints(builder, axis)])


def _converted(builder: Builder, kind: str, sizes: Sizes) -> str:
    other = builder.rng.choice(("float", "int32", "float16", "bool", "double", "int64"))
    return builder.node("Cast", [source(builder, f"tensor({other})", sizes)], to=code_of(element(kind) or ""))


def _expanded(builder: Builder, kind: str, sizes: Sizes) -> str:
    ones = tuple(1 if builder.rng.random() < 0.5 else size for size in sizes)
    return builder.node("Expand", [source(builder, kind, ones), _ints(builder, *sizes)])


def _transposed(builder: Builder, kind: str, sizes: Sizes) -> str:
    perm = list(range(len(sizes)))
    builder.rng.shuffle(perm)
    before = [0] * len(sizes)
    for to, axis in enumerate(perm):
        before[axis] = sizes[to]
    return builder.node("Transpose", [source(builder, kind, tuple(before))], perm=perm)


def _with_axis(builder: Builder, kind: str, sizes: Sizes) -> str:
    axis = builder.rng.randrange(len(sizes) + 1)
    operator = "Squeeze"
    wider = (*sizes[:axis], 1, *sizes[axis:])
    if 1 in sizes and builder.rng.random() < 0.5:
        axis, operator = sizes.index(1), "Unsqueeze"
        wider = (*sizes[:axis], *sizes[axis + 1 :])
    return builder.node(operator, [source(builder, kind, wider), _ints(builder, axis)])


def _filled(builder: Builder, kind: str, sizes: Sizes) -> str:
    name = element(kind) or ""
    if name in {"string", "complex64", "complex128"}:
        return _identity(builder, kind, sizes)
    value = helper.make_tensor("", code_of(name), [1], [1]) if name in _SIMPLE else None
    if value is None:
        return _reshaped(builder, kind, sizes)
    return builder.node("ConstantOfShape", [_ints(builder, *sizes)], value=value)


_SIMPLE = frozenset({"float", "double", "int64", "int32", "bool", "uint8", "int8"})


def _from_sequence(builder: Builder, kind: str, sizes: Sizes) -> str:
    made = builder.node("SequenceConstruct", [source(builder, kind, sizes) for _ in range(2)])
    index = builder.rng.choice((0, 1, -1))
    return builder.node("SequenceAt", [made, _given(builder, INT64, np.array(index, np.int64))])
