# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: the option `--bless` for the fixtures of onnx-lint's own rules.

pytest imports this module in every run of every project that has onnx-lint installed. So it imports nothing else.
"""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    group = parser.getgroup("onnx-lint")
    group.addoption(
        "--bless",
        action="store_true",
        help="write what onnx-lint reports into the fixtures of rules; judge it afterwards",
    )
