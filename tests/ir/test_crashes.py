# SPDX-License-Identifier: Apache-2.0
"""Which exceptions are bugs, and how often each bug is noted."""

from __future__ import annotations

import pytest
from support.models.model_samples import from_text

from onnx_lint.input.source import ReadError
from onnx_lint.ir.crashes import Crashes, crash_of, is_bug, true_if_it_crashes

TEXT = """
graph {
  node { op_type: "Relu" input: "x" output: "y" name: "first" }
  node { op_type: "Relu" input: "y" output: "z" }
  node { op_type: "Neg" input: "z" output: "u" }
}
"""


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("error", [ReadError("gone"), MemoryError(), KeyboardInterrupt()])
def test_what_is_no_bug_leaves_every_boundary(error: BaseException) -> None:
    assert not is_bug(error)
    crashes = Crashes()
    with pytest.raises(type(error)), crashes.at("testing"):
        raise error
    with pytest.raises(type(error)):
        true_if_it_crashes(lambda: _raise(error))
    assert len(crashes) == 0


def test_a_bug_is_noted_once_for_each_operator() -> None:
    crashes = Crashes()
    for node in from_text(TEXT).main_graph.nodes:
        with crashes.at("testing", node):
            _raise(ValueError(node.op_type))
    found = [(site.operator, site.node, str(site.place), len(site.seen)) for site in crashes]
    assert found == [
        ("Relu", "node 'first' (Relu)", "graph.node[0]", 2),
        ("Neg", "unnamed node 2 (Neg) of the main graph", "graph.node[2]", 1),
    ]


def test_a_crash_has_its_exception_and_where_it_was_raised() -> None:
    with pytest.raises(ValueError, match="boom") as caught:
        _raise(ValueError("boom"))
    crash = crash_of(caught.value)
    assert crash.exception == "ValueError: boom"
    assert "in _raise" in crash.traceback
    assert crash.origin[:2] == ("ValueError", __file__)


def test_a_question_that_crashes_is_answered_with_yes() -> None:
    assert true_if_it_crashes(lambda: _raise(ValueError()))
    assert not true_if_it_crashes(list)
