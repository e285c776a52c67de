# SPDX-License-Identifier: Apache-2.0
"""A command whose help shows the options in sections."""

from __future__ import annotations

import click

from onnx_lint.configuration.settings import RENAMED, Request


class SectionedCommand(click.Command):
    """Shows the options of settings in their sections; other options come last in the first section."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments. An option of an earlier release is an error that names the new one."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            if error.option_name not in RENAMED:
                raise
            raise click.UsageError(f"no such option {error.option_name}; write {RENAMED[error.option_name]}") from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of options for each section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        others: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                setting = Request.settings.get(parameter.name or "")
                (others if setting is None else sections.setdefault(setting.section, [])).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([*records, *others])
            others = []
