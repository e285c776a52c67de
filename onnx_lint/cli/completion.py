# SPDX-License-Identifier: Apache-2.0
"""Completion in shells: the command that writes the scripts, and what follows the options that want names."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from onnx_lint.cli.streams import standard_output

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

PROGRAM = "onnx-lint"
COMPLETE_VARIABLE = "_ONNX_LINT_COMPLETE"
"""By this variable the scripts ask the program for completions; click forms its name from the program's."""

_EPILOG = """
\b
To turn it on:
  bash   eval "$(onnx-lint completions bash)"         in ~/.bashrc
  zsh    eval "$(onnx-lint completions zsh)"          in ~/.zshrc, after compinit
  fish   onnx-lint completions fish > ~/.config/fish/completions/onnx-lint.fish
  There is none for PowerShell.
"""


@click.command("completions", short_help="Write a script that completes in a shell.", epilog=_EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.pass_context
def completions_command(ctx: click.Context, shell: str) -> None:
    """Write a script with which SHELL completes commands, options, names of rules, and files."""
    from click.shell_completion import get_completion_class

    from onnx_lint.cli.bash_words import register

    register()
    completion = get_completion_class(shell)
    if completion is None:
        raise click.UsageError(f"click knows no completion for {shell!r}")
    program = ctx.find_root().command
    # The script itself, without the look at the bash that happens to be installed where it is written.
    script = completion(program, {}, PROGRAM, COMPLETE_VARIABLE)
    with standard_output() as stream:
        stream.write(script.source_template % script.source_vars())


Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem[str]]"]


def _by(name: str) -> Completer:
    """The function of that name in `completed_values`, which is imported when a shell asks."""

    def complete(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        from onnx_lint.cli import completed_values

        found: list[CompletionItem[str]] = getattr(completed_values, name)(incomplete)
        return found

    return complete


complete_selectors = _by("selectors")
complete_rules_and_clauses = _by("rules_and_clauses")
complete_keys = _by("keys")
complete_severities = _by("severities")
complete_limits = _by("limits")
complete_file_ignores = _by("file_ignores")
complete_outputs = _by("outputs")
complete_configurations = _by("configurations")
complete_files = _by("files")
