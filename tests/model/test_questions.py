# SPDX-License-Identifier: Apache-2.0
"""The questions that decide which rules run."""

from __future__ import annotations

from support.models.model_samples import from_text
from support.project.each_case import each_case

from onnx_lint.engine.registry import registry
from onnx_lint.engine.selection import has_subject, question_of

USUAL = """
producer_name: "p" producer_version: "1" opset_import { version: 21 }
graph { name: "g" node { op_type: "Relu" input: "x" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { } } } } }
"""

OF_SETTINGS_AND_VERSIONS = {"has_target", "initializers_must_be_inputs"}
ABOUT = {entry.rule.about for entry in registry().values() if entry.rule.about is not None}


@each_case("about", sorted(ABOUT - OF_SETTINGS_AND_VERSIONS))
def test_a_usual_model_has_nothing_that_few_rules_are_about(about: str):
    """That the answer is yes where a rule has something to find, its fixtures hold."""
    assert not has_subject(from_text(USUAL), question_of(about))
