# SPDX-License-Identifier: Apache-2.0
"""The models of some fixtures."""

from __future__ import annotations

import functools
import random

from onnx_lint.model import Model
from support.project.fixture_files import FIXTURES, fixture_paths, read_fixture

RULES = (
    "ambiguous-attribute-value",
    "data-in-attribute-reference",
    "incomplete-type",
    "mismatched-attribute-type",
    "misplaced-attribute-reference",
    "missing-documentation",
    "missing-graph-name",
    "non-utf8-attribute",
    "unknown-element-type",
    "unnamed-opaque-type",
    "unsupported-optional-element",
    "untyped-attribute",
)
"""Rules whose fixtures have attributes and types in every possible place."""


@functools.cache
def fixture_models() -> dict[str, Model]:
    paths = [path for rule in RULES for path in sorted((FIXTURES / rule).glob("*/*.textproto"))]
    models = {str(path.relative_to(FIXTURES)): read_fixture(path).model() for path in paths}
    return {name: model for name, model in models.items() if model.loaded}


@functools.cache
def some_models() -> dict[str, Model]:
    """A twentieth of all fixtures, and those that mainly concern functions."""
    paths = sorted(fixture_paths())
    chosen = {*random.Random(9).sample(paths, len(paths) // 20)}
    for rule in ("missing-opset-import", "incompatible-opset-import", "duplicate-opset-import", "unresolved-overload"):
        chosen.update((FIXTURES / rule).glob("*/*.textproto"))
    models = {str(path.relative_to(FIXTURES)): read_fixture(path).model() for path in sorted(chosen)}
    return {name: model for name, model in models.items() if model.loaded}
