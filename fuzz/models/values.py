# SPDX-License-Identifier: Apache-2.0
"""Compares the facts that onnx-lint infers about a value with the value that a runtime computes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from onnx_lint.inference.shapes.fact import Fact

from .tensors import FED, element, kind_of_array


def difference(fact: Fact, value: Any, symbols: Mapping[str, int]) -> tuple[str, str] | None:
    """Return whether type, shape or elements differ, and how, or None."""
    if isinstance(value, list | tuple):
        return _of_sequence(fact, value, symbols)
    if isinstance(value, np.ndarray | np.generic):
        return _of_tensor(fact, value, symbols)
    return None


def _of_sequence(fact: Fact, value: Any, symbols: Mapping[str, int]) -> tuple[str, str] | None:
    if fact.kind and fact.kind.startswith("tensor("):
        return "type", f"{fact.kind}, ran: a sequence"
    if fact.kind and fact.kind.startswith("optional(") and fact.inside is not None:
        if (fact.inside.kind or "").startswith("tensor("):  # the reference evaluator wraps it in a list
            return difference(fact.inside, value[0], symbols) if len(value) == 1 else None
        return _of_sequence(fact.inside, value, symbols)
    if fact.content and isinstance(fact.content[0], int) and fact.content[0] != len(value):
        return "elements", f"a sequence of {fact.content[0]}, ran: {len(value)}"
    for each in value:
        found = difference(fact.inside, each, symbols) if fact.inside is not None else None
        if found is not None:
            return found
    return None


def _of_tensor(fact: Fact, value: Any, symbols: Mapping[str, int]) -> tuple[str, str] | None:
    if fact.kind and fact.kind.startswith("optional(") and fact.inside is not None:
        return _of_tensor(fact.inside, value, symbols)
    if fact.kind and not fact.kind.startswith("tensor("):
        return "type", f"{fact.kind}, ran: {value.dtype}{list(value.shape)}"
    kind = kind_of_array(value)
    is_known = element(fact.kind or "") in FED  # other types come as integers of their bits
    if is_known and kind is not None and kind != fact.kind:
        return "type", f"{fact.kind}, ran: {kind}"
    if fact.shape is None:
        return None
    sizes = [symbols.get(dim) if isinstance(dim, str) else dim for dim in fact.shape]
    shape = tuple(value.shape)
    if len(sizes) != len(shape) or any(
        size is not None and size != ran for size, ran in zip(sizes, shape, strict=True)
    ):
        return "shape", f"{fact.shape}, ran: {shape}"
    return _of_content(fact, value, symbols)


def _of_content(fact: Fact, value: Any, symbols: Mapping[str, int]) -> tuple[str, str] | None:
    if fact.content is None or value.dtype.kind not in "iubf" or element(fact.kind or "") not in FED:
        return None
    elements = value.reshape(-1).tolist()
    known = [symbols.get(each) if isinstance(each, str) else each for each in fact.content]
    if len(known) != len(elements) or any(
        one is not None and one != other for one, other in zip(known, elements, strict=True)
    ):
        return "elements", f"{fact.content}, ran: {elements}"
    return None
