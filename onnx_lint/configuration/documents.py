# SPDX-License-Identifier: Apache-2.0
"""The documents that are generated from the table of keys: the starter file, and the JSON Schema."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from onnx_lint.common.option_types import json_schema
from onnx_lint.configuration.settings import Setting, keys
from onnx_lint.engine.registry import Registered, registry

WIDTH: Final = 100


def starter_file() -> str:
    """Return a configuration file that changes nothing: each key as a comment, with its description."""
    lines = [
        "# The configuration of onnx-lint. It applies to the models in this folder and below, unless a nearer",
        "# file exists. In a pyproject.toml the same keys belong in the table [tool.onnx-lint].",
    ]
    tables = [key for key in keys().values() if key.starter.startswith("[")]
    plain = [key for key in keys().values() if key not in tables]
    # Tables come last, because all lines after the header of a table belong to it.
    for key in (*plain, *tables):
        lines += ["", *_comment(f"{key.summary} {key.details}".strip())]
        lines += [f"#{line}" for line in key.starter.splitlines()]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> Iterator[str]:
    for line in textwrap.wrap(text, WIDTH - 2, break_on_hyphens=False):
        yield f"# {line}"


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
    properties = {name: {**json_schema(kind), "default": defaults[name]} for name, kind in types.items()}
    return {
        "description": entry.summary,
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
