# SPDX-License-Identifier: Apache-2.0
"""The exit codes, the same for every command and format. The highest that applies is the run's."""

from __future__ import annotations

from typing import Final

CLEAN: Final = 0
"""Nothing at or above `--fail-on`."""
FINDINGS: Final = 1
NOT_CHECKED: Final = 2
"""Wrong usage, an unknown rule, or an input that is not there, cannot be read, or holds no model."""
INTERNAL_ERROR: Final = 3
"""A rule crashed, or onnx-lint itself."""
INTERRUPTED: Final = 130
"""What shells report for a program that Ctrl-C has ended."""
