# SPDX-License-Identifier: Apache-2.0
"""Where a test run notes the fixtures that it blessed; no conftest.py, which tests would import a second time."""

from __future__ import annotations

import pytest

BLESSED = pytest.StashKey[list[str]]()
