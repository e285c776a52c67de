# SPDX-License-Identifier: Apache-2.0
"""`python -m onnx_lint` and the console script."""

from __future__ import annotations

import gc


def main() -> None:
    """Run the command line."""
    # Start-up makes many objects and hardly any garbage: to look for some after every 700 takes 10 ms of 250.
    gc.set_threshold(50_000, 20, 20)
    try:
        from onnx_lint.cli import main as run
    except KeyboardInterrupt:  # the command line handles it from here on
        raise SystemExit(130) from None
    run()


if __name__ == "__main__":
    main()
