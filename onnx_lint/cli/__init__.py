# SPDX-License-Identifier: Apache-2.0
"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

from onnx_lint.cli.application import application, main, run

__all__ = ["application", "main", "run"]
