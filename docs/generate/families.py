# SPDX-License-Identifier: Apache-2.0
"""The table of what descriptions of operators say beside their signatures, with the number of fixtures of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from support.project.families import FAMILIES, THROUGH_FUNCTIONS, Member, broken_in, kept_in, members, through_functions

from generate.markdown import page, table

_HEAD = """\
What the descriptions of ONNX's operators say beside their signatures, as `onnx.defs` of the `onnx` package has them for
each version: by operator the sentence in short, the versions in which it stands, how many invalid fixtures of the rule
break it, and how many valid fixtures of any rule have the operator with such an attribute. A test holds that none is
missing (`tests/rules/test_families.py`).
"""


def family_page() -> str:
    """The page with a table for each family, and one for what comes through parameters of functions."""
    parts = ["# Families of operators", _HEAD]
    for family, listed in members().items():
        broken = {fixture for member in listed for fixture in broken_in(family, member)}
        parts += [f"## {family}", f"Rule `{FAMILIES[family]}`: {len(listed)} members, {len(broken)} invalid fixtures."]
        parts.append(table(("Operator", "Versions", "What is said", "Invalid", "Valid"), _rows(family, listed)))
    parts.append("## Values that come through parameters of functions")
    through = ((f"`{rule}`", *map(str, through_functions(rule))) for rule in THROUGH_FUNCTIONS)
    return page(*parts, table(("Rule", "Invalid", "Valid"), through))


def _rows(family: str, listed: Mapping[Member, tuple[int, ...]]) -> Iterator[tuple[str, ...]]:
    for member, versions in listed.items():
        counts = str(len(broken_in(family, member))), str(len(kept_in(member)))
        yield member.operator, ", ".join(map(str, versions)), member.about, *counts
