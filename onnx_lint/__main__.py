# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line."""
    # Start-up makes many objects and hardly any garbage: to look for some after every 700 takes 10 ms of 100.
    gc.set_threshold(50_000, 20, 20)
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
