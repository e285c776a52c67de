# SPDX-License-Identifier: Apache-2.0
"""Writes what docs/stability.md promises to keep, `docs/public_api.txt`: `python -m tools.public_api`.

One line for each thing that users write down. A test compares the file with the program, so no change goes unseen.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, is_typeddict

import click

import onnx_lint
from onnx_lint import model as model_api
from onnx_lint.cli import exit_codes
from onnx_lint.cli.application import application
from onnx_lint.common.record import Record, field_names
from onnx_lint.configuration.settings import keys
from onnx_lint.engine.registry import registry
from onnx_lint.rule import Finding, Related, own_clause, rule
from onnx_lint.wording import quote

DOCS: Final = Path(__file__).parents[1] / "docs"
SNAPSHOT: Final = DOCS / "public_api.txt"


def public_api() -> str:
    """Return the lines of the snapshot."""
    sections = {
        "library": _library(),
        "json": _json(),
        "rule": (name for name, entry in registry().items() if entry.plugin is None),
        "exit code": (f"{name} = {code}" for name, code in vars(exit_codes).items() if type(code) is int),
        "plugin": _plugins(),
        "command": _commands(),
        "configuration": iter(keys()),
    }
    return "".join(f"{kind}: {line}\n" for kind, lines in sections.items() for line in sorted(lines))


def _library() -> Iterator[str]:
    page = (DOCS / "library.md").read_text(encoding="utf-8")
    documented = set(
        re.findall(r"\w+", " ".join(re.findall(r"`[^`]+`|^```python.*?^```", page, re.DOTALL | re.MULTILINE)))
    )
    for name in onnx_lint.__all__:
        found = getattr(onnx_lint, name)
        if inspect.isfunction(found):
            yield f"onnx_lint.{name}{_arguments(found)}"
        elif is_typeddict(found):
            yield from (f"onnx_lint.{name}({member}=)" for member in found.__annotations__)
        elif inspect.isclass(found):
            members = (member for member in _members(found) if member.partition("(")[0] in documented)
            yield from (f"onnx_lint.{name}.{member}" for member in members)


def _arguments(function: Any) -> str:
    """The names of the arguments; those that are named only are behind the star, and `=` marks a default.

    Keywords that are taken only to refuse them are left out.
    """
    kinds = inspect.Parameter
    parts: list[str] = []
    for each in inspect.signature(function).parameters.values():
        if each.annotation == "Never":
            continue
        if each.kind is kinds.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        prefix = "**" if each.kind is kinds.VAR_KEYWORD else ""
        parts.append(f"{prefix}{each.name}{'' if each.default is kinds.empty else '='}")
    return f"({', '.join(parts)})"


def _members(found: type) -> Iterator[str]:
    """The public fields, properties and methods of a class."""
    fields = field_names(found) if issubclass(found, Record) else ()
    yield from fields
    for name in dir(found):
        member = inspect.getattr_static(found, name)
        if not name.startswith("_") and name not in fields and not hasattr(Record, name):
            yield f"{name}{_arguments(member)}" if inspect.isfunction(member) else name


def _json() -> Iterator[str]:
    for name in ("report", "report-line", "shapes"):
        schema = json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
        yield from sorted({f"{name} {path}" for path in _keys(schema)})


def _keys(schema: Any, at: str = "") -> Iterator[str]:
    """Yield each key that a JSON document may have, with the keys around it. Keys of definitions begin with `$`."""
    if isinstance(schema, Mapping):
        for name, inside in schema.get("properties", {}).items():
            required = name in schema.get("required", ())
            yield f"{at}.{name}{'' if required else '?'}"
            yield from _keys(inside, f"{at}.{name}")
        for name, inside in schema.get("$defs", {}).items():
            yield from _keys(inside, f"${name}")
        for word in ("items", "anyOf", "oneOf", "allOf", "additionalProperties"):
            yield from _keys(schema.get(word), f"{at}[]" if word == "items" else at)
    elif isinstance(schema, list):
        for each in schema:
            yield from _keys(each, at)


def _plugins() -> Iterator[str]:
    page = (DOCS / "plugins.md").read_text(encoding="utf-8")
    items = [item for item in re.split(r"\n(?=- |\| |\n)", page) if f"`{model_api.__name__}`" in item]
    named = set(re.findall(r"`(\w+)`", " ".join(items)))
    offered = (*model_api.__all__, *model_api._homes())
    yield from (f"{model_api.__name__}.{name}" for name in offered if name in named or name in model_api.__all__)
    for function in (rule, own_clause, quote):
        yield f"{function.__module__}.{function.__name__}{_arguments(function)}"
    for part in (Finding, Related):
        yield f"{part.__module__}.{part.__name__}({', '.join(field_names(part))})"
    table = page.partition("## What a rule can use")[2]
    rows = [line.split("|")[1] for line in table.partition("## A package")[0].splitlines() if line.startswith("| `")]
    yield from sorted({name for row in rows for name in re.findall(r"`((?:model|graph|node)\.[a-z_.]+)", row)})


def _commands() -> Iterator[str]:
    for name, command in application.commands.items():
        yield name
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                yield from (f"{name} {option}" for option in (*parameter.opts, *parameter.secondary_opts))


if __name__ == "__main__":
    SNAPSHOT.write_text(public_api(), encoding="utf-8")
