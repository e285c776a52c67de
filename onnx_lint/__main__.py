# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations

from onnx_lint.cli import standard_streams
from onnx_lint.memory import held_to_the_end


def main() -> None:
    """Run the command line, and end the process."""
    standard_streams.prepare()
    with held_to_the_end():
        try:
            _run()
        except SystemExit as end:
            raise SystemExit(standard_streams.judged(end.code if isinstance(end.code, int) else 0)) from None


def _run() -> None:
    try:
        from onnx_lint.cli import plain

        plain.main()
        from onnx_lint.cli.application import main as run
    except KeyboardInterrupt:  # the command line handles it from here on
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
