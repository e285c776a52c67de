# SPDX-License-Identifier: Apache-2.0
"""Where the checkout is that the tests are of."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent.parent.parent
ROOT = TESTS.parent
