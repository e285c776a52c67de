# SPDX-License-Identifier: Apache-2.0
"""The command `shapes`: its options, and the request that they make."""

from __future__ import annotations

from typing import Any

import click

from onnx_lint.cli.errors import RequestError
from onnx_lint.cli.request import COMMAND_LINE, Request
from onnx_lint.cli.shared_options import config_option, form_option, no_config_option, opset_schema_option


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
@click.option("--no-external-data", "external_data", flag_value=False, default=True, type=bool, help="Do not look "
              "at external data files.")  # fmt: skip
@opset_schema_option
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a limit, such as memory=4GiB.",
)
@config_option
@no_config_option
@click.pass_context
def shapes_command(
    ctx: click.Context, /, model: str, format_name: str, name: str | None, graph: str | None, **options: Any
) -> None:
    """Show the inferred types and shapes of the values of MODEL, a file or - for standard input.

    A function is listed once for each call with different argument types. A question mark replaces a type or shape
    that cannot be inferred; beside it is the operator or input that is the reason.
    """
    from onnx_lint.cli.run_shapes import run_shapes

    given = {parameter: COMMAND_LINE for parameter, value in options.items() if value not in (True, False, ())}
    given |= {} if options["external_data"] else {"external_data": COMMAND_LINE}
    try:
        code = run_shapes(model, Request((model,), given, **options), name, graph, format_name)
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    ctx.exit(code)
