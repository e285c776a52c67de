# SPDX-License-Identifier: Apache-2.0
"""The families of what descriptions of operators say beside their signatures, and the fixtures of each member."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.types.stated_types import stating_attributes
from onnx_lint.spec.operators import BUILT_IN, OperatorSchema
from onnx_lint.spec.operators.attribute_constraints import WITH_MORE, attribute_constraints
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN, allowed_values
from onnx_lint.spec.operators.combinations import Choice, combinations
from onnx_lint.spec.operators.records import record_of
from onnx_lint.spec.operators.store import ONNX
from support.project.fixture_files import diagnostics_of, fixtures, fixtures_of


class Member(Record):
    """A demand of an operator on some of its attributes or operands, in some of its versions."""

    operator: str
    """With its domain, as reports name it."""
    about: str
    """The attributes and operands, in words."""
    names: frozenset[str]
    """One of them is what a finding is about; empty where any may be."""
    word: str
    """A part of the message of each such finding."""
    given: frozenset[str]
    """A valid fixture gives one of these attributes; if there are none, it only needs the operator."""


FAMILIES: Final[Mapping[str, str]] = {
    "Attributes and operands that exclude each other or belong together": "unsupported-combination",
    "Attributes and operands of which one has to be there": "missing-operator-attribute",
    "Numbers and lists in attributes, whatever the operands are": "impossible-attribute-value",
    "Attributes that hold one of a few values": "unsupported-attribute-value",
    "Attributes that state the type of an input": "mismatched-operand-type",
}
"""The families, each with the rule that reads its table."""

THROUGH_FUNCTIONS: Final = (
    "impossible-attribute-value",
    "mismatched-attribute-default",
    "mismatched-call-attribute",
    "unbound-required-attribute",
    "uncomputed-output",
    "unsupported-attribute-value",
    "unsupported-combination",
)
"""The rules that judge what reaches an attribute through a parameter of a function."""


@functools.cache
def members() -> Mapping[str, Mapping[Member, tuple[int, ...]]]:
    """The members of each family, each with the versions of the operator whose description has the sentence."""
    found: dict[str, dict[Member, list[int]]] = {family: {} for family in FAMILIES}
    for schema in _schemas():
        for family, listed in zip(
            FAMILIES,
            (_choices(schema), _lacks(schema), _numbers(schema), _values(schema), _types(schema)),
            strict=True,
        ):
            for member in listed:
                versions = found[family].setdefault(member, [])
                if schema.since_version not in versions:
                    versions.append(schema.since_version)
    return {
        family: {member: tuple(sorted(listed[member])) for member in sorted(listed, key=_order)}
        for family, listed in found.items()
    }


def _order(member: Member) -> tuple[str, str]:
    return member.operator, member.about


def _schemas() -> Iterator[OperatorSchema]:
    for domain in ONNX.domains:
        for name in sorted(BUILT_IN.operator_names(domain, None)):
            for version in BUILT_IN.versions(domain, name):
                schema = BUILT_IN.find(domain, name, version)
                if schema is not None and not schema.deprecated:
                    yield schema


def _name(schema: OperatorSchema) -> str:
    return f"{schema.domain}::{schema.name}" if schema.domain else schema.name


def _member(schema: OperatorSchema, about: str, names: list[str], word: str = "") -> Member:
    has_operands = not schema.attributes.keys() >= set(names)
    return Member(_name(schema), about, frozenset(names), word, frozenset() if has_operands else frozenset(names))


_WORDS: Final = {
    Choice.TOGETHER: " without ",
    Choice.NEEDS: " without ",
    Choice.ONE: " needs exactly one of them",
    Choice.AT_MOST_ONE: " allows at most one of them",
}


def _choices(schema: OperatorSchema) -> Iterator[Member]:
    for combination in combinations(schema):
        if combination.kind is not Choice.SOME:
            names = [member.name for side in combination.sides for member in side]
            sides = " or ".join("/".join(member.name for member in side) for side in combination.sides)
            word = _WORDS[combination.kind]
            yield _member(schema, f"{combination.kind.value}: {sides}", names, word)


def _lacks(schema: OperatorSchema) -> Iterator[Member]:
    for combination in combinations(schema):
        if combination.kind in (Choice.ONE, Choice.SOME):
            names = [member.name for side in combination.sides for member in side]
            yield _member(schema, " or ".join(names), names, " requires " + ("one of them" if len(names) > 1 else "it"))


def _numbers(schema: OperatorSchema) -> Iterator[Member]:
    constraints = attribute_constraints((schema.domain, schema.name, schema.since_version))
    if constraints is None:
        return
    given = schema.attributes
    for name, least in constraints.minima.items():
        if name in given:
            yield _member(schema, f"{name}: at least {least}", [name])
    for name in constraints.distinct & given.keys():
        yield _member(schema, f"{name}: each once", [name], " again")
    for name, size in constraints.sizes.items():
        if name in given:
            yield _member(schema, f"{name}: {size} elements", [name], " element")
    for group in constraints.lengths:
        names = [name for name, _ in group if name in given]
        if len(names) > 1:
            yield _member(schema, f"equally long: {', '.join(names)}", names, " element")
    record = record_of(schema.name) if schema.domain == RUNTIME_DOMAIN else None
    if (schema.domain, schema.name) in WITH_MORE or (record is not None and record.patterns):
        yield _member(schema, "a demand of its own", [])


def _values(schema: OperatorSchema) -> Iterator[Member]:
    for name in schema.attributes:
        if allowed_values(schema, name) is not None:
            yield _member(schema, name, [name])


def _types(schema: OperatorSchema) -> Iterator[Member]:
    for name in stating_attributes(schema.domain, schema.name) & schema.attributes.keys():
        # The finding is about the input.
        word = f" {name}=" if schema.attributes[name].type == "INT" else f" attribute '{name}'"
        yield Member(_name(schema), name, frozenset(), word, frozenset({name}))


class FixtureFinding(Record):
    """A finding of a fixture, of the rule in whose folder that is."""

    fixture: str
    operator: str
    subject: str
    message: str


@functools.cache
def _findings(rule: str) -> tuple[FixtureFinding, ...]:
    return tuple(
        FixtureFinding(fixture.id, diagnostic.operator or "", diagnostic.subject or "", diagnostic.message)
        for fixture in fixtures_of(rule)
        if not fixture.is_valid
        for diagnostic in diagnostics_of(fixture)
        if diagnostic.rule == rule
    )


def broken_in(family: str, member: Member) -> set[str]:
    """The fixtures that break what the member says."""
    return {
        found.fixture
        for found in _findings(FAMILIES[family])
        if found.operator == member.operator
        and (not member.names or found.subject in member.names)
        and member.word in found.message
    }


def kept_in(member: Member) -> set[str]:
    """The valid fixtures, of any rule, that have the operator with one of the attributes."""
    return {
        fixture
        for fixture, nodes in _valid_nodes().items()
        if any(name == member.operator and (not member.given or member.given & given) for name, given in nodes)
    }


_QUOTED = re.compile(r'op_type: *"(\w+)"')


@functools.cache
def _valid_nodes() -> Mapping[str, list[tuple[str, frozenset[str]]]]:
    """The operators of the nodes of each valid fixture that may have a member, with the names of their attributes."""
    operators = {member.operator.rpartition("::")[2] for family in members().values() for member in family}
    return {
        fixture.id: [
            (
                f"{node.domain}::{node.op_type}" if node.domain else node.op_type,
                frozenset(attribute.name for attribute in node.attribute_protos),
            )
            for graph in fixture.model().graphs
            for node in graph.nodes
        ]
        for fixture in fixtures()
        if fixture.is_valid and fixture.is_text and not operators.isdisjoint(_QUOTED.findall(fixture.text))
    }


@functools.cache
def through_functions(rule: str) -> tuple[int, int]:
    """Return the numbers of invalid and valid fixtures of the rule with an attribute that refers to a parameter."""
    counts = [0, 0]
    for fixture in fixtures_of(rule):
        if "ref_attr_name" in fixture.text:
            counts[fixture.is_valid] += 1
    return counts[0], counts[1]
