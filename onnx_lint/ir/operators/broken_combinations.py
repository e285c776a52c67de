# SPDX-License-Identifier: Apache-2.0
"""Finds the combinations of attributes and operands in a node that its operator forbids, or lacks."""

from __future__ import annotations

from collections.abc import Collection

from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema
from onnx_lint.spec.operators.combinations import Choice, Combination, Member, combinations

_LISTS = {ATTRIBUTE_TYPE_CODES[name]: name.lower() for name in ("FLOATS", "INTS", "STRINGS", "TENSORS")}
_STRING = ATTRIBUTE_TYPE_CODES["STRING"]
_FLOAT = ATTRIBUTE_TYPE_CODES["FLOAT"]


def has_broken_combinations(schema: OperatorSchema, forms: Collection[NodeForm]) -> bool:
    """Return true if a form has a combination of attributes and operands that the operator forbids for all values."""
    wanted = combinations(schema)
    return bool(wanted) and any(broken_by(combination, form) for form in _distinct(forms) for combination in wanted)


def _distinct(forms: Collection[NodeForm]) -> Collection[NodeForm]:
    """Return one form of each group of forms that differ only in values that no combination depends on."""
    found: dict[object, NodeForm] = {}
    for form in forms:
        has_values = any(kind in _LISTS or kind == _STRING for _, kind in form.attribute_types)
        found[form if has_values else (form.inputs, form.outputs, form.attribute_types)] = form
    return found.values()


def broken_by(combination: Combination, form: NodeForm) -> tuple[Member, ...]:
    """Return the members that break the combination in nodes of a form, one for each side; empty if none does.

    If all sides are required together, or one needs another, these are the sides that are given.
    """
    given = [found for side in combination.sides if (found := _given(side, form, combination))]
    if combination.kind is Choice.TOGETHER:
        return tuple(given) if len(given) < len(combination.sides) else ()
    if combination.kind is Choice.NEEDS:
        return tuple(given) if len(given) == 1 and given[0] in combination.sides[0] else ()
    return tuple(given) if combination.kind is not Choice.SOME and len(given) > 1 else ()


def _given(side: tuple[Member, ...], form: NodeForm, combination: Combination) -> Member | None:
    return next((member for member in side if _is_given(member, form, combination)), None)


def _is_given(member: Member, form: NodeForm, combination: Combination) -> bool:
    if member.field != "attribute":
        operands = form.inputs if member.field == "input" else form.outputs
        return member.index < len(operands) and operands[member.index]
    return any(attribute.name == member.name and _has_value(attribute, combination) for attribute in form.attributes)


def is_empty_list(attribute: Proto) -> bool:
    """Return whether the attribute is a list without elements."""
    return attribute.type in _LISTS and not attribute.ref_attr_name and not getattr(attribute, _LISTS[attribute.type])


def _has_value(attribute: Proto, combination: Combination) -> bool:
    """Return whether the attribute has an effect. For many choices exporters write both lists and leave one empty."""
    if attribute.ref_attr_name:
        return True
    if attribute.type in _LISTS:
        return combination.empty_lists or not is_empty_list(attribute)
    if attribute.type == _STRING:
        text = attribute.s.decode("utf-8", "backslashreplace")
        return text not in combination.idle_values and (attribute.name, text) not in combination.defaults
    return not _is_default(attribute, combination)


def _is_default(attribute: Proto, combination: Combination) -> bool:
    """Return whether a number is the default, which means the same as leaving the attribute out."""
    default = next((text for name, text in combination.defaults if name == attribute.name), None)
    if default is None:
        return False
    try:
        return bool(float(default) == (attribute.f if attribute.type == _FLOAT else attribute.i))
    except ValueError:  # the default is a text, and the attribute has a wrong type
        return False
