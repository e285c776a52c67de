# SPDX-License-Identifier: Apache-2.0
"""Requirements in descriptions of operators, by family: each member of a family has valid and invalid fixtures."""

from __future__ import annotations

import pytest
from support.project.families import FAMILIES, THROUGH_FUNCTIONS, broken_in, kept_in, members, through_functions


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_each_member_is_broken_in_a_fixture(family: str):
    assert members()[family]
    assert [member for member in members()[family] if not broken_in(family, member)] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_each_member_is_kept_in_a_fixture(family: str):
    assert [member for member in members()[family] if not kept_in(member)] == []


@pytest.mark.parametrize("rule", THROUGH_FUNCTIONS)
def test_what_comes_through_functions_has_fixtures_on_both_sides(rule: str):
    assert min(through_functions(rule)) > 0
