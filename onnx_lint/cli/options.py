# SPDX-License-Identifier: Apache-2.0
"""Makes the options of click from the table of settings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import click
from click.core import ParameterSource

from onnx_lint.configuration.settings import CHECK, FIXES, Request, Setting
from onnx_lint.engine.value_kinds import MAX_PROCESSES
from onnx_lint.input.limits import MAX_SECONDS

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class _Jobs(click.IntRange):
    """The parameter type of a number of processes; `auto` is 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        return super().convert(0 if value == "auto" else value, param, ctx)


class _Seconds(click.FloatRange):
    """The parameter type of a time. A range of click would accept NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        found = super().convert(value, param, ctx)
        return self.fail(f"{value} is not a number of seconds.", param, ctx) if found != found else found


_TYPES: Final[Mapping[str, click.ParamType[Any]]] = {
    "text": click.STRING,
    "names": click.STRING,
    "whole": click.INT,
    "processes": _Jobs(min=0, max=MAX_PROCESSES),
    "seconds": _Seconds(min=0, min_open=True, max=MAX_SECONDS),
    "path": click.Path(),
    "folder": click.Path(exists=True, file_okay=False),
    "new folder": click.Path(file_okay=False),
}
"""The types of options by `ValueKind.option`; those of flags and choices follow from the setting."""


def given_of(ctx: click.Context, names: Iterable[str]) -> Iterator[str]:
    """Yield the names of the options that are set."""
    return (name for name in names if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE)


def options(*fields: str) -> Decorator:
    """Return the options of some fields of `Request`, which the help shows in this order."""
    found = [option for field in fields for option in _options_of(field)]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(found):
            function = option(function)
        return function

    return decorate


def _options_of(field: str) -> Iterable[Decorator]:
    setting = Request.settings[field]
    names = (*setting.option.split(), field)
    if setting.kind.option != "flag":
        yield click.option(*names, **_properties(setting))
    elif setting.default:
        text = f"Do not {setting.text[0].lower()}{setting.text[1:]}"
        yield click.option(*names, flag_value=False, default=True, type=bool, help=text)
    else:
        yield click.option(*names, is_flag=True, default=False, help=setting.text)


def _properties(setting: Setting) -> dict[str, Any]:
    kind = setting.kind
    properties: dict[str, Any] = {"metavar": setting.metavar, "help": setting.text}
    properties["type"] = click.Choice(kind.allowed) if kind.option == "choice" else _TYPES[kind.option]
    if setting.is_list:
        properties["multiple"] = True
    elif setting.default is not None:
        properties["default"] = setting.default
    return properties | {"show_default": setting.shows_default}


form_option: Final = click.option(
    "-f",
    "--format",
    "format_name",
    type=click.Choice(("text", "json")),
    default="text",
    show_default=True,
    help="The format of the output.",
)
"""The option of the commands that print a document, not a report."""

FIX: Final = (
    "diff",
    "unsafe_fixes",
    "fixed_folder",
    *(field for field in CHECK if field not in ("outputs", "cluster") and Request.settings[field].section != FIXES),
)
"""The fields that the options of `fix` set: first those that say what to change."""
