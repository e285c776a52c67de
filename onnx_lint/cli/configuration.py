# SPDX-License-Identifier: Apache-2.0
"""The command `config`: the keys of configuration files, and a file to start from."""

from __future__ import annotations

import json
import os

import click

from onnx_lint.cli.streams import report_file, standard_output
from onnx_lint.configuration.documents import configuration_schema, described, starter_file
from onnx_lint.configuration.settings import keys
from onnx_lint.reporters.escape import shown_path
from onnx_lint.wording import suggestion


@click.command("config", short_help="Document configuration files.")
@click.argument("key", required=False, metavar="[KEY]")
@click.option("--init", is_flag=True, help="Print a file to start from, with every key as a comment.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of configuration files.")
@click.option("-o", "--output", metavar="PATH", help="Write to this new file instead of standard output.")
def config_command(key: str | None, init: bool, schema: bool, output: str | None) -> None:
    """List the keys of configuration files, or explain KEY.

    The configuration of a model is the nearest onnx-lint.toml, .onnx-lint.toml or pyproject.toml (with a table
    [tool.onnx-lint]) in its folder or above.
    """
    if sum((key is not None, init, schema)) > 1:
        raise click.UsageError("KEY, --init and --schema cannot be combined")
    text = _text(key, init=init, schema=schema)
    if output is None:
        with standard_output() as stream:
            stream.write(text)
        return
    if os.path.lexists(output):
        raise click.ClickException(f"{shown_path(output)}: the file exists already")
    with report_file(output) as stream:
        stream.write(text)


def _text(key: str | None, *, init: bool, schema: bool) -> str:
    if init:
        return starter_file()
    if schema:
        return json.dumps(configuration_schema(), indent=2) + "\n"
    if key is None:
        width = max(map(len, keys()))
        return "".join(f"{name.ljust(width)}  {known.summary}\n" for name, known in keys().items())
    if key not in keys():
        raise click.UsageError(f"unknown key {key!r}{suggestion(key, keys())}")
    return described(keys()[key])
