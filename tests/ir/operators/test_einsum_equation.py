# SPDX-License-Identifier: Apache-2.0
"""Faults in equations of Einsum."""

from __future__ import annotations

import pytest

from onnx_lint.ir.operators.einsum_equation import equation_fault


@pytest.mark.parametrize(
    ("equation", "input_count"),
    [("ij,jk->ik", 2), ("ij,jk", 2), ("i->", 1), ("...ij, ... jk -> ...ik", 2), ("bIj,bjK->bIK", 2), ("ii->i", 1)],
)
def test_right_equations(equation: str, input_count: int):
    assert equation_fault(equation, input_count) is None


@pytest.mark.parametrize(
    ("equation", "input_count", "fault"),
    [
        ("i->j->k", 1, "has more than one '->'"),
        ("i1->i", 1, "contains '1', which is not a letter"),
        ("...i...->i", 1, "has two ellipses in the term '...i...'"),
        ("..i->i", 1, "has dots in the term '..i' that are no ellipsis"),
        ("ij->i,j", 1, "has more than one term after '->'"),
        ("ij->i", 2, "has 1 term, but the node has 2 inputs"),
        ("i,j->ij", 1, "has 2 terms, but the node has 1 input"),
        ("ij->ik", 1, "has label 'k' after '->', but not before it"),
    ],
)
def test_wrong_equations(equation: str, input_count: int, fault: str):
    assert equation_fault(equation, input_count) == fault
