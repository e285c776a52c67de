# SPDX-License-Identifier: Apache-2.0
"""The fixtures as a test suite for any checker of ONNX models, and a table of what checkers find.

    python -m conformance export FOLDER                          write the models and a manifest
    python -m conformance run --checker onnx --checker onnx-lint judge them by checkers, and print a table

It needs the checkout, whose `fixtures/` it reads. docs/conformance.md describes the suite.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests")]  # where the fixtures are read
