# SPDX-License-Identifier: Apache-2.0
"""What elements are taken to take up."""

from __future__ import annotations

import pytest

from onnx_lint.loader.element_weights import ElementBudget
from onnx_lint.loader.limits import TooManyElementsError
from onnx_lint.schema import wire

BYTES = 1_000_000


def spent(message: str, field: str, count: int, nodes: int = 0) -> int:
    """What so many occurrences of a field take up behind so many nodes."""
    budget = ElementBudget(BYTES)
    budget.take("GraphProto", wire.fields_by_name("GraphProto")["node"], nodes)
    before = budget.left
    budget.take(message, wire.fields_by_name(message)[field], count)
    return before - budget.left


def test_what_stands_once_takes_up_no_memory_of_its_own():
    assert spent("NodeProto", "name", 5) == 0


@pytest.mark.parametrize("field", ["input", "output"])
def test_a_few_names_of_each_node_take_up_less_than_others(field: str):
    few, many = spent("NodeProto", field, 40, nodes=10), spent("NodeProto", field, 40)
    assert few < many
    assert spent("NodeProto", field, 60, nodes=10) == few + many // 2


def test_what_goes_beyond_is_told_in_words():
    budget = ElementBudget(BYTES, of_number=40)
    budget.take("AttributeProto", wire.fields_by_name("AttributeProto")["ints"], 25_000)
    assert (budget.left, budget.elements) == (0, 25_000)
    with pytest.raises(
        TooManyElementsError, match="at least 25,001 messages, names and numbers take up 1,000,040 bytes of memory"
    ):
        budget.take("AttributeProto", wire.fields_by_name("AttributeProto")["ints"], 1)
