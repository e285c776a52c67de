# SPDX-License-Identifier: Apache-2.0
"""The list of fixtures that a test run blessed. It is not in conftest.py, which tests would import a second time."""

from __future__ import annotations

import pytest

BLESSED = pytest.StashKey[list[str]]()
