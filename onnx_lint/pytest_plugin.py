# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: fixtures for tests of exporters.

pytest imports this module in every run of every project that has onnx-lint installed. So it imports the rest of the
package only when a test needs it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from onnx_lint.library import Lintable, Report, Settings


@pytest.fixture(scope="session")
def onnx_lint_options() -> Settings:
    """The default settings of assert_onnx_conforms; override it in a conftest.py."""
    return {}


@pytest.fixture
def assert_onnx_conforms(onnx_lint_options: Settings) -> Callable[..., Report]:
    """A function like `onnx_lint.assert_conforms`, with the settings of `onnx_lint_options`."""
    from onnx_lint.assertion import assert_conforms

    def conforms(model: Lintable, settings: Settings | None = None, **keywords: Any) -> Report:
        __tracebackhide__ = True
        return assert_conforms(model, {**onnx_lint_options, **(settings or {})}, **keywords)

    return conforms


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--bless` for the fixtures of rules, see `onnx_lint.testing`."""
    group = parser.getgroup("onnx-lint")
    group.addoption(
        "--bless",
        action="store_true",
        help="write what onnx-lint reports into the fixtures of rules; judge it afterwards",
    )
