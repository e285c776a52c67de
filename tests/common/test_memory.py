# SPDX-License-Identifier: Apache-2.0
"""Memory that a file leaves behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from support.models.model_samples import GRAPHS

from onnx_lint.common.memory import release_memory
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.model import Graph, Model

DATA = f"ir_version: 10 {GRAPHS}".encode()


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """The garbage collector is on, and yet looks at nothing by itself."""
    gc.collect()
    thresholds = gc.get_threshold()
    gc.set_threshold(0)
    yield
    gc.set_threshold(*thresholds)
    gc.enable()
    release_memory()
    gc.collect()


def _lint() -> int:
    return len(lint_source(BytesSource(DATA), "model.textproto", Settings()).diagnostics)


def _left() -> list[object]:
    return [found for found in gc.get_objects() if isinstance(found, Model | Graph)]


def test_nothing_is_left_of_a_model_for_the_collector():
    before = len(_left())
    assert _lint() > 0
    assert len(_left()) == before


def test_a_program_that_holds_the_collector_lets_go_of_a_model_before_the_next_file():
    before = len(_left())
    gc.disable()
    assert _lint() > 0
    assert len(_left()) > before
    release_memory()
    assert len(_left()) == before
