# SPDX-License-Identifier: Apache-2.0
"""A command whose help shows the options in sections."""

from __future__ import annotations

import click

from onnx_lint.cli.streams import standard_output
from onnx_lint.configuration.settings import COMMON, FIXES, SECTIONS, Request, Setting

_SHOWS_ALL = f"{__name__}.shows_all"


class SectionedCommand(click.Command):
    """Shows the options of settings in their sections; other options come last in the common one.

    `--help` leaves out options that few need, and `--help-all` shows them as well.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with `--help-all` as the last."""
        return [*super().get_params(ctx), _HELP_ALL]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of options for each section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        others: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            setting = Request.settings.get(parameter.name or "")
            if setting is not None and not ctx.meta.get(_SHOWS_ALL) and self._is_rare(setting):
                continue
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                (others if setting is None else sections.setdefault(setting.section, [])).append(record)
        sections.setdefault(COMMON, []).extend(others)
        order = sorted(SECTIONS, key=lambda title: self.name != "fix" or title != FIXES)
        for title in filter(sections.__contains__, order):
            with formatter.section(title):
                formatter.write_dl(sections[title])

    def _is_rare(self, setting: Setting) -> bool:
        return setting.is_rare and not (setting.section == FIXES and self.name == "fix")


def _show_all(ctx: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        ctx.meta[_SHOWS_ALL] = True
        with standard_output() as stream:
            stream.write(f"{ctx.get_help()}\n")
        ctx.exit()


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_show_all,
    help="Show all options, also those that few need.",
)
