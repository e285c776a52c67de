# SPDX-License-Identifier: Apache-2.0
"""Options that several commands share."""

from __future__ import annotations

import click

form_option = click.option(
    "-f",
    "--format",
    "format_name",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="The format of the output.",
)

opset_schema_option = click.option(
    "--opset-schema",
    "opset_schemas",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Read the operators of a custom domain from this file.",
)

config_option = click.option(
    "--config",
    multiple=True,
    metavar="FILE|KEY=VALUE",
    type=click.Path(),
    help="Use this configuration file instead of the nearest one, or set one key.",
)

no_config_option = click.option("--no-config", is_flag=True, help="Ignore configuration files.")

plugin_option = click.option(
    "--plugin",
    "plugins",
    multiple=True,
    metavar="FILE",
    type=click.Path(),
    help="Also run the rules in this Python file.",
)
