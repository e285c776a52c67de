# SPDX-License-Identifier: Apache-2.0
"""Options that several commands have alike."""

from __future__ import annotations

import click

from onnx_lint.cli.completion import complete_configurations, complete_files

form_option = click.option(
    "-f",
    "--format",
    "format_name",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="The form of the output.",
)

opset_schema_option = click.option(
    "--opset-schema",
    "opset_schemas",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help="Describes the operators of a domain of your own.",
)

config_option = click.option(
    "--config",
    multiple=True,
    metavar="FILE|KEY=VALUE",
    shell_complete=complete_configurations,
    help="Use this file, not the nearest; or set a key.",
)

no_config_option = click.option("--no-config", is_flag=True, help="Look for no configuration file.")
