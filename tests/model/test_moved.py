# SPDX-License-Identifier: Apache-2.0
"""Former members of `Model`."""

from __future__ import annotations

import re

import pytest
from support.models.model_samples import from_text

import onnx_lint.model
from onnx_lint.model import Model
from onnx_lint.model.moved import MOVED, Moved

MOST_MEMBERS = 60


def test_a_former_member_names_the_new_way():
    model = from_text("graph { }")
    for owner in (Model, model):
        with pytest.raises(AttributeError, match=r"^Model\.has_faults is now the function has_faults of"):
            owner.has_faults  # noqa: B018
    for new in MOVED.values():
        function = re.fullmatch(r"the function (\w+) of onnx_lint.model", new)
        found = getattr(onnx_lint.model, function[1]) if function else eval(new, {"model": model})
        assert callable(found) or found is not None, new


def test_a_model_has_few_members():
    model = from_text("graph { }")
    members = {*vars(model), *(name for name, value in vars(Model).items() if not isinstance(value, Moved))}
    public = [name for name in members if not name.startswith("_")]
    assert len(public) <= MOST_MEMBERS
