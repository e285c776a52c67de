# SPDX-License-Identifier: Apache-2.0
"""The command `check`: its options, and the request that they make."""

from __future__ import annotations

from typing import Any

import click

from onnx_lint.cli.errors import RequestError
from onnx_lint.cli.report_options import common_report_options, files_options, report_options, stdin_options
from onnx_lint.cli.request import Request
from onnx_lint.cli.rule_options import extent_options, gate_options, rule_options, selection_options
from onnx_lint.cli.run import run
from onnx_lint.cli.sections import SectionedCommand
from onnx_lint.cli.settings_options import baseline_options, configuration_options, given_of, target_options


@click.command("check", cls=SectionedCommand, short_help="Lint models; may be left out.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(readable=False))
@selection_options
@gate_options
@common_report_options
@rule_options
@target_options
@files_options
@stdin_options
@extent_options
@report_options
@baseline_options
@configuration_options
@click.pass_context
def check_command(ctx: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Lint models.

    PATH is a file, a directory (searched for .onnx, .onnxopset, .textproto, .txtpb and .pbtxt), a glob, - for standard
    input, or the address of one of these in a store, such as https://host/model.onnx, s3://bucket/models/ or
    hf://org/repo (with the extra remote). NAMES are separated by commas; options that take NAMES, GLOB, FILE or a
    pair may be repeated. A configuration file says the same once and for all: see onnx-lint config.
    """
    if not paths and options["files_from"] is None:
        raise click.UsageError("Missing argument 'PATH...'.")
    try:
        code = run(Request(paths, given_of(ctx, options), **options))
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    ctx.exit(code)
