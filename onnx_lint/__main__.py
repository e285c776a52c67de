# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from onnx_lint.cli import main as run

    run()


if __name__ == "__main__":
    main()
