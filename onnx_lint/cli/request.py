# SPDX-License-Identifier: Apache-2.0
"""The request of a command line, also without click if it has only paths and common options."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.configuration.settings import CHECK, Request, Setting

COMMANDS: Final = frozenset(("check", "explain", "fix", "new-rule", "rules", "shapes"))
"""The commands of the program. A path with such a name cannot be the first argument, except after `--`."""

STANDARD_INPUT: Final = "-"
"""The path that is standard input."""

_END_OF_OPTIONS: Final = "--"

_COMPLETE: Final = "_ONNX_LINT_COMPLETE"
"""The variable by which a shell asks click for completions."""


_AMBIGUOUS_OPTION: Final = (
    "'{0}' begins like an option, but a file or folder has this name: write -- before all paths, or ./ before this "
    "one; rename it to use the option"
)
_AMBIGUOUS_END: Final = (
    "'--' ends the options, but a file or folder has this name: write ./ before all paths instead of --, or rename it"
)
_AMBIGUOUS_INPUT: Final = (
    "'-' is standard input, but a file or folder has this name: write ./- for the path, or rename it to use standard "
    "input"
)
_NO_VALUE: Final = "'{0}' has no value: '--' after it ends the options"
"""click would take `--` for the value, for example in `--exclude $UNSET -- *.onnx`, and the names for options."""
_AMBIGUOUS_COMMAND: Final = (
    "'{0}' is a command, and a file or folder here has this name: write onnx-lint -- {0} for the file or folder, or "
    "onnx-lint {0} [OPTIONS] -- ... for the command"
)


def refuse_ambiguous(arguments: Sequence[str]) -> None:
    """Raise RunError for an option or a command that is also the name of a file or folder here.

    pre-commit, xargs and a shell that expands `*` write names into the arguments that a stranger may have chosen.
    """
    is_value = False  # whether the argument is the value of the option before it
    for index, argument in enumerate(arguments):
        if argument.startswith("-") and argument != STANDARD_INPUT and os.path.lexists(argument):
            raise RunError(_AMBIGUOUS_END if argument == _END_OF_OPTIONS else _AMBIGUOUS_OPTION.format(argument))
        if argument == _END_OF_OPTIONS:
            if is_value:
                raise RunError(_NO_VALUE.format(arguments[index - 1]))
            return  # whoever wrote it knows which arguments are names, so a command before it is meant
        is_value = not is_value and _needs_value(argument)
    if arguments and arguments[0] in COMMANDS and os.path.lexists(arguments[0]):
        raise RunError(_AMBIGUOUS_COMMAND.format(arguments[0]))


def refuse_ambiguous_input(paths: Sequence[str]) -> None:
    """Raise RunError for `-` among the paths of a run, also after `--` or in a list, if a file has this name."""
    if STANDARD_INPUT in paths and os.path.lexists(STANDARD_INPUT):
        raise RunError(_AMBIGUOUS_INPUT)


def request_of_paths(arguments: Sequence[str]) -> Request | None:
    """Return the request for paths and common options, perhaps after `check`, without importing click.

    Returns None if there may be another option, a command, a variable or an error.
    """
    if arguments and arguments[0] == "check":
        arguments = arguments[1:]
    elif not arguments or arguments[0] in COMMANDS:
        return None
    if _COMPLETE in os.environ:
        return None
    try:
        options, paths = _options_and_paths(arguments)
        return request_of(paths, options) if paths else None
    except (_NeedsClickError, RequestError):
        return None


class _NeedsClickError(Exception):
    """Raised for arguments that only click may parse, or report as an error."""


class _Spelling(Record):
    """A spelling of an option of `check`."""

    setting: Setting
    flag_value: bool | None
    """The value that a flag sets; None for an option that takes a value."""


@cache
def _spellings() -> dict[str, _Spelling]:
    """Return the spellings of the options of `check`, by their text."""
    settings = (Request.settings[field] for field in CHECK)
    return {text: _Spelling(each, value) for each in settings for text, value in each.spellings.items()}


def _options_and_paths(arguments: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the values of the options by field, and the paths. Raises _NeedsClickError."""
    options: dict[str, Any] = {}
    paths: list[str] = []
    left = iter(arguments)
    for argument in left:
        if not argument.startswith("-") or argument == STANDARD_INPUT:
            paths.append(argument)
            continue
        text, has_value, value = argument.partition("=")
        spelling = _spellings().get(text)
        if spelling is None or (has_value and (spelling.flag_value is not None or not text.startswith("--"))):
            raise _NeedsClickError
        found: Any = spelling.flag_value
        if found is None:
            found = _value(spelling.setting, value if has_value else next(left, ""))
        field = spelling.setting.field
        options[field] = (*options.get(field, ()), found) if spelling.setting.is_list else found
    return options, tuple(paths)


def _needs_value(argument: str) -> bool:
    """Return whether the next argument is the value of this one: `--output`, `-o`, or `-qo`, but not `-oq`."""
    if not argument.startswith("-"):
        return False
    if argument.startswith("--"):
        return _takes_value(argument)
    first = next((index for index, letter in enumerate(argument) if _takes_value(f"-{letter}")), None)
    return first == len(argument) - 1


def _takes_value(text: str) -> bool:
    spelling = _spellings().get(text)
    return spelling is not None and spelling.flag_value is None


def _value(setting: Setting, text: str) -> str | int:
    """Return the value of an option. Raises _NeedsClickError if only click may convert it."""
    kind = setting.kind.option
    if kind == "processes" and text.isdecimal() and len(text) <= 4 and setting.kind.accepts(int(text)):
        return int(text)
    is_as_written = text in setting.kind.allowed if kind == "choice" else kind in ("text", "names", "path")
    if is_as_written and text and not text.startswith("-"):
        return text
    raise _NeedsClickError


def request_of(paths: tuple[str, ...], options: Mapping[str, Any], given: Iterable[str] | None = None) -> Request:
    """Return the request for options as they were written. `given`: the fields that are set; None for all `options`.

    Raises RequestError for an empty text or path, for a pattern that no path can match, and for a text that is no pair.

    Whether its rules, domains and limits exist is not checked here.
    """
    fields = frozenset(options if given is None else given)
    for field in fields:
        _check_texts(Request.settings[field], options[field])
    return Request(
        paths, fields, **{field: _converted(Request.settings[field], value) for field, value in options.items()}
    )


def _check_texts(setting: Setting, value: Any) -> None:
    """Raise RequestError for a text that the kind of an option does not accept. Click checks the other kinds."""
    if setting.is_pairs or setting.kind.option not in ("text", "names", "path", "folder", "new folder"):
        return
    for text in value if setting.is_list else [value]:
        if not setting.kind.accepts([text] if setting.is_list else text):
            shown = repr(text) if text else "an empty text"
            wanted = setting.kind.wanted.removeprefix("a list of ")
            raise RequestError(f"{setting.option.split()[-1]} requires {wanted}, not {shown}")


def _converted(setting: Setting, value: Any) -> Any:
    """Return the value of a field of `Request` for an option as it was written."""
    if not setting.is_pairs:
        return value
    from onnx_lint.configuration.pairs import from_texts

    return from_texts(setting, value)
