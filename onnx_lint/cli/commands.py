# SPDX-License-Identifier: Apache-2.0
"""The commands `check`, `fix` and `shapes`. What they run is imported when they do."""

from __future__ import annotations

from typing import Any

import click

from onnx_lint.cli.options import FIX, form_option, given_of, options
from onnx_lint.cli.request import request_of
from onnx_lint.cli.sections import SectionedCommand
from onnx_lint.configuration.errors import RequestError
from onnx_lint.configuration.settings import CHECK


@click.command("check", cls=SectionedCommand, short_help="Check models (the default command).")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(readable=False))
@options(*CHECK)
@click.pass_context
def check_command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Check whether models conform to the ONNX specification.

    PATH is a file, a directory (searched for .onnx, .onnxopset, .textproto, .txtpb and .pbtxt, and for .prototxt and
    .onnxtxt files that begin like a model), a glob, or - for standard input. With the extra "remote" it is also a URL,
    such as https://host/model.onnx, s3://bucket/models/ or hf://org/repo. After -- every argument is a PATH. NAMES are
    separated by commas. Options that take NAMES, GLOB, FILE or a pair can be repeated. All settings can also be written
    to a configuration file: the nearest onnx-lint.toml, .onnx-lint.toml or pyproject.toml (table [tool.onnx-lint]) in
    the model's folder or above.
    """
    _check(ctx, paths, given)


@click.command("fix", cls=SectionedCommand, short_help="Fix what can be fixed, and change nothing else.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(readable=False))
@options(*FIX)
@click.pass_context
def fix_command(ctx: click.Context, /, paths: tuple[str, ...], **given: Any) -> None:
    """Fix what can be fixed in models, and report the other findings.

    Only the bytes that a fix names change. The new file is checked before it replaces the old one. A model on standard
    input goes to standard output, and the report to standard error. PATH and all other options are those of
    onnx-lint check, but there is no -o; onnx-lint --fix -o json=report.json PATH writes a report to a file.
    """
    _check(ctx, paths, {**given, "fix": True})


def _check(ctx: click.Context, paths: tuple[str, ...], given: dict[str, Any]) -> None:
    if not paths and given["files_from"] is None:
        raise click.UsageError("Missing argument 'PATH...'.")
    from onnx_lint.cli.run import run  # late: other commands, and --help, import this module

    try:
        code = run(request_of(paths, given, given_of(ctx, given)))
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    ctx.exit(code)


@click.command("shapes", short_help="Show the inferred types and shapes of a model's values.")
@click.argument("model", metavar="MODEL", type=click.Path(readable=False))
@form_option
@options("external_data", "opset_schemas", "limits", "config", "no_config")
@click.pass_context
def shapes_command(ctx: click.Context, /, model: str, format_name: str, **given: Any) -> None:
    """Show the inferred types and shapes of the values of MODEL, a file or - for standard input.

    A function is listed once for each call with different argument types. "?" replaces a type that cannot be inferred,
    "of unknown rank" a shape; beside it is the operator or input that is the reason.
    """
    from onnx_lint.cli.run_shapes import run_shapes

    try:
        code = run_shapes(model, request_of((model,), given, given_of(ctx, given)), format_name)
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    ctx.exit(code)
