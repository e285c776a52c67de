# SPDX-License-Identifier: Apache-2.0
"""The names of configuration files, and of the table in a pyproject.toml."""

from __future__ import annotations

from typing import Final

FILE_NAMES: Final = ("onnx-lint.toml", ".onnx-lint.toml")
"""The file names that are looked for in each folder, in this order; the table of pyproject.toml comes last."""
PYPROJECT: Final = "pyproject.toml"
PYPROJECT_TABLE: Final = "onnx-lint"
MAX_CONFIGURATION_BYTES: Final = 1 << 20
"""The largest configuration file, in bytes."""
