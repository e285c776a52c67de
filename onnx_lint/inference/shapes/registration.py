# SPDX-License-Identifier: Apache-2.0
"""Registers the shape rules of operators."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.operands import Operands, Outputs

Infer = Callable[[Operands], Outputs]
"""Returns the shapes of a node's outputs, and records problems."""


class ShapeRule(Record):
    """The shape inference of an operator."""

    infer: Infer
    reads: tuple[int, ...] = ()
    """The inputs whose content the function reads."""


rules_by_operator: Final[dict[str, list[tuple[int, ShapeRule]]]] = {}
"""The rules of each operator, by `name_of`, with the version from which each applies."""


def name_of(domain: str, operator: str) -> str:
    """Return an operator as `domain::name`, or just the name for ai.onnx."""
    return f"{domain}::{operator}" if domain else operator


def register_rule(*operators: str, domain: str = "", reads: tuple[int, ...] = ()) -> Callable[[Infer], Infer]:
    """Return a decorator for the rule of operators of a domain: `Name`, or `Name:7` from version 7 on.

    `reads`: the inputs whose content the rule uses.
    """

    def declare(function: Infer) -> Infer:
        for operator in operators:
            name, _, since = operator.partition(":")
            _register(name_of(domain, name), int(since or 1), ShapeRule(function, reads))
        return function

    return declare


def register_since(versions: Mapping[str, int], *, reads: tuple[int, ...] = ()) -> Callable[[Infer], Infer]:
    """Return a decorator for the rule of operators of ai.onnx, each from a version on."""

    def declare(function: Infer) -> Infer:
        for name, since in versions.items():
            _register(name, since, ShapeRule(function, reads))
        return function

    return declare


def _register(operator: str, since: int, rule: ShapeRule) -> None:
    rules = rules_by_operator.setdefault(operator, [])
    rules.append((since, rule))
    rules.sort(key=lambda each: each[0])


def register_equations(texts: Mapping[str, str], *, domain: str = "") -> None:
    """Declare equations as the rules of operators, `Name` or `Name:7`, of a domain."""
    from onnx_lint.inference.shapes.equations import solve
    from onnx_lint.spec.operators.records.grammar import parse_equation

    for operator, text in texts.items():
        parse_equation(text)  # find a mistake in it when the module is imported
        register_rule(operator, domain=domain)(partial(solve, text))
