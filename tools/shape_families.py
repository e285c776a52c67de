# SPDX-License-Identifier: Apache-2.0
"""Writes which modules have the shape rule and the record of each operator: `python -m tools.shape_families`."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from importlib import import_module, util
from pathlib import Path
from typing import Final

from onnx_lint.inference.shapes import registration, rules
from onnx_lint.spec.operators import records

FAMILIES: Final = Path(rules.__file__).with_name("families.json")
RECORDS: Final = Path(records.__file__).with_name("families.json")


@functools.cache
def operators_by_family() -> Mapping[str, tuple[str, ...]]:
    """Return the operators that each module declares, those of domains other than ai.onnx as "domain::name".

    All modules in the folder are imported.
    """
    folder = Path(rules.__file__).parent
    modules = sorted(path.stem for path in folder.glob("*.py") if path.name != "__init__.py")
    for module in modules:
        import_module(f"{rules.__name__}.{module}")  # first, as they import each other, each once
    usual = registration.rules_by_operator
    found = {}
    try:
        for module in modules:
            registration.rules_by_operator = {}  # type: ignore[misc]
            spec = util.spec_from_file_location(module, folder / f"{module}.py")
            assert spec is not None
            assert spec.loader is not None
            spec.loader.exec_module(util.module_from_spec(spec))
            if registration.rules_by_operator:
                found[module] = tuple(registration.rules_by_operator)
    finally:
        registration.rules_by_operator = usual  # type: ignore[misc]
    return found


def families() -> str:
    """Return the module of each operator, operators in the order of their names: JSON."""
    homes = {operator: module for module, operators in operators_by_family().items() for operator in operators}
    return json.dumps(dict(sorted(homes.items())), indent=0) + "\n"


def record_families() -> str:
    """Return the module with the record of each operator of com.microsoft: JSON."""
    modules = sorted(path.stem for path in RECORDS.parent.glob("*.py") if path.stem not in ("__init__", "grammar"))
    homes = {
        operator: module for module in modules for operator in import_module(f"{records.__name__}.{module}").RECORDS
    }
    return json.dumps(dict(sorted(homes.items())), indent=0) + "\n"


if __name__ == "__main__":
    FAMILIES.write_text(families(), encoding="utf-8")
    RECORDS.write_text(record_families(), encoding="utf-8")
