# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    try:
        from onnx_lint.cli import main as run
    except KeyboardInterrupt:  # the command line handles it from here on
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
