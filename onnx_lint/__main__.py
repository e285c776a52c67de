# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations

import sys

from onnx_lint.common.memory import end_at_once, held_to_the_end


def command() -> None:
    """Run the command line as the console script does, and end the process."""
    code = _judged()
    end_at_once(code)
    sys.exit(code)


def main() -> None:
    """Run the command line, and raise SystemExit: whoever runs a module, as a profiler does, goes on from there."""
    sys.exit(_judged())


def _judged() -> int:
    """Run the command line with streams that lose nothing, and return the exit code."""
    with held_to_the_end():
        from onnx_lint.cli import standard_streams

        standard_streams.prepare()
        return standard_streams.judged(_run())


def _run() -> int:
    """Run the command line, and return the exit code. No exception leaves it."""
    try:
        return _code(sys.argv[1:])
    except KeyboardInterrupt:
        sys.stderr.write("\n")  # as click does, so that the prompt of the shell gets a line of its own
        return 130  # exit_codes.INTERRUPTED
    except MemoryError:
        sys.stderr.write("Error: there is not enough memory\n")
        return 3  # exit_codes.INTERNAL_ERROR
    except Exception as error:
        from onnx_lint.cli.crash import report_crash

        report_crash(error)
        return 3  # exit_codes.INTERNAL_ERROR


def _code(arguments: list[str]) -> int:
    """Run what the arguments ask for, and return the exit code.

    Only where they are more than paths click is needed (docs/performance.md: no-click).
    """
    from onnx_lint.cli.request import request_of_paths

    request = request_of_paths(arguments)
    if request is None:
        from onnx_lint.cli.application import run as run_application

        return run_application(arguments)
    from onnx_lint.cli.errors import RequestError, RunError
    from onnx_lint.cli.run import run

    try:
        return run(request)
    except RequestError as error:
        from onnx_lint.cli.application import tell_usage

        tell_usage(error)
    except RunError as error:
        sys.stderr.write(f"Error: {error}\n")
    return 2  # exit_codes.NOT_CHECKED


if __name__ == "__main__":
    main()
