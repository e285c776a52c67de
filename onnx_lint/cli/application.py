# SPDX-License-Identifier: Apache-2.0
"""The program `onnx-lint`: its commands, the default command `check`, and the handling of uncaught exceptions."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from onnx_lint.cli import exit_codes
from onnx_lint.cli.catalogue import explain_command, rules_command
from onnx_lint.cli.commands import check_command, fix_command, shapes_command
from onnx_lint.cli.new_rule import new_rule_command
from onnx_lint.cli.standard_streams import ClosedPipeError
from onnx_lint.cli.streams import standard_output
from onnx_lint.common.distribution import NAME
from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.reporters.escape import visible
from onnx_lint.spec.standard import DEFAULT_STANDARD
from onnx_lint.version import __version__

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_EPILOG = """
\b
Exit codes:
  0    no finding at or above --fail-on
  1    findings at or above --fail-on
  2    wrong usage, or a file that was not checked
  3    an internal error of onnx-lint
  130  interrupted

\b
Examples:
  onnx-lint model.onnx
  onnx-lint models/ --fail-on warning -o sarif=onnx-lint.sarif
  onnx-lint explain duplicate-definition
"""


class _DefaultCommandGroup(click.Group):
    """A group with a default command: `onnx-lint PATH...` is `onnx-lint check PATH...`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert `check` unless the first argument is a command or an option of the group."""
        if not args and not ctx.resilient_parsing:
            click.echo(self.get_help(ctx), err=True)
            ctx.exit(exit_codes.NOT_CHECKED)
        own = {*self.commands, *ctx.help_option_names, "--version"}
        if args and args[0] not in own:
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[str]]:
        """Offer the commands, and the options and files of `check`."""
        from click.shell_completion import CompletionItem

        context = click.Context(check_command, info_name="check", parent=ctx, resilient_parsing=True)
        options = check_command.shell_complete(context, incomplete)
        own = super().shell_complete(ctx, incomplete)
        known = {item.value for item in own}
        # bash takes the type of the last item for all of them, so files come first.
        return [CompletionItem(incomplete, type="file"), *own, *(item for item in options if item.value not in known)]

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the short form, without `check`."""
        formatter.write_usage(ctx.command_path, "[OPTIONS] PATH...")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]...")


def _version(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    from onnx_lint.spec.releases import DEFAULT_DOMAIN, ML_DOMAIN, NEWEST_IR_VERSION, NEWEST_OPSET

    opsets = f"ai.onnx {NEWEST_OPSET[DEFAULT_DOMAIN]}, {ML_DOMAIN} {NEWEST_OPSET[ML_DOMAIN]}"
    standard = f"ONNX {DEFAULT_STANDARD.edition}, IR version {NEWEST_IR_VERSION}, {opsets}"
    with standard_output() as stream:
        stream.write(f"onnx-lint {__version__} ({standard})\n")
    ctx.exit()


@click.group(
    cls=_DefaultCommandGroup,
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option(
    "--version",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_version,
    help="Show the version, and the newest versions of ONNX that it supports.",
)
def application() -> None:
    """Check whether ONNX models conform to the ONNX specification.

    PATH is a file, a directory, - for standard input, or a URL such as s3://bucket/models/. The options are listed by
    onnx-lint check --help.
    """


for _command in (
    check_command,
    fix_command,
    explain_command,
    rules_command,
    shapes_command,
    new_rule_command,
):
    application.add_command(_command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code. No exception leaves it."""
    try:
        code = application.main(arguments, prog_name=NAME, standalone_mode=False)
    except click.NoSuchOption as error:
        from onnx_lint.cli.other_linters import WRITTEN_FOR

        if error.option_name in WRITTEN_FOR:
            # To type checkers, click calls the attributes final.
            text = f"no such option {error.option_name}: write {WRITTEN_FOR[error.option_name]}"
            error.__dict__.update(message=text, possibilities=None)
        error.show()
        return exit_codes.NOT_CHECKED
    except click.ClickException as error:
        # Names of files may have control characters. To type checkers, click calls the attribute final.
        error.__dict__["message"] = visible(error.message)
        error.show()
        return exit_codes.NOT_CHECKED
    except RunError as error:
        sys.stderr.write(f"Error: {error}\n")
        return exit_codes.NOT_CHECKED
    except (click.Abort, KeyboardInterrupt):
        return exit_codes.INTERRUPTED
    except ClosedPipeError:
        return exit_codes.CLEAN
    except Exception as error:
        from onnx_lint.cli.crash import report_crash

        report_crash(error)
        return exit_codes.INTERNAL_ERROR
    return code if isinstance(code, int) else exit_codes.CLEAN


def print_usage_error(problem: RequestError) -> None:
    """Print an error about the request, with the usage line of click."""
    program = click.Context(application, info_name=NAME, **application.context_settings)
    click.UsageError(str(problem), click.Context(check_command, program, "check")).show()
