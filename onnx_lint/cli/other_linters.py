# SPDX-License-Identifier: Apache-2.0
"""Words and options that other linters have, and what to write here."""

from __future__ import annotations

from typing import Final

WRITTEN_FOR: Final = {
    "version": "onnx-lint --version",
    "help": "onnx-lint --help",
    "lint": "onnx-lint MODEL",
    "list": "onnx-lint rules",
    "--strict": "--fail-on warning, and --pedantic for faults that nearly every model has",
    "--werror": "--fail-on warning",
    "--list-rules": "onnx-lint rules",
    "--explain": "onnx-lint explain NAME",
    "--no-color": "NO_COLOR=1 before the command",
}
"""What to write for a command, or for an option."""
