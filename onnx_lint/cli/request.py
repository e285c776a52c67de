# SPDX-License-Identifier: Apache-2.0
"""The request of a command line that has little more than paths, without click."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

from onnx_lint.configuration.settings import Request

COMMANDS: Final = frozenset(
    [
        "cache",
        "check",
        "clauses",
        "completions",
        "config",
        "explain",
        "fix",
        "new-rule",
        "rules",
        "shapes",
    ]
)
"""The commands of the program. A path with such a name cannot be the first argument."""

_ENVIRONMENT: Final = ("ONNX_LINT_", "_ONNX_LINT_")
"""The prefixes of environment variables that set options or ask for completions."""

COMMAND_LINE: Final = "command line"
ENVIRONMENT: Final = "environment"
"""The sources of an option."""


def request_of_paths(arguments: Sequence[str]) -> Request | None:
    """Return the request for arguments that are paths, perhaps with `--jobs N` or `--cache`, without importing click.

    Returns None if there may be another option, a command, a variable or an error.
    """
    if not arguments or arguments[0] in COMMANDS:
        return None
    options, paths = _options_and_paths(arguments)
    if not paths or any(path.startswith("-") and path != "-" for path in paths):
        return None
    variables = {name for name in os.environ if name.startswith(_ENVIRONMENT)}
    if variables:
        from onnx_lint.cache.folder import VARIABLE

        if variables != {VARIABLE}:
            return None
    if "jobs" in options:
        jobs = options["jobs"]
        if not jobs.isdecimal() or len(jobs) > 4:  # a number of five digits or more is left to click
            return None
        options["jobs"] = int(jobs)
    return Request(paths, dict.fromkeys(options, COMMAND_LINE), **options)


def _options_and_paths(arguments: Sequence[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the options that stand among the paths, the last of each, and the other arguments.

    The number of jobs is a text.
    """
    options: dict[str, Any] = {}
    others: list[str] = []
    left = iter(arguments)
    for argument in left:
        if argument in ("-j", "--jobs"):
            options["jobs"] = next(left, "")
        elif argument.startswith("--jobs="):
            options["jobs"] = argument.removeprefix("--jobs=")
        elif argument in ("--cache", "--no-cache"):
            options["cache"] = argument == "--cache"
        else:
            others.append(argument)
    return options, tuple(others)
