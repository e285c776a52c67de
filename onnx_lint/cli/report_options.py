# SPDX-License-Identifier: Apache-2.0
"""The options of a request for the reporters."""

from __future__ import annotations

import os
import sys
from collections.abc import Container
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.configuration.errors import RunError
from onnx_lint.input.locations import shown_location
from onnx_lint.reporters import Options

if TYPE_CHECKING:
    import time

    from onnx_lint.configuration.settings import Request


def report_options(request: Request, forms: Container[str]) -> Options:
    """Return the options of the request for the reporters of these forms.

    Raises RunError if a form shows the time of the run, and the environment sets a wrong one.
    """
    changes: dict[str, Any] = {
        "color": False,  # standard output has it by what it is, see `for_standard_output`
        "root": request.sarif_root,
        # With --fail-on never, JUnit still shows as failed tests the findings that would fail the run.
        "failing": "error" if request.fail_on == "never" else request.fail_on,
        "has_command": "PRE_COMMIT" not in os.environ,
        "origin": _origin() if "html" in forms else "",
    }
    return Options(**request.carried(Options) | changes)


_COMMITS: Final = ("GITHUB_SHA", "CI_COMMIT_SHA", "BUILD_SOURCEVERSION")
"""The variables in which GitHub, GitLab and Azure state the commit."""


def _origin() -> str:
    """Return the time and the command of the run, and the commit if a CI service states it."""
    import shlex
    import time

    from onnx_lint.common.distribution import NAME

    command = shlex.join([NAME, *map(_shown_argument, sys.argv[1:])])
    commit = next((f"; commit {os.environ[name]}" for name in _COMMITS if os.environ.get(name)), "")
    return f"{time.strftime('%Y-%m-%d %H:%M UTC', _time_of_run())}: {command}{commit}"


def _time_of_run() -> time.struct_time:
    """Return the time that SOURCE_DATE_EPOCH sets, or else the current time. Raises RunError for a wrong time."""
    import time

    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if not seconds:
        return time.gmtime()
    try:
        if seconds.isdecimal():
            return time.gmtime(int(seconds))
    except (ValueError, OverflowError, OSError):  # more than a time can have
        pass
    raise RunError(f"the variable SOURCE_DATE_EPOCH requires a number of seconds since 1970, not {seconds!r:.60}")


def _shown_argument(argument: str) -> str:
    """Return an argument of the command line with addresses as reports show them, also as the value of an option."""
    if not argument.startswith("-"):
        return shown_location(argument)
    option, equals, value = argument.partition("=")
    return f"{option}{equals}{shown_location(value)}"
