# SPDX-License-Identifier: Apache-2.0
"""onnx-lint: checks whether an ONNX model conforms to the ONNX specification.

The public interface is :func:`lint`, see :mod:`onnx_lint.library`, and for tests :func:`assert_conforms`, see
:mod:`onnx_lint.assertion`. Both are imported when they are first used.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # type checkers know this name; importing typing would cost time
if TYPE_CHECKING:
    from typing import Any

    from onnx_lint.assertion import assert_conforms
    from onnx_lint.library import Report, Settings, fix, lint
    from onnx_lint.report.file_report import FileReport
    from onnx_lint.report.findings import Diagnostic
    from onnx_lint.version import __version__

__all__ = ["Diagnostic", "FileReport", "Report", "Settings", "__version__", "assert_conforms", "fix", "lint"]

# In a checkout the folder of rules is beside this package; in the wheel it is `onnx_lint.rules`.
if not os.path.isdir(os.path.join(__path__[0], "rules")):
    __path__.append(os.path.dirname(__path__[0]))


def __getattr__(name: str) -> Any:
    """Import the public names when they are first used."""
    if name in {"Report", "Settings", "fix", "lint"}:
        from onnx_lint import library

        return getattr(library, name)
    if name == "assert_conforms":
        from onnx_lint.assertion import assert_conforms

        return assert_conforms
    if name == "Diagnostic":
        from onnx_lint.report.findings import Diagnostic

        return Diagnostic
    if name == "FileReport":
        from onnx_lint.report.file_report import FileReport

        return FileReport
    if name == "__version__":
        from onnx_lint import version

        return version.__version__
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
