# SPDX-License-Identifier: Apache-2.0
"""The pytest plugin: fixtures for tests of exporters.

pytest imports this module in every run of every project that has onnx-lint installed. So it imports the rest of the
package only when a test needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from onnx_lint.library import Lintable, Report


class AssertOnnxConforms(Protocol):
    """The type of the fixture `assert_onnx_conforms`."""

    def __call__(self, model: Lintable, **options: Any) -> Report:
        """Raise AssertionError with the text report unless `model` conforms to the specification."""


@pytest.fixture(scope="session")
def onnx_lint_options() -> Mapping[str, Any]:
    """The default options of assert_onnx_conforms; override it in a conftest.py."""
    return {}


@pytest.fixture
def assert_onnx_conforms(onnx_lint_options: Mapping[str, Any]) -> AssertOnnxConforms:
    """A function that fails the test with the report of onnx-lint unless a model conforms to the ONNX specification."""
    from onnx_lint.assertion import assert_conforms

    def conforms(model: Lintable, **options: Any) -> Report:
        __tracebackhide__ = True
        return assert_conforms(model, **{**onnx_lint_options, **options})

    return conforms


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--bless` for the fixtures of rules, see `onnx_lint.testing`."""
    group = parser.getgroup("onnx-lint")
    group.addoption(
        "--bless",
        action="store_true",
        help="write what onnx-lint reports into the fixtures of rules; judge it afterwards",
    )
