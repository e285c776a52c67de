# SPDX-License-Identifier: Apache-2.0
"""Writes the JSON Schema of configuration files, for editors: `python -m tools.configuration_schema`."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from onnx_lint.configuration.settings import Setting, keys
from onnx_lint.engine.option_kinds import OPTION_KINDS
from onnx_lint.engine.registry import Registered, registry

PATH = Path(__file__).parent.parent / "docs" / "config.schema.json"


def configuration_schema(rules: Mapping[str, Registered] | None = None) -> dict[str, Any]:
    """Return the JSON Schema of a configuration file. `rules`: the rules with options; None for the built-in ones."""
    if rules is None:
        rules = {name: entry for name, entry in registry().items() if entry.plugin is None}
    properties = {key.key: _property(key, rules) for key in keys().values()}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:onnx-lint:configuration:1",
        "title": "Configuration of onnx-lint",
        "description": "What onnx-lint.toml holds, and the table [tool.onnx-lint] of a pyproject.toml.",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def _property(key: Setting, rules: Mapping[str, Registered]) -> dict[str, Any]:
    schema = {"description": f"{key.summary} {key.details}".strip(), **key.kind.schema}
    if key.key_default is not None:
        schema["default"] = key.key_default
    if key.key == "rules":
        schema["properties"] = {name: _options(entry) for name, entry in rules.items() if entry.rule.options}
    return schema


def _options(entry: Registered) -> dict[str, Any]:
    types, defaults = entry.rule.option_types, entry.rule.options
    kinds = {name: dict(OPTION_KINDS[kind].schema) for name, kind in entry.rule.kinds.items()}
    schemas = {name: json_schema(kind) for name, kind in types.items()} | kinds
    properties = {name: {**schema, "default": defaults[name]} for name, schema in schemas.items()}
    return {
        "description": entry.summary,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


def json_schema(wanted: Any) -> dict[str, Any]:
    """Return the type as JSON Schema."""
    if typing.get_origin(wanted) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(wanted) if part is not type(None)]
        return json_schema(parts[0]) if len(parts) == 1 else {"anyOf": [json_schema(part) for part in parts]}
    plain = {bool: "boolean", int: "integer", float: "number", str: "string"}
    if wanted in plain:
        return {"type": plain[wanted]}
    origin, arguments = typing.get_origin(wanted) or wanted, typing.get_args(wanted)
    if origin is typing.Literal:
        return {"enum": list(arguments)}
    if origin in (tuple, list, set, frozenset, Sequence):
        return {"type": "array", **({"items": json_schema(arguments[0])} if arguments else {})}
    if origin in (dict, Mapping):
        return {"type": "object", **({"additionalProperties": json_schema(arguments[-1])} if arguments else {})}
    return {}


def text() -> str:
    """Return the schema as it is written."""
    return json.dumps(configuration_schema(), indent=2) + "\n"


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
