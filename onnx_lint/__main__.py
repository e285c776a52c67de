# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations

import os
import sys

from onnx_lint.memory import held_to_the_end

TYPE_CHECKING = False  # see onnx_lint: typing makes objects too, which the collector would look through
if TYPE_CHECKING:
    from typing import TextIO


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def main() -> None:
    """Run the command line, and end the process."""
    with held_to_the_end():
        _run()


def _run() -> None:
    # A stream that the caller has closed leads nowhere, as a pipe does whose reader is gone.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        # A name that the stream's encoding lacks is shown escaped; it must not end the run.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        from onnx_lint.cli import plain

        plain.main()
        from onnx_lint.cli.application import main as run
    except KeyboardInterrupt:  # the command line handles it from here on
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
