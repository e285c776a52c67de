# SPDX-License-Identifier: Apache-2.0
"""The tools that `How to fix` of the pages of rules names do what the pages say."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models.page_recipes import OF_ONNX, OF_TOOLS, Recipe

from onnx_lint.engine.registry import registry


def test_the_pages_have_the_words() -> None:
    rows = [*OF_ONNX, *(row for rows in OF_TOOLS.values() for row in rows)]
    pages = {name: " ".join(registry()[name].rule.documentation.split()) for name, _, _ in rows}
    assert [(name, words) for name, words, _ in rows if words not in pages[name]] == []


@pytest.mark.slow
@pytest.mark.parametrize("recipe", [pytest.param(recipe, id=f"{rule}: {words}") for rule, words, recipe in OF_ONNX])
def test_onnx_does_what_the_page_says(recipe: Recipe, tmp_path: Path) -> None:
    recipe(tmp_path)


@pytest.mark.consumers
@pytest.mark.parametrize(
    ("package", "recipe"),
    [
        pytest.param(package, recipe, id=f"{rule}: {words}")
        for package, rows in OF_TOOLS.items()
        for rule, words, recipe in rows
    ],
)
def test_a_tool_does_what_the_page_says(package: str, recipe: Recipe, tmp_path: Path) -> None:
    pytest.importorskip(package, reason="no part of the development packages")
    recipe(tmp_path)
