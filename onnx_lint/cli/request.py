# SPDX-License-Identifier: Apache-2.0
"""The request of a command line, also without click if it has only paths and common options."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Final

from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.configuration.settings import LEVELS, Request, Setting
from onnx_lint.spec.releases import normalized_domain

COMMANDS: Final = frozenset(("check", "explain", "fix", "new-rule", "rules", "shapes"))
"""The commands of the program. A path with such a name cannot be the first argument, except after `--`."""

STANDARD_INPUT: Final = "-"
"""The path that is standard input."""

_END_OF_OPTIONS: Final = "--"

_COMPLETE: Final = "_ONNX_LINT_COMPLETE"
"""The variable by which a shell asks click for completions."""


def refuse_ambiguous(arguments: Sequence[str]) -> None:
    """Raise RunError for an option or a command that is also the name of a file or folder here.

    pre-commit, xargs and a shell that expands `*` write names into the arguments that a stranger may have chosen.
    """
    for index, argument in enumerate(arguments):
        if argument.startswith("-") and argument != STANDARD_INPUT and os.path.lexists(argument):
            raise RunError(_AMBIGUOUS_END if argument == _END_OF_OPTIONS else _AMBIGUOUS_OPTION.format(argument))
        if argument == _END_OF_OPTIONS:
            if index and _needs_value(arguments[index - 1]):
                raise RunError(_NO_VALUE.format(arguments[index - 1]))
            return  # whoever wrote it knows which arguments are names, so a command before it is meant
    if arguments and arguments[0] in COMMANDS and os.path.lexists(arguments[0]):
        raise RunError(_AMBIGUOUS_COMMAND.format(arguments[0]))


def refuse_ambiguous_input(paths: Sequence[str]) -> None:
    """Raise RunError for `-` among the paths of a run, also after `--` or in a list, if a file has this name."""
    if STANDARD_INPUT in paths and os.path.lexists(STANDARD_INPUT):
        raise RunError(_AMBIGUOUS_INPUT)


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


def request_of_paths(arguments: Sequence[str]) -> Request | None:
    """Return the request for paths and common options, perhaps after `check`, without importing click.

    Returns None if there may be another option, a command, a variable or an error.
    """
    if arguments and arguments[0] == "check":
        arguments = arguments[1:]
    elif not arguments or arguments[0] in COMMANDS:
        return None
    split = _options_and_paths(arguments)
    if split is None or not split[1]:
        return None
    if _COMPLETE in os.environ:
        return None
    options, paths = split
    try:
        return request_of(paths, options, options)
    except RequestError:
        return None


def _options_and_paths(arguments: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]] | None:
    """Return the values of the options, and the paths; None for arguments that only click may parse."""
    options: dict[str, Any] = {}
    paths: list[str] = []
    left = iter(arguments)
    for argument in left:
        if not argument.startswith("-") or argument == STANDARD_INPUT:
            paths.append(argument)
            continue
        spelling, has_value, value = argument.partition("=")
        setting, flag = _spelled().get(spelling, (None, None))
        if setting is None or (has_value and (flag is not None or not spelling.startswith("--"))):
            return None
        found: Any = flag
        if flag is None:
            found = _value(setting, value if has_value else next(left, ""))
        if found is None:
            return None
        options[setting.field] = (*options.get(setting.field, ()), found) if setting.is_list else found
    return options, tuple(paths)


@cache
def _spelled() -> dict[str, tuple[Setting, bool | None]]:
    """Return the setting of each spelling of an option of `check`, and its value if it is a flag."""
    found: dict[str, tuple[Setting, bool | None]] = {}
    for setting in Request.settings.values():
        for spelling in setting.option.split() if setting.section and setting.field != "fixed_folder" else ():
            for name, flag in zip(spelling.split("/"), (not setting.default, setting.default), strict=False):
                found[name] = setting, flag if setting.kind.option == "flag" else None
    return found


def _needs_value(argument: str) -> bool:
    """Return whether the next argument is the value of this one: `--output`, `-o`, or `-qo`, but not `-oq`."""
    if argument.startswith("--"):
        return _takes_value(argument)
    first = next((index for index, letter in enumerate(argument) if _takes_value(f"-{letter}")), None)
    return argument.startswith("-") and first == len(argument) - 1


def _takes_value(spelling: str) -> bool:
    setting, flag = _spelled().get(spelling, (None, None))
    return setting is not None and flag is None


def _value(setting: Setting, text: str) -> Any:
    """Return the value of an option; None if click may convert it, or report an error."""
    kind = setting.kind.option
    if kind == "processes":
        return int(text) if text.isdecimal() and len(text) <= 4 and setting.kind.accepts(int(text)) else None
    is_as_written = text in setting.kind.allowed if kind == "choice" else kind in ("text", "names", "path")
    return text if is_as_written and text and not text.startswith("-") else None


def request_of(paths: tuple[str, ...], given: Iterable[str], options: Mapping[str, Any]) -> Request:
    """Return the request for options as they were written.

    Raises RequestError for an empty text or path, for a pattern that no path can match, and for a text that is no pair.

    Whether its rules, domains and limits exist is not checked here.
    """
    fields = frozenset(given)
    for field in fields:
        _check_texts(Request.settings[field], options[field])
    return Request(paths, fields, **{field: read(field, value) for field, value in options.items()})


def _check_texts(setting: Setting, value: Any) -> None:
    """Raise RequestError for a text that the kind of an option does not accept. Click checks the other kinds."""
    if setting.field in _CHECKS or setting.kind.option not in ("text", "names", "path", "folder", "new folder"):
        return
    for text in value if setting.is_list else [value]:
        if not setting.kind.accepts([text] if setting.is_list else text):
            shown = repr(text) if text else "an empty text"
            wanted = setting.kind.wanted.removeprefix("a list of ")
            raise RequestError(f"{setting.option.split()[-1]} requires {wanted}, not {shown}")


def read(field: str, value: Any) -> Any:
    """Return the value of a field of `Request` for an option as it was written."""
    if field not in _CHECKS:
        return value
    setting = Request.settings[field]
    split = _pairs_of_domains if field == "opset_imports" else _pairs
    return _CHECKS[field](setting, split(setting, value))


def read_mapping(field: str, values: Mapping[Any, Any]) -> Any:
    """Return the value of a field of `Request` whose option is pairs, for a mapping from Python."""
    return _CHECKS[field](Request.settings[field], [(str(key), str(value)) for key, value in values.items()])


_Pairs = Sequence[tuple[str, str]]
"""Names, each with a value as it was written; of several for one name, the last counts."""


def _pairs(setting: Setting, texts: Sequence[str]) -> _Pairs:
    """Return the pairs of comma-separated `NAME=VALUE`."""
    pairs: list[tuple[str, str]] = []
    for pair in (part.strip() for text in texts for part in text.split(",")):
        name, separator, value = pair.partition("=")
        if not separator:
            raise _unexpected(setting, pair)
        pairs.append((name, value))
    return pairs


def _pairs_of_domains(_: Setting, texts: Sequence[str]) -> _Pairs:
    """Return the pairs of `[DOMAIN=]N`; the default domain is empty."""
    parts = [text.rpartition("=") for text in texts]
    return [(domain, number) for domain, _, number in parts]


def _levels(_: Setting, pairs: _Pairs) -> dict[str, str]:
    levels = dict(pairs)
    for level in levels.values():
        if level not in LEVELS:
            raise RequestError(f"unknown severity {level!r}; the severities are {', '.join(LEVELS)}")
    return levels


def _limits(_: Setting, pairs: _Pairs) -> dict[str, str]:
    return dict(pairs)  # they are checked with those of the configuration


def _opset_versions(setting: Setting, pairs: _Pairs) -> dict[str, int]:
    """Return the versions by domain."""
    versions: dict[str, int] = {}
    for domain, number in pairs:
        try:
            versions[normalized_domain(domain.strip())] = int(number)
        except ValueError:
            raise _unexpected(setting, f"{domain}={number}" if domain else number) from None
    return versions


def _unexpected(setting: Setting, text: str) -> RequestError:
    return RequestError(f"{setting.option} expects {setting.metavar}, not {text!r}")


_CHECKS: Final[Mapping[str, Callable[[Setting, _Pairs], Any]]] = {
    "severities": _levels,
    "limits": _limits,
    "opset_imports": _opset_versions,
}
"""Return the values of the options that are pairs, by the field of `Request`."""
