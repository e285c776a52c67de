# SPDX-License-Identifier: Apache-2.0
"""The operators of each family of shape rules."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import import_module, util
from pathlib import Path

from onnx_lint.inference.shapes import registration, rules


@functools.cache
def operators_by_family() -> Mapping[str, tuple[str, ...]]:
    """Return the operators that each module declares, those of domains other than ai.onnx as "domain::name".

    All modules in the folder are imported, whether FAMILIES lists them or not.
    """
    folder = Path(rules.__file__).parent
    modules = sorted(path.stem for path in folder.glob("*.py") if path.name != "__init__.py")
    for module in modules:
        import_module(f"{rules.__name__}.{module}")  # first, as they import each other, each once
    usual = registration.declared
    found = {}
    try:
        for module in modules:
            registration.declared = {}  # type: ignore[misc]
            spec = util.spec_from_file_location(module, folder / f"{module}.py")
            assert spec is not None
            assert spec.loader is not None
            spec.loader.exec_module(util.module_from_spec(spec))
            if registration.declared:
                found[module] = tuple(registration.declared)
    finally:
        registration.declared = usual  # type: ignore[misc]
    return found
