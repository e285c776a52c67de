# SPDX-License-Identifier: Apache-2.0
"""Fixes say whether they are safe."""

from __future__ import annotations

from onnx_lint.ir.places.edits import Delete, Fix
from onnx_lint.ir.places.place import ROOT


def test_a_fix_is_safe_unless_it_says_otherwise():
    edits = (Delete(ROOT.at("opset_import", 1)),)
    assert Fix("delete the import", edits).is_safe


def test_edits_can_be_worked_out_later():
    edits = (Delete(ROOT.at("opset_import", 1)),)
    assert Fix("delete the import", edits).with_edits() == Fix("delete the import", edits)
    assert Fix("delete it", (), is_safe=False, later=lambda: iter(edits)).with_edits() == Fix("delete it", edits, False)
