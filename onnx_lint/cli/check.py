# SPDX-License-Identifier: Apache-2.0
"""The command `check`: its options, and the request that they make."""

from __future__ import annotations

from typing import Any, Final

import click
from click.core import ParameterSource

from onnx_lint.cli.completion import (
    complete_file_ignores,
    complete_files,
    complete_limits,
    complete_selectors,
    complete_severities,
)
from onnx_lint.cli.errors import RequestError
from onnx_lint.cli.report_options import common_report_options, files_options, report_options
from onnx_lint.cli.request import COMMAND_LINE, ENVIRONMENT, Request
from onnx_lint.cli.run import run
from onnx_lint.cli.sections import COMMON, SectionedCommand, section
from onnx_lint.cli.settings_options import baseline_options, configuration_options, target_options
from onnx_lint.spec.messages import FILE_MESSAGES
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS, VARIANTS

_SOURCES: Final = {
    ParameterSource.COMMANDLINE: COMMAND_LINE,
    ParameterSource.PROMPT: COMMAND_LINE,
    ParameterSource.ENVIRONMENT: ENVIRONMENT,
}

edition_option = click.option(
    "--edition",
    type=click.Choice(EDITIONS),
    metavar="EDITION",
    default=DEFAULT_STANDARD.edition,
    show_default=True,
    help=f"The specification of ONNX {', '.join(EDITIONS[:-1])} or {EDITIONS[-1]}.",
)

_selection_options = section(
    COMMON,
    click.option(
        "--select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_selectors,
        help="Only these: rules, chapters, MUST, SHOULD, ALL.",
    ),
    click.option("--ignore", multiple=True, metavar="NAMES", shell_complete=complete_selectors, help="None of these."),
    click.option("--pedantic", is_flag=True, help="Also what nearly every real model breaks, each by itself."),
    edition_option,
)

_gate_options = section(
    COMMON,
    click.option(
        "--fail-on",
        type=click.Choice(("error", "warning", "note", "never")),
        metavar="LEVEL",
        default="error",
        show_default=True,
        help="Least severity that exits with 1: error, warning, note or never.",
    ),
)

_rule_options = section(
    "Rules and severities",
    click.option(
        "--extend-select",
        multiple=True,
        metavar="NAMES",
        shell_complete=complete_selectors,
        help="These besides the others.",
    ),
    click.option(
        "--per-file-ignores",
        multiple=True,
        metavar="GLOB:NAMES",
        shell_complete=complete_file_ignores,
        help="None of these for some files.",
    ),
    click.option(
        "--severity",
        "severities",
        multiple=True,
        metavar="RULE=LEVEL",
        shell_complete=complete_severities,
        help="Make a rule error, warning, note or off.",
    ),
    click.option(
        "--min-severity",
        type=click.Choice(("error", "warning", "note")),
        metavar="LEVEL",
        default="note",
        show_default=True,
        help="Report nothing less severe than error, warning or note.",
    ),
    click.option("--errors-only", "min_severity", flag_value="error", help="The same as --min-severity error."),
    click.option("--exit-zero", is_flag=True, help="The same as --fail-on never."),
    click.option(
        "--variant",
        type=click.Choice(VARIANTS),
        metavar="VARIANT",
        default=DEFAULT_STANDARD.variant,
        show_default=True,
        help="onnx-ml or onnx, without classical learning.",
    ),
)

_extent_options = section(
    "What is read",
    click.option(
        "--proto",
        type=click.Choice(FILE_MESSAGES),
        metavar="MESSAGE",
        help="The message that files hold, such as TensorProto.",
    ),
    click.option(
        "--opset-import",
        "opset_imports",
        multiple=True,
        metavar="[DOMAIN=]N",
        help="The operator set that graphs and nodes without a model are meant for.",
    ),
    click.option(
        "--no-external-data",
        "external_data",
        flag_value=False,
        default=True,
        type=bool,
        help="Leave files of tensors beside the model alone.",
    ),
    click.option("--follow-links", is_flag=True, help="Follow links to such files inside the model's folder."),
    click.option(
        "--external-data-root",
        "external_data_roots",
        multiple=True,
        metavar="DIR",
        shell_complete=complete_files,
        help="Follow links to such files into this folder, too.",
    ),
    click.option("--verify-checksums", is_flag=True, help="Read such files, and compare their checksums."),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        shell_complete=complete_limits,
        help="Set a limit, such as nodes or findings_per_rule.",
    ),
)


@click.command("check", cls=SectionedCommand, short_help="Lint models; may be left out.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(readable=False))
@_selection_options
@_gate_options
@common_report_options
@_rule_options
@target_options
@files_options
@_extent_options
@report_options
@baseline_options
@configuration_options
@click.pass_context
def check_command(ctx: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Lint models.

    PATH is a file, a directory (searched for .onnx, .onnxopset, .textproto, .txtpb and .pbtxt), a glob, or - for
    standard input. NAMES are separated by commas; options that take NAMES, GLOB, FILE or a pair may be repeated. A
    configuration file says the same once and for all: see onnx-lint config.
    """
    if not paths and options["files_from"] is None:
        raise click.UsageError("Missing argument 'PATH...'.")
    sources = {name: ctx.get_parameter_source(name) for name in options}
    given = {name: _SOURCES[source] for name, source in sources.items() if source in _SOURCES}
    try:
        code = run(Request(paths, given, **options))
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    ctx.exit(code)
