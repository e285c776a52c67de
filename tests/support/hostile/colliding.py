# SPDX-License-Identifier: Apache-2.0
"""Models whose numbers have equal hashes in CPython, as tuples, and the same models with other numbers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from google.protobuf import text_format

from onnx_lint import schema

Numbers = Sequence[tuple[int, ...]]

_MASK: Final = (1 << 64) - 1
_PRIME_1: Final = 11400714785074694791
_PRIME_2: Final = 14029467366897019727
_PRIME_5: Final = 2870177450012600261
"""The constants of `tuplehash` in CPython's Objects/tupleobject.c."""

_INVERSE_2: Final = pow(_PRIME_2, -1, 1 << 64)
_ANY: Final = 0x1234567890ABCDEF
_GREATEST: Final = (1 << 61) - 1
"""The hash of an integer from 0 up to here is the integer."""


def colliding(count: int, length: int = 2, start: int = 0) -> list[tuple[int, ...]]:
    """Return tuples of positive int64 numbers that have one hash: the last number is solved for.

    The number before it is more than `start`, and differs in each.
    """
    numbers = random.Random(5)
    head = tuple(numbers.randrange(1, 1 << 20) for _ in range(length - 2))
    state = _PRIME_5
    for each in head:
        state = _mixed(state, each)
    found: list[tuple[int, ...]] = []
    free = start
    while len(found) < count:
        free += 1
        last = (_ANY - _mixed(state, free)) * _INVERSE_2 & _MASK
        if 0 < last < _GREATEST:
            found.append((*head, free, last))
    return found


def colliding_behind_any_salt(count: int) -> list[tuple[int, int]]:
    """Return pairs of int64 numbers that nearly always have one hash, whatever stands before them in a tuple.

    A step of the first number changes only the 31 upper bits of the state, and so, turned, a small number. Most of the
    time it does not overflow, and the second number makes up for it.
    """
    found: list[tuple[int, int]] = []
    step = 0
    while len(found) < count:
        step += 1
        one = _signed((step << 33) * _INVERSE_2)
        other = _signed(-step * _PRIME_1 * _INVERSE_2)
        if abs(one) < _GREATEST and abs(other) < _GREATEST and -1 not in (one, other):
            found.append((one, other))
    return found


def scattered(numbers: Numbers) -> list[tuple[int, ...]]:
    """Return the tuples with other last numbers: the control."""
    others = random.Random(1)
    return [(*each[:-1], others.randrange(1, 1 << 60)) for each in numbers]


def _mixed(state: int, number: int) -> int:
    state = (state + number * _PRIME_2) & _MASK
    return ((state << 31 | state >> 33) & _MASK) * _PRIME_1 & _MASK


def _signed(number: int) -> int:
    number &= _MASK
    return number - (1 << 64) if number >> 63 else number


# --- models


def _type(shape: Iterable[int]) -> str:
    dims = " ".join(f"dim {{ dim_value: {size} }}" for size in shape)
    return f"tensor_type {{ elem_type: 1 shape {{ {dims} }} }}"


def _value(field: str, name: str, kind: str) -> str:
    return f'{field} {{ name: "{name}" type {{ {kind} }} }}'


def _node(operator: str, inputs: str, output: str, more: str = "") -> str:
    given = " ".join(f'input: "{name}"' for name in inputs.split())
    return f'node {{ {given} output: "{output}" op_type: "{operator}" {more} }}'


def _ints(name: str, numbers: Iterable[int]) -> str:
    return f'attribute {{ name: "{name}" type: INTS {" ".join(f"ints: {each}" for each in numbers)} }}'


def _int(name: str, number: int) -> str:
    return f'attribute {{ name: "{name}" type: INT i: {number} }}'


def _tensor(numbers: Iterable[int], dims: Sequence[int]) -> str:
    sizes = " ".join(f"dims: {size}" for size in dims)
    return f"{sizes} data_type: 7 {' '.join(f'int64_data: {each}' for each in numbers)}"


def _constant(index: int, numbers: Sequence[int]) -> str:
    value = f'attribute {{ name: "value" type: TENSOR t {{ {_tensor(numbers, [len(numbers)])} }} }}'
    return _node("Constant", "", f"c{index}", value)


def _each(line: Callable[[int, tuple[int, ...]], str]) -> Callable[[Numbers], str]:
    return lambda numbers: " ".join(line(index, each) for index, each in enumerate(numbers))


def _external(index: int, numbers: tuple[int, ...]) -> str:
    start, end = sorted(numbers[-2:])
    entries = {"location": "w.bin", "offset": start, "length": end - start}
    data = " ".join(f'external_data {{ key: "{key}" value: "{value}" }}' for key, value in entries.items())
    return f'initializer {{ name: "w{index}" data_type: 1 dims: 1 data_location: EXTERNAL {data} }}'


