# SPDX-License-Identifier: Apache-2.0
"""The pages about the command line and the keys of the configuration."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from generate.markdown import block, page
from onnx_lint.cli.application import application
from onnx_lint.common.distribution import NAME as PROGRAM
from onnx_lint.configuration.settings import Setting, keys
from onnx_lint.input.limits import DEFAULT_LIMITS, NAMES

_WIDTH = 100


def command_page() -> str:
    """The text of `--help` for the program and each command."""
    parts = ["# Command line", "What `--help` says."]
    settings = {**application.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    root = click.Context(application, info_name=PROGRAM, **settings)
    parts += [f"## {PROGRAM}", block(application.get_help(root))]
    for name, command in application.commands.items():
        context = click.Context(command, info_name=name, parent=root)
        parts += [f"## {PROGRAM} {name}", block(command.get_help(context))]
    return page(*parts)


def key_page() -> str:
    """Every key of the configuration, and the limits."""
    parts = [
        "# Keys of the configuration",
        "What [configuration files](configuration.md) may hold.",
    ]
    for key in keys().values():
        parts += _key(key)
    limits = "\n".join(f"- `{name}`: {getattr(DEFAULT_LIMITS, name):,}" for name in NAMES)
    return page(*parts, "## The limits and their defaults", limits)


def _key(key: Setting) -> Iterator[str]:
    default = "not set" if key.key_default is None else f"`{json.dumps(key.key_default)}`"
    option = f"; on the command line `{key.option.replace(' ', '`, `')}`" if key.section else ""
    yield f"## {key.key}"
    yield f"{key.summary} {key.details}".strip().replace("**", r"\*\*")
    yield f"Wants {key.kind.wanted}; default {default}{option}."
    yield block(key.shown, "toml")
