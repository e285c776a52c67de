# SPDX-License-Identifier: Apache-2.0
"""The command `check`: lints files and writes reports."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

from onnx_lint.cli import exit_codes
from onnx_lint.cli.choices import Plan, told_apart
from onnx_lint.cli.completion import complete_file_ignores, complete_limits, complete_selectors, complete_severities
from onnx_lint.cli.outputs import Output, parse_outputs, write_outputs
from onnx_lint.cli.paths import find_inputs, has_working_directory
from onnx_lint.cli.report_options import common_report_options, files_options, report_options, reporter_options
from onnx_lint.cli.sections import COMMON, SectionedCommand, section
from onnx_lint.cli.settings_options import baseline_options, configuration_options, target_options
from onnx_lint.spec.messages import FILE_MESSAGES
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS, VARIANTS

if TYPE_CHECKING:
    from onnx_lint.cli.lint_one import Task
    from onnx_lint.report import Report

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
    click.option("--pedantic", is_flag=True, help="Also what nearly every real model breaks."),
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
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(readable=False))
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
    if not has_working_directory():
        raise click.ClickException("the working directory is not there any more")
    plan = Plan(ctx, options)
    if options["show_settings"]:
        from onnx_lint.cli.show_settings import show_settings

        show_settings(paths, plan)
        ctx.exit(exit_codes.CLEAN)
    run = plan.of_run()
    outputs = parse_outputs(run["format_name"], options["outputs"])
    tasks = _tasks(paths, outputs, plan)
    before = time.process_time()
    report = _lint(tasks, plan)
    if plan.has_baseline:
        from onnx_lint.cli.baselines import with_baselines

        report = with_baselines(report, plan)
    code = exit_codes.of_report(report, lambda file: plan.of(file.path).fails(file.diagnostics))
    failing = "never" if options["exit_zero"] else run["fail_on"]
    start = time.perf_counter()
    if not write_outputs(
        report,
        outputs,
        reporter_options({**options, "documentation_url": run["documentation_url"]}, failing),
        color=options["color"],
    ):
        code = max(code, exit_codes.NOT_CHECKED)
    if options["timings"]:
        from onnx_lint.cli.timings import tell_timings

        sys.stdout.flush()
        tell_timings(report, before, time.perf_counter() - start)
    if code > exit_codes.FINDINGS:
        from onnx_lint.cli.failures import tell_failures

        group = ctx.parent.command if ctx.parent is not None else None
        tell_failures(report, group.commands if isinstance(group, click.Group) else ())
    ctx.exit(code)


def _tasks(paths: Sequence[str], outputs: Iterable[Output], plan: Plan) -> list[Task]:
    from onnx_lint.cli.lint_one import Task

    run = plan.of_run()
    inputs = find_inputs(paths, run["exclude"], may_be_none=run["allow_no_input"])
    for output in outputs:
        if output.path is not None and any(_is_same(output.path, item.path) for item in inputs):
            raise click.UsageError(f"the report would overwrite the model {output.path!r}")
    # All configurations are read before the first model, so that a fault in one is told at once.
    return [Task(item.path, plan.of(item.path).settings, item.problem) for item in inputs]


def _lint(tasks: Sequence[Task], plan: Plan) -> Report:
    from onnx_lint.cli.jobs import lint_all, processors
    from onnx_lint.cli.progress import ProgressBar, is_wanted
    from onnx_lint.engine import report_of

    run = plan.of_run()
    shown = is_wanted(no_progress=run["no_progress"], quiet=run["quiet"])
    with ProgressBar(len(tasks), wanted=shown, color=run["color"]) as bar:
        files = lint_all(tasks, run["jobs"] or processors(), bar.advance)
    settings = [task.settings for task in tasks]
    if not settings:
        click.echo("Nothing to lint: every file is excluded.", err=True)
    return report_of(told_apart(files, settings), settings[0] if settings else plan.of("-").settings)


def _is_same(output: str, path: str) -> bool:
    return path != "-" and os.path.realpath(output) == os.path.realpath(path)
