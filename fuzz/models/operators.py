# SPDX-License-Identifier: Apache-2.0
"""All operators of all versions, with valid operands and attributes for each."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import import_module
from random import Random
from types import ModuleType

import onnx.defs
from onnx import AttributeProto, helper
from shape_cases.case import Case, Operand, attribute_proto, case
from shape_cases.mutations import mutated
from support.models.operator_nodes import attribute_of
from support.models.typed_nodes import NEEDED

from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.operators.attribute_values import allowed_values
from tools.shape_families import operators_by_family

Schema = onnx.defs.OpSchema

CONTROL_FLOW = frozenset({"If", "Loop", "Scan", "SequenceMap"})
"""Operators whose subgraphs decide types and shapes; `control_flow.py` has their nodes."""

_MAPS: Mapping[str, tuple[Case, ...]] = {
    "CastMap": (
        case(Operand((), kind="map(int64, tensor(float))")),
        case(Operand((), kind="map(int64, tensor(string))")),
    ),
    "DictVectorizer": (
        case(Operand((), kind="map(string, tensor(float))"), string_vocabulary=("a", "b")),
        case(Operand((), kind="map(int64, tensor(float))"), int64_vocabulary=(1, 2, 3)),
    ),
    "ZipMap": (case((2, 3), classlabels_int64s=(1, 2, 3)), case(("N", 2), classlabels_strings=("a", "b"))),
}
"""Cases of operators without shape cases."""


@functools.cache
def schemas() -> tuple[Schema, ...]:
    """Return all operators of all versions that are not deprecated, in a fixed order."""
    found = [schema for schema in onnx.defs.get_all_schemas_with_history() if not schema.deprecated]
    return tuple(sorted(found, key=lambda schema: (schema.domain, schema.name, schema.since_version)))


@functools.cache
def newest() -> Mapping[str, int]:
    """Return the newest version of each operator set."""
    return {domain: max(s.since_version for s in schemas() if s.domain == domain) for domain in DOMAINS}


DOMAINS = tuple(sorted({schema.domain for schema in schemas()}))


@functools.cache
def _versions() -> Mapping[tuple[str, str], list[int]]:
    """Return the sorted versions of each operator, including deprecated ones."""
    found: dict[tuple[str, str], list[int]] = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        found.setdefault((schema.domain, schema.name), []).append(schema.since_version)
    return {name: sorted(versions) for name, versions in found.items()}


def last_version(schema: Schema) -> int:
    """Return the last operator set version that `schema` applies to."""
    later = [version for version in _versions()[schema.domain, schema.name] if version > schema.since_version]
    return min(later, default=newest()[schema.domain] + 1) - 1


@functools.cache
def active(domain: str, version: int) -> Mapping[str, Schema]:
    """Return the operators of an operator set version by name."""
    return {s.name: s for s in schemas() if s.domain == domain and s.since_version <= version <= last_version(s)}


@functools.cache
def _families() -> Mapping[str, ModuleType]:
    return {
        name: import_module(f"shape_cases.{family}")
        for family, names in operators_by_family().items()
        if family != "control_flow" and not family.startswith("contrib_")
        for name in names
    }


@functools.cache
def cases_of(schema: Schema) -> tuple[Case, ...]:
    """Return valid nodes of the operator, without attributes that do not affect shapes."""
    name = f"{schema.domain}::{schema.name}" if schema.domain else schema.name
    family = _families().get(name)
    return tuple(family.cases(schema)) if family is not None else _MAPS.get(schema.name, ())


@functools.lru_cache(maxsize=256)
def _mutated(schema: Schema, index: int) -> tuple[Case, ...]:
    return tuple(mutated(schema, cases_of(schema)[index]))


def some_case(rng: Random, schema: Schema, *, is_wrong: bool) -> Case:
    """Return a node of the operator. With `is_wrong` it has one mutation and may be invalid."""
    index = rng.randrange(len(cases_of(schema)))
    return rng.choice(_mutated(schema, index)) if is_wrong else cases_of(schema)[index]


_ELEMENTWISE = frozenset(operators_by_family()["unary"]) | frozenset(
    ["Add", "And", "Div", "Equal", "Greater", "Less", "Max", "Min", "Mul", "Or", "Sub", "Xor"]
)
_WITH_SCALARS = frozenset({"Clip", "Dropout"})


def is_elementwise(schema: Schema) -> bool:
    """Return whether the operator accepts inputs of any one shape."""
    return not schema.domain and schema.name in _ELEMENTWISE - _WITH_SCALARS


# --- attributes


def attributes(rng: Random, schema: Schema, made: Case) -> dict[str, AttributeProto]:
    """Return the attributes of the case, other required ones, and some optional ones."""
    found = {name: attribute_proto(schema, name, value) for name, value in made.attributes.items()}
    needed = NEEDED.get(schema.name, {}) if not made.attributes else {}
    for name, declared in sorted(schema.attributes.items()):
        if name in found:
            continue
        if name in needed:
            found[name] = helper.make_attribute(name, needed[name])
        elif declared.required or (_is_plain(declared) and rng.random() < _OPTIONAL and schema.name != "Constant"):
            found[name] = _value(rng, schema, name, declared)
    return found


_OPTIONAL = 0.12
"""The probability that an optional attribute is added."""

_PLAIN = frozenset({"FLOAT", "INT", "STRING"})
_FLAGS = (*(0, 1) * 20, 2, -1)
"""Values of flags. The specification does not say what numbers other than 0 and 1 mean."""
_INTEGERS = (0, 0, 1, 1, 2, 2, 3, 7, 10, -1, 2**31, -(2**63))
_FLOATS = (0.0, 0.5, 1.0, -1.0, 2.0, 1e-5, float("inf"))


def _is_plain(declared: Schema.Attribute) -> bool:
    return AttributeProto.AttributeType.Name(declared.type.value) in _PLAIN


def _value(rng: Random, schema: Schema, name: str, declared: Schema.Attribute) -> AttributeProto:
    """Return a value for an attribute, mostly a valid one."""
    kind = AttributeProto.AttributeType.Name(declared.type.value)
    own = BUILT_IN.find(schema.domain, schema.name, schema.since_version)
    allowed = allowed_values(own, name) if own is not None else None
    if allowed and kind in ("STRING", "INT") and rng.random() < 0.95:
        return helper.make_attribute(name, rng.choice(sorted(allowed, key=str)))
    default = declared.default_value
    if default.type and rng.random() < 0.3:
        made = AttributeProto()
        made.CopyFrom(default)
        made.name = name
        return made
    if kind == "INT":
        return helper.make_attribute(name, _integer(rng, name, is_flag=not default.type or default.i in (0, 1)))
    if kind == "FLOAT":
        return helper.make_attribute(name, rng.choice(_FLOATS))
    return attribute_of(name, declared.type.value)


def _integer(rng: Random, name: str, *, is_flag: bool) -> int:
    if "dtype" in name or name in {"to", "detect_negative"}:
        return rng.choice((1, 1, 7, 6, 9, 10, 11, 2, 3, 16, 17, rng.randrange(0, 30)))
    return rng.choice(_FLAGS if is_flag else _INTEGERS)