def _ensemble(numbers: Numbers) -> str:
    columns = {
        "nodes_treeids": [each[-2] for each in numbers],
        "nodes_nodeids": [each[-1] for each in numbers],
        "nodes_truenodeids": [0] * len(numbers),
        "nodes_falsenodeids": [0] * len(numbers),
        "nodes_featureids": [0] * len(numbers),
        "target_treeids": [each[-2] for each in numbers],
        "target_nodeids": [each[-1] for each in numbers],
        "target_ids": [0] * len(numbers),
    }
    modes = " ".join(['strings: "LEAF"'] * len(numbers))
    more = " ".join(_ints(*column) for column in columns.items())
    more += f' domain: "ai.onnx.ml" {_int("n_targets", 1)} attribute {{ name: "nodes_modes" type: STRINGS {modes} }}'
    return _value("input", "t", _type([1, 3])) + _node("TreeEnsembleRegressor", "t", "e", more)


def _scatter(numbers: Numbers) -> str:
    rows = [size for each in numbers for size in each[-2:]]
    return (
        _value("input", "d", _type([1 << 62, 1 << 62]))
        + _value("input", "u", _type([len(numbers)]))
        + f'initializer {{ name: "i" {_tensor(rows, [len(numbers), 2])} }}'
        + _node("ScatterND", "d i u", "s")
    )


def _shapes(operator: str, inputs: str) -> Callable[[Numbers], str]:
    return _each(lambda index, each: _constant(index, each) + _node(operator, inputs.format(f"c{index}"), f"o{index}"))


_FUNCTION: Final = (
    'functions { name: "F" domain: "f" input: "a" output: "b" attribute: "p" attribute: "q" '
    'node { input: "a" output: "b" op_type: "Relu" } opset_import { version: 21 } }'
)

COLLIDING: Final[dict[str, Callable[[Numbers], str]]] = {
    "inputs": _each(lambda index, each: _value("input", f"i{index}", _type(each))),
    "nodes": _each(
        lambda index, each: _value("input", f"i{index}", _type(each)) + _node("Abs", f"i{index}", f"o{index}")
    ),
    "value_info": _each(
        lambda index, each: (
            _node("Foo", "x", f"o{index}", 'domain: "my.domain"') + _value("value_info", f"o{index}", _type(each))
        )
    ),
    "repeated value_info": _each(lambda index, each: _value("value_info", f"o{index // 2}", _type(each))),
    "outputs": _each(
        lambda index, each: (
            _node("Foo", "x", f"o{index}", 'domain: "my.domain"') + _value("output", f"o{index}", _type(each))
        )
    ),
    "initializers": _each(
        lambda index, each: f'initializer {{ name: "w{index}" data_type: 1 {" ".join(f"dims: {n}" for n in each)} }}'
    ),
    "sparse initializers": _each(
        lambda index, each: (
            f'sparse_initializer {{ values {{ name: "s{index}" data_type: 1 dims: 0 }} '
            f"indices {{ data_type: 7 dims: 0 }} {' '.join(f'dims: {size}' for size in each)} }}"
        )
    ),
    "contents": _each(lambda index, each: f'initializer {{ name: "w{index}" {_tensor(each, [len(each)])} }}'),
    "Reshape": _shapes("Reshape", "x {}"),
    "Expand": _shapes("Expand", "x {}"),
    "ConstantOfShape": _shapes("ConstantOfShape", "{}"),
    "Slice": _shapes("Slice", "x {0} {0}"),
    "floating-point Constants": _each(
        lambda index, each: _node(
            "Constant",
            "",
            f"c{index}",
            'attribute { name: "value" type: TENSOR t { dims: 0 '
            + " ".join(f"dims: {size}" for size in each)
            + " data_type: 1 } }",
        )
    ),
    "perm": _each(lambda index, each: _node("Transpose", "x", f"o{index}", _ints("perm", each))),
    "numbers beside a float": _each(
        lambda index, each: _node(
            "Gemm",
            "x x",
            f"o{index}",
            f'attribute {{ name: "alpha" type: FLOAT f: {index} }}'
            + _int("transA", each[-2])
            + _int("transB", each[-1]),
        )
    ),
    "calls": _each(
        lambda index, each: _node("F", "x", f"o{index}", 'domain: "f"' + _int("p", each[-2]) + _int("q", each[-1]))
    ),
    "sequences": _each(
        lambda index, each: _value("input", f"i{index}", f"sequence_type {{ elem_type {{ {_type(each)} }} }}")
    ),
    "SequenceConstruct": lambda numbers: (
        COLLIDING["inputs"](numbers) + _node("SequenceConstruct", " ".join(f"i{i}" for i in range(len(numbers))), "s")
    ),
    "ScatterND": _scatter,
    "ranges of external data": _each(_external),
    "tree ensemble": _ensemble,
}
"""The graph of each kind of model, by the tuples that are its shapes, contents or attributes."""


def model_of(kind: str, numbers: Numbers) -> bytes:
    """Return the model of a kind."""
    text = (
        'ir_version: 10 opset_import { version: 21 } opset_import { domain: "ai.onnx.ml" version: 3 } '
        'opset_import { domain: "f" version: 1 } opset_import { domain: "my.domain" version: 1 } '
        f'graph {{ name: "g" {_value("input", "x", _type([2]))} {_value("output", "y", _type([2]))} '
        f"{_node('Relu', 'x', 'y')} {COLLIDING[kind](numbers)} }} {_FUNCTION}"
    )
    serialized: bytes = text_format.Parse(text, schema.message("ModelProto")()).SerializeToString()
    return serialized
