# SPDX-License-Identifier: Apache-2.0
"""A model is checked with the import that its nodes need: what that uncovers is said, and not folded into it."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import lint
from onnx_lint.engine.trials import budget

TEXT = """
<ir_version: 8, opset_import: ["": {version}], producer_name: "me">
g (float[1,4] x, {inputs}) => ({output}[A,B] y)
<int64[1] a = {{0}}, int64[1] nine = {{9}}, float[1] f = {{0.0}}> {{ {nodes} }}"""


def _found(nodes: str, version: int = 11, inputs: str = "double[4] d", output: str = "float"):
    text = TEXT.format(version=version, nodes=nodes, inputs=inputs, output=output)
    return lint(onnx.parser.parse_model(text)).diagnostics


def test_all_nodes_fit_is_said_after_a_check():
    (found,) = _found("h = Squeeze(x, a) y = Unsqueeze(h, a)")
    assert found.hint == "import version 13 of 'ai.onnx', which all its nodes fit"
    assert {each.rule for each in found.folding.members} == {"missing-operator-attribute", "operator-arity"}


@pytest.mark.parametrize(
    ("axes", "words"), [("f", "is tensor(float)"), ("nine", "is 9, but the axes are from -2 to 1")]
)
def test_a_node_that_the_import_leaves_wrong_keeps_its_own_finding(axes: str, words: str):
    first, other = _found(f"h = Squeeze(x, a) y = Unsqueeze(h, {axes})")
    assert first.hint is not None
    assert other.hint is not None
    assert first.hint.startswith("import version 13 of 'ai.onnx', which the signatures of all its nodes fit; a fault")
    assert other.hint.startswith("import version 13 of 'ai.onnx'; the node has a fault then: ")
    assert words in first.hint
    assert words in other.hint
    assert [item.node or str(item.at) for item in first.folding.members] == []  # only node 0
    assert {str(item.at)[:13] for item in other.folding.members} == {"graph.node[1]"}


def test_types_decide_about_the_version_as_well():
    (found,) = _found("h = Unsqueeze(i, a) y = Relu(h)", inputs="int32[4] i", output="int32")
    assert found.hint == "import version 14 of 'ai.onnx', which all its nodes fit"


def test_other_changes_are_tried_with_the_import():
    """The sum is wrong, and not what it is declared as: that shows once the Squeeze is known."""
    first, other = _found("h = Squeeze(x, a) y = Add(h, d)", inputs="double[3,4] d")
    assert "input 1 'd' is tensor(double)" in (first.hint or "")
    assert "declare output" not in f"{first.hint} {other.hint}"


def test_signatures_alone_are_named_if_the_model_is_too_large(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(budget, "MAX_PARTS", 1)
    (found,) = _found("h = Squeeze(x, a) y = Unsqueeze(h, f)")
    assert found.hint == "import version 13 of 'ai.onnx', which the signatures of all its nodes fit"


SOFTMAX = "h = Squeeze(x, a) k = Unsqueeze(h, a) {}"


@pytest.mark.parametrize(
    ("nodes", "words"),
    [
        ("y = Softmax<axis = 1>(k)", "import version 13 of 'ai.onnx', which all its nodes fit"),
        (
            "y = Softmax<axis = 5>(k)",
            "attribute 'axis' of unnamed node 2 (Softmax) of the main graph is 5, but the axes",
        ),
        ("y = Softmax<axis = 0>(k)", None),  # it would compute something else
    ],
)
def test_an_import_in_doubt_is_proposed_if_no_node_computes_something_else(nodes: str, words: str | None):
    found = _found(SOFTMAX.format(nodes))
    assert (len(found) == 1) == (words is not None)
    assert all(words is None and each.hint is None for each in found) or (words or "") in (found[0].hint or "")


@pytest.mark.parametrize(
    ("nodes", "hint"),
    [
        ("h = Relu(i) k = Add(i, i) y = Mul(k, i)", "import version 13 of 'ai.onnx', which allows these types"),
        ("y = Relu(i)", None),
    ],
)
def test_types_that_several_operators_need_a_later_version_for(nodes: str, hint: str | None):
    found = _found(nodes, 12, inputs="bfloat16[4,4] i", output="bfloat16")
    assert [each.hint if "import" in (each.hint or "") else None for each in found] == [hint]
