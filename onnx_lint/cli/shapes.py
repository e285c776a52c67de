# SPDX-License-Identifier: Apache-2.0
"""The command `shapes`: its options, and the request that they make."""

from __future__ import annotations

from typing import Any

import click

from onnx_lint.cli.options import form_option, given_of, options
from onnx_lint.cli.request import request_of
from onnx_lint.configuration.errors import RequestError


@click.command("shapes", short_help="Show the inferred types and shapes of a model's values.")
@click.argument("model", metavar="MODEL", type=click.Path(readable=False))
@form_option
@click.option("--value", "name", metavar="NAME", help="Show only the values of this name, and how each was inferred.")
@click.option(
    "--graph",
    "graph",
    metavar="PLACE",
    help="Show only this graph or function, such as graph, functions[0] or graph.node[3].attribute[0].g.",
)
@options("external_data", "opset_schemas", "limits", "config", "no_config")
@click.pass_context
def shapes_command(
    ctx: click.Context, /, model: str, format_name: str, name: str | None, graph: str | None, **given: Any
) -> None:
    """Show the inferred types and shapes of the values of MODEL, a file or - for standard input.

    A function is listed once for each call with different argument types. "?" replaces a type that cannot be inferred,
    "of unknown rank" a shape; beside it is the operator or input that is the reason.
    """
    from onnx_lint.cli.run_shapes import run_shapes

    try:
        code = run_shapes(model, request_of((model,), given_of(ctx, given), given), name, graph, format_name)
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    ctx.exit(code)
