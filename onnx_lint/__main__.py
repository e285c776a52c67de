# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations

import signal
import sys

TYPE_CHECKING = False  # type checkers know this name; importing typing would cost time
if TYPE_CHECKING:
    from typing import Any


def main() -> None:
    """Run the command line, and raise SystemExit."""
    _change_interrupt(signal.default_int_handler, signal.SIG_DFL)  # no traceback while modules are loaded
    sys.exit(_run_and_flush())


command = main
"""The console script."""


def _run_and_flush() -> int:
    """Run the command line with prepared standard streams, flush them, and return the exit code."""
    from onnx_lint.common.memory import collector_off_until_exit

    with collector_off_until_exit():
        from onnx_lint.cli import standard_streams

        standard_streams.prepare()
        return standard_streams.final_code(_run())


def _change_interrupt(old: Any, new: Any) -> None:
    """Replace the action of Ctrl-C if it is `old`, and this is the thread that may."""
    try:
        if signal.getsignal(signal.SIGINT) == old:
            signal.signal(signal.SIGINT, new)
    except ValueError:
        pass


def _run() -> int:
    """Run the command line, and return the exit code. No exception leaves it."""
    try:
        return _code(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("\n")  # the prompt of the shell would be on the line of ^C
        return 130  # exit_codes.INTERRUPTED
    except MemoryError:
        sys.stderr.write("Error: there is not enough memory\n")
        return 3  # exit_codes.INTERNAL_ERROR
    except Exception as error:
        from onnx_lint.cli.crash import report_crash

        report_crash(error)
        return 3  # exit_codes.INTERNAL_ERROR


def _code(arguments: list[str]) -> int:
    """Run the command that the arguments name, and return the exit code.

    click is imported only if the arguments are more than paths and common options (docs/performance.md: no-click).
    """
    from onnx_lint.cli.request import refuse_ambiguous, request_of_paths
    from onnx_lint.configuration.errors import RequestError, RunError

    try:
        refuse_ambiguous(arguments)
        request = request_of_paths(arguments)
        if request is None:
            from onnx_lint.cli.application import run as run_application

            _change_interrupt(signal.SIG_DFL, signal.default_int_handler)
            return run_application(arguments)
        from onnx_lint.cli.run import run

        _change_interrupt(signal.SIG_DFL, signal.default_int_handler)
        return run(request)
    except RequestError as error:
        from onnx_lint.cli.application import print_usage_error

        print_usage_error(error)
    except RunError as error:
        sys.stderr.write(f"Error: {error}\n")
    return 2  # exit_codes.NOT_CHECKED


if __name__ == "__main__":
    main()
