# SPDX-License-Identifier: Apache-2.0
"""The bytes of a place in a file that is text."""

from __future__ import annotations

from support.models.model_samples import from_text

from onnx_lint import lint
from onnx_lint.ir.places.place import ROOT


def test_text_has_an_order_and_no_bytes():
    model = from_text('graph { node { op_type: "B" name: "n" } name: "g" node { op_type: "A" } }')
    node = ROOT.at("graph").at("node", 1)
    assert model.places.byte_range(node) is None
    order = [model.places.extent(ROOT.at("graph").at("node", index))[0] for index in (0, 1)]
    assert order == sorted(order)
    # What is absent has the bytes of what is around it.
    assert model.places.extent(node.at("input", 3)) == model.places.extent(node)


def test_more_repeated_fields_than_are_listed_cost_no_finding():
    [file] = lint(b"\x08\x0a" * 5_000).files
    assert not file.internal_errors
    assert "repeated-singular-field" in {found.rule for found in file.diagnostics}
