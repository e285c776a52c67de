# SPDX-License-Identifier: Apache-2.0
"""Where a configuration stands: the names of its files, and that of its table in a pyproject.toml."""

from __future__ import annotations

from typing import Final

FILE_NAMES: Final = ("onnx-lint.toml", ".onnx-lint.toml")
"""What is looked for in each folder, the first that is there counts; then the table of pyproject.toml."""
PYPROJECT: Final = "pyproject.toml"
TABLE: Final = "onnx-lint"
MAX_BYTES: Final = 1 << 20
"""A larger file is taken for none."""
