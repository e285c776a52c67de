# SPDX-License-Identifier: Apache-2.0
"""A command whose help shows the options in sections."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]

COMMON: Final = "Common options"
"""The section that comes first."""

_SECTION = "__onnx_lint_section__"


def section(title: str, *options: Decorator) -> Decorator:
    """Return one decorator for several options, which the help shows under `title` in this order."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
            # click collects the parameters of a function before there is a command.
            parameter = function.__click_params__[-1]  # type: ignore[attr-defined]  # click sets it
            setattr(parameter, _SECTION, title)
        return function

    return decorate


class SectionedCommand(click.Command):
    """Shows its options under the titles of :func:`section`; options without one come last in the first section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of options for each section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        others: list[tuple[str, str]] = []
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                title = getattr(parameter, _SECTION, None)
                (others if title is None else sections.setdefault(title, [])).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl([*records, *others])
            others = []
