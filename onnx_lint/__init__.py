# SPDX-License-Identifier: Apache-2.0
"""onnx-lint: tells whether an ONNX model keeps to the ONNX specification.

The library's face is :func:`lint`, see :mod:`onnx_lint.library`, and for tests :func:`assert_conforms`, see
:mod:`onnx_lint.assertion`. Nothing heavy is imported before it is used.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as type checkers know it; to import typing is for whoever needs it
if TYPE_CHECKING:
    from typing import Any

    from onnx_lint.assertion import assert_conforms
    from onnx_lint.library import Report, lint
    from onnx_lint.report import Diagnostic, FileReport

__version__ = "0.1.0"

__all__ = ["Diagnostic", "FileReport", "Report", "__version__", "assert_conforms", "lint"]

# In a checkout the rules stand beside this package; in the wheel they are `onnx_lint.rules`.
if not os.path.isdir(os.path.join(__path__[0], "rules")):
    __path__.append(os.path.dirname(__path__[0]))


def __getattr__(name: str) -> Any:
    """Import the public names when they are first asked for."""
    if name in {"Report", "lint"}:
        from onnx_lint import library

        return getattr(library, name)
    if name == "assert_conforms":
        from onnx_lint.assertion import assert_conforms

        return assert_conforms
    if name in {"Diagnostic", "FileReport"}:
        from onnx_lint import report

        return getattr(report, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
