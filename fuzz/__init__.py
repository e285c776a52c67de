# SPDX-License-Identifier: Apache-2.0
"""The fuzz target: mutated models and what must hold for each; docs/fuzzing.md says how to run it."""

from __future__ import annotations

import sys
from pathlib import Path

_TESTS = str(Path(__file__).parent.parent / "tests")
if _TESTS not in sys.path:  # pytest puts the folder there; `python -m fuzz.run` does not
    sys.path.insert(0, _TESTS)
